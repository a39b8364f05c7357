// Follows the relay for this process: reads each new event of a tenant that has readers here once,
// and hands it to all of them.
//
// How it works: the relay tells whose events got a position, and every second all tenants with
// readers are looked at, because a notification may be lost. Those with something new take turns,
// so many in a statement, one statement at a time.
// Holds: a thousand readers of one tenant cost one read, and a thousand tenants a few statements.
// While the database does not answer nothing is lost: the next look goes on from the same position.
import type { Log, Timers } from '../../ledger/ports.ts';
import { breathe } from '../../ledger/ports.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import type { Channel } from '../platform/postgres/tell.ts';
import { BEGINNING, pagesAfter, type PositionedEvent } from '../records/event-positions.ts';
import { Chunk } from './chunk.ts';
import type { Reader } from './reader.ts';

/** Of the relay. */
const NOTIFIED: Channel = 'tollhouse_positions';
const TENANTS_AT_ONCE = 50;
/** Readers that are handed something before other work of this process goes on. */
const READERS_AT_ONCE = 100;

/** A tenant with readers in this process. */
export type Followed = {
  readonly tenant: Tenant;
  readonly readers: Set<Reader>;
  /** The position up to which its events were handed out; null until the first reader knows. */
  head: bigint | null;
};

export type FollowerDeps = { readonly sql: Sql; readonly timers: Timers; readonly log: Log };

export class Follower {
  readonly #deps: FollowerDeps;
  readonly #followed = new Map<string, Followed>();
  readonly #due = new Set<Followed>();
  #unlisten: () => Promise<void> = () => Promise.resolve();
  #running: Promise<void> | null = null;
  #isFailing = false;
  #closed = false;

  constructor(deps: FollowerDeps) {
    this.#deps = deps;
  }

  async open(): Promise<void> {
    const listening = await this.#deps.sql.listen(NOTIFIED, (named) => {
      if (this.#followed.size === 0 || this.#isFailing) return;
      for (const name of named.split(',')) {
        const followed = this.#followed.get(name);
        if (followed !== undefined) this.wake(followed);
      }
    });
    this.#unlisten = () => listening.unlisten();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#unlisten().catch(() => undefined);
  }

  /** From now on the reader is handed what is new. */
  follow(tenant: Tenant, reader: Reader): Followed {
    const name = nameOf(tenant);
    const followed = this.#followed.get(name) ?? { tenant, readers: new Set(), head: null };
    this.#followed.set(name, followed);
    followed.readers.add(reader);
    return followed;
  }

  leave(followed: Followed, reader: Reader): void {
    followed.readers.delete(reader);
    if (followed.readers.size > 0) return;
    this.#followed.delete(nameOf(followed.tenant));
    this.#due.delete(followed);
  }

  /** Looks at all tenants with readers. */
  look(): void {
    for (const followed of this.#followed.values()) this.wake(followed);
  }

  /** Looks at one. */
  wake(followed: Followed): void {
    if (this.#closed) return;
    this.#due.add(followed);
    this.#running ??= this.#run();
  }

  /** Reads until nothing is due, or the database does not answer. Never rejects. */
  async #run(): Promise<void> {
    const { sql, timers, log } = this.#deps;
    // Many are woken in the same turn.
    await breathe(timers);
    try {
      while (this.#due.size > 0 && !this.#closed) {
        const turn = this.#nextTurn();
        const pages = await pagesAfter(sql, turn);
        for (const [index, { events, more }] of pages.entries()) {
          const followed = turn[index]?.followed;
          if (followed === undefined || events.length === 0) continue;
          await this.#handOut(followed, events);
          if (more) this.#due.add(followed);
        }
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#closed)
        log.warn({ err: error }, 'event streams cannot be read');
      this.#isFailing = true;
    } finally {
      this.#running = null;
    }
  }

  /** Whose turn it is, and after which position. */
  #nextTurn() {
    const turn: (Tenant & { readonly followed: Followed; readonly position: bigint })[] = [];
    for (const followed of this.#due) {
      if (turn.length === TENANTS_AT_ONCE) break;
      this.#due.delete(followed);
      const { tenant, head } = followed;
      // Where it is not known yet, whoever asks for it wakes this again.
      if (head !== null) turn.push({ ...tenant, followed, position: head });
    }
    return turn;
  }

  async #handOut(followed: Followed, events: readonly PositionedEvent[]): Promise<void> {
    const chunk = new Chunk(followed.head ?? BEGINNING, events);
    // Those who come meanwhile begin there or later.
    followed.head = chunk.to;
    const readers = [...followed.readers];
    for (const [index, reader] of readers.entries()) {
      if (index > 0 && index % READERS_AT_ONCE === 0) await breathe(this.#deps.timers);
      reader.take(chunk);
    }
  }
}

export function nameOf({ organisationId, mode }: Tenant): string {
  return `${organisationId} ${mode}`;
}
