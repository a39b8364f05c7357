// One attempt at a delivery. Each time it decides again who may be reached, and connects only to
// the addresses that it checked.
//
// Holds: an attempt ends at its deadline, name resolution included. It never throws for a failure
// of a receiver or a name server.
import type { Clock, Timers } from '../ledger/ports.ts';
import { type Resolve, type Vetted, vetUrl } from '../src/platform/net/public-url.ts';
import type { HttpReply } from './answer.ts';
import { type ExchangeError, type Exchanged, Exchanger } from './exchange.ts';

export type SendError = ExchangeError | 'refused_address' | 'dns';

export type Sent =
  | (HttpReply & { readonly address: string; readonly durationMs: number })
  | {
      readonly kind: 'failed';
      readonly error: SendError;
      /** The address that was tried last. */
      readonly address: string | null;
      readonly durationMs: number;
    };

export type Sending = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For all of it: the name, the connection, the answer. */
  readonly deadlineMs: number;
  /** Whether this very machine may be reached, and without https. */
  readonly allowLoopback: boolean;
};

export type Sender = {
  send(sending: Sending): Promise<Sent>;
  close(): void;
};

const HEADERS = { 'Content-Type': 'application/json', 'User-Agent': 'Tollhouse-Webhooks' };

export function openSender(deps: {
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly timers: Timers;
}): Sender {
  const { resolve, clock, timers } = deps;
  const exchanger = new Exchanger(timers);

  async function attempt(sending: Sending, leftMs: () => number): Promise<Outcome> {
    const { url, allowLoopback: loopback } = sending;
    const vetted = await within(vetUrl(url, { loopback, resolve }), { ms: leftMs(), timers });
    if (vetted === null || vetted.kind !== 'public') return refusalOf(vetted);
    const post = {
      url: vetted.url,
      headers: { ...HEADERS, ...sending.headers },
      body: sending.body,
    };
    let last: Outcome = { kind: 'failed', error: 'connect', address: null };
    for (const address of vetted.addresses) {
      if (leftMs() === 0) break;
      let exchanged = await exchanger.post({ ...post, address, deadlineMs: leftMs() });
      if (wasStale(exchanged)) {
        exchanged = await exchanger.post({ ...post, address, deadlineMs: leftMs(), fresh: true });
      }
      last = outcomeOf(exchanged, address);
      // No connection: a name has several addresses for that.
      if (last.kind === 'answered' || last.error !== 'connect') break;
    }
    return last;
  }

  return {
    async send(sending) {
      const startedAt = clock.monotonic();
      const elapsedMs = (): number => clock.monotonic() - startedAt;
      const leftMs = (): number => Math.max(0, sending.deadlineMs - elapsedMs());
      const outcome = await attempt(sending, leftMs);
      return { ...outcome, durationMs: Math.round(elapsedMs()) };
    },
    close: () => exchanger.close(),
  };
}

type Outcome =
  | (HttpReply & { readonly address: string })
  | { readonly kind: 'failed'; readonly error: SendError; readonly address: string | null };

/** null: it did not come in time. */
function refusalOf(vetted: Exclude<Vetted, { kind: 'public' }> | null): Outcome {
  const error = vetted?.kind === 'refused' ? 'refused_address' : 'dns';
  return { kind: 'failed', error, address: null };
}

/**
 * The receiver closed the kept connection while the request was on its way. It is not a failure.
 */
function wasStale(exchanged: Exchanged): boolean {
  return exchanged.kind === 'failed' && exchanged.error === 'reset' && exchanged.wasReused;
}

function outcomeOf(exchanged: Exchanged, address: string): Outcome {
  if (exchanged.kind === 'answered') return { ...exchanged, address };
  return { kind: 'failed', error: exchanged.error, address };
}

async function within<T>(
  promise: Promise<T>,
  { ms, timers }: { readonly ms: number; readonly timers: Timers },
): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const cancel = timers.after(ms, () => late.resolve(null));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    cancel();
  }
}
