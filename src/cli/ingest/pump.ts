// Sends batches, several at a time, and settles them in the order of the file: what is behind a
// batch counts as done only when the batch is.
//
// Holds: what waits is bounded by `IN_FLIGHT` batches; a file is read no faster than it is
// recorded.
import type { Batch, Entry } from './batches.ts';

const IN_FLIGHT = 6;

export type Answer = {
  readonly inserted: number;
  readonly duplicates: number;
  /** `index` counts within the call. */
  readonly rejected: readonly { readonly index: number; readonly reason: string }[];
};

/**
 * Records events; or `refused`, the reason, where what is in the call has it refused as a whole.
 */
export type Send = (
  events: readonly Record<string, unknown>[],
  signal: AbortSignal,
) => Promise<Answer | { readonly refused: string }>;

/** One row of the file of rejects. */
type Reject =
  | { readonly line: number; readonly reason: string; readonly event: Record<string, unknown> }
  | { readonly line: number; readonly reason: string; readonly text: string };

export type Settled = {
  readonly batch: Batch;
  readonly inserted: number;
  readonly duplicates: number;
  readonly rejects: readonly Reject[];
};

/** @throws what `send` throws; what was settled before then stays so */
export async function pump(
  batches: AsyncIterable<Batch>,
  {
    send,
    settle,
    signal,
  }: {
    readonly send: Send;
    readonly settle: (settled: Settled) => Promise<void>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const waiting: Promise<Settled>[] = [];
  const settleFirst = async () => {
    const first = await waiting.shift();
    if (first !== undefined) await settle(first);
  };
  try {
    for await (const batch of batches) {
      signal.throwIfAborted();
      const sent = sendBatch(batch, (events) => send(events, stop));
      // It is awaited in its turn; until then its failure is nobody's.
      sent.catch(() => undefined);
      waiting.push(sent);
      if (waiting.length === IN_FLIGHT) await settleFirst();
    }
    while (waiting.length > 0) await settleFirst();
  } finally {
    failed.abort();
    await Promise.allSettled(waiting);
  }
}

type Event = Extract<Entry, { event: unknown }>;

async function sendBatch(
  batch: Batch,
  send: (events: readonly Record<string, unknown>[]) => ReturnType<Send>,
): Promise<Settled> {
  const events = batch.entries.filter((entry): entry is Event => 'event' in entry);
  const { inserted, duplicates, rejects } = await sendEvents(events, send);
  const unsent = batch.entries.filter((entry) => 'reason' in entry);
  const all = [...rejects, ...unsent].sort((a, b) => a.line - b.line);
  return { batch, inserted, duplicates, rejects: all };
}

/** Where a call is refused as a whole, its halves are tried: one event must not cost the others. */
async function sendEvents(
  events: readonly Event[],
  send: (events: readonly Record<string, unknown>[]) => ReturnType<Send>,
): Promise<Omit<Settled, 'batch'>> {
  if (events.length === 0) return { inserted: 0, duplicates: 0, rejects: [] };
  const answer = await send(events.map(({ event }) => event));
  if (!('refused' in answer)) {
    const rejects = answer.rejected.flatMap(({ index, reason }) => {
      const entry = events[index];
      return entry === undefined ? [] : [{ line: entry.line, reason, event: entry.event }];
    });
    return { inserted: answer.inserted, duplicates: answer.duplicates, rejects };
  }
  if (events.length === 1) {
    const rejects = events.map(({ line, event }) => ({ line, reason: answer.refused, event }));
    return { inserted: 0, duplicates: 0, rejects };
  }
  const half = Math.ceil(events.length / 2);
  const first = await sendEvents(events.slice(0, half), send);
  const second = await sendEvents(events.slice(half), send);
  return {
    inserted: first.inserted + second.inserted,
    duplicates: first.duplicates + second.duplicates,
    rejects: [...first.rejects, ...second.rejects],
  };
}
