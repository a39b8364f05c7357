// Writes results of attempts together: all results that come in during one statement are in the
// next one.
import { type Log, pause, type Timers } from '../ledger/ports.ts';
import type { Sql } from '../src/platform/postgres/postgres.ts';
import { type Settlement, settle } from './claims.ts';
import { recordHealth, type Tally } from './health.ts';

const BATCH_MAX = 500;
const RETRY_MS = 500;

/** A result, and what it says of its endpoint. */
export type Result = Settlement & {
  readonly isGone: boolean;
  /**
   * The URL of the attempt: its outcome says nothing of another URL that the endpoint has by now.
   */
  readonly url: string;
  /** Whether the endpoint was failing at the claim, so that a success is news. */
  readonly wasFailing: boolean;
};

export class Settler {
  readonly #deps: { readonly sql: Sql; readonly timers: Timers; readonly log: Log };
  #queue: { readonly worker: string; readonly result: Result; readonly done: () => void }[] = [];
  #isWriting = false;

  constructor(deps: { readonly sql: Sql; readonly timers: Timers; readonly log: Log }) {
    this.#deps = deps;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Resolves when it is written. While the database does not answer it waits, and tries again. */
  add(worker: string, result: Result): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.push({ worker, result, done: resolve });
    if (!this.#isWriting)
      this.#write().catch((error: unknown) => this.#deps.log.error({ err: error }, 'settling'));
    return promise;
  }

  async #write(): Promise<void> {
    const { sql, timers, log } = this.#deps;
    this.#isWriting = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, BATCH_MAX);
      try {
        for (const [worker, items] of Map.groupBy(batch, (item) => item.worker)) {
          await record(
            sql,
            worker,
            items.map((item) => item.result),
          );
        }
      } catch (error) {
        log.warn({ err: error }, 'results of deliveries could not be written');
        await pause(timers, RETRY_MS);
        continue;
      }
      this.#queue = this.#queue.slice(batch.length);
      for (const { done } of batch) done();
    }
    this.#isWriting = false;
  }
}

/**
 * A result of a lost delivery says nothing of its endpoint either: to a frozen worker all answers
 * seem late.
 */
async function record(sql: Sql, worker: string, results: readonly Result[]): Promise<void> {
  if (talliesOf(results).length === 0) {
    await settle(sql, worker, results);
    return;
  }
  // Together, so that a batch that is written again does not count twice.
  await sql.begin(async (transaction) => {
    const lost = new Set(await settle(transaction, worker, results));
    const counted = results.filter(({ deliveryId }) => !lost.has(deliveryId));
    for (const tally of talliesOf(counted)) await recordHealth(transaction, tally);
  });
}

/**
 * Endpoints with news: a success of an endpoint that was not failing is none. In one order, so that
 * two workers never deadlock.
 */
function talliesOf(results: readonly Result[]): Tally[] {
  const tallies: Tally[] = [];
  for (const all of Map.groupBy(
    results,
    ({ endpointId, url }) => `${endpointId} ${url}`,
  ).values()) {
    const endpointId = all[0]?.endpointId ?? '';
    const successes = all.filter(({ status }) => status === 'delivered').length;
    if (successes === all.length && !all.some(({ wasFailing }) => wasFailing)) continue;
    tallies.push({
      endpointId,
      successes,
      failures: all.length - successes,
      exhausted: all.filter(({ status }) => status === 'exhausted').length,
      isGone: all.some(({ isGone }) => isGone),
      url: all[0]?.url ?? '',
      at: Math.max(...all.map(({ at }) => at)),
    });
  }
  return tallies.toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1));
}
