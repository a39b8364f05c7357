// NOTIFY, outside of the transaction that it tells of.
//
// Who calls: whoever writes rows that another process waits for and looks for anyway, each second
// or four times a second (`changes.ts`).
// Why: from a NOTIFY on PostgreSQL holds one lock for all databases of the server until the commit
// has ended. With a synchronous standby that is a round trip, and all nodes together would commit
// one such transaction after the other.
// How: what a transaction tells is sent when it has committed. One statement is on its way at a
// time, and one more takes what came meanwhile; the same thing is told once.
// Does not: promise anything. What is told between a commit and a kill is lost, so whoever must
// hear of it looks for its rows.
import type { ISql, Sql as PoolOf, TransactionSql } from 'postgres';
import { assert } from '../../../ledger/kernel/assert.ts';

/**
 * `tollhouse_events`: events are queued. `tollhouse_deliveries`: an endpoint, its id, has something
 * due. `tollhouse_positions`: "organisation mode" whose events got positions, with commas between.
 * `tollhouse_mails`: mails are owed. `tollhouse_changes`: what to forget (`changes.ts`).
 */
export type Channel =
  | 'tollhouse_events'
  | 'tollhouse_deliveries'
  | 'tollhouse_positions'
  | 'tollhouse_mails'
  | 'tollhouse_changes';

type Bigints = { bigint: bigint };
type Sql = PoolOf<Bigints>;
type Tell = (channel: Channel, payload: string) => void;

const tellers = new WeakMap<object, Tell>();

/** By a pool: soon. By a transaction: once it has committed, and never where it has not. */
export function tell(sql: ISql<Bigints>, channel: Channel, payload = ''): void {
  const teller = tellers.get(sql);
  assert(teller !== undefined, 'a pool of ours, or the outermost transaction of one');
  teller(channel, payload);
}

/** Gives a pool its voice. `plain` sends; `begin` opens transactions. */
export function telling(pool: Sql, plain: Sql, begin: Sql['begin']): Sql['begin'] {
  const teller = new Teller(plain);
  tellers.set(pool, (channel, payload) => teller.tell(channel, payload));
  return async function beginAndTell(...given: readonly unknown[]) {
    const heard: Parameters<Tell>[] = [];
    const task = given.at(-1) as (transaction: TransactionSql<Bigints>) => unknown;
    const watched = (transaction: TransactionSql<Bigints>): unknown => {
      tellers.set(transaction, (...told) => heard.push(told));
      return task(transaction);
    };
    const result = await (begin as (...all: unknown[]) => Promise<unknown>)(
      ...given.slice(0, -1),
      watched,
    );
    for (const told of heard) teller.tell(...told);
    return result;
  } as Sql['begin'];
}

class Teller {
  readonly #pool: Sql;
  /** By what is told. */
  #waiting = new Map<string, Parameters<Tell>>();
  #isSending = false;

  constructor(pool: Sql) {
    this.#pool = pool;
  }

  tell(...told: Parameters<Tell>): void {
    this.#waiting.set(told.join(' '), told);
    // Where it fails, the listeners look by themselves.
    if (!this.#isSending) this.#send().catch(() => undefined);
  }

  async #send(): Promise<void> {
    const sql = this.#pool;
    this.#isSending = true;
    try {
      while (this.#waiting.size > 0) {
        const told = [...this.#waiting.values()];
        this.#waiting.clear();
        const [channels, payloads] = [told.map(([one]) => one), told.map(([, one]) => one)];
        await sql`
          select pg_notify(channel, payload)
          from unnest(${channels}::text[], ${payloads}::text[]) as t (channel, payload)`;
      }
    } finally {
      this.#isSending = false;
    }
  }
}
