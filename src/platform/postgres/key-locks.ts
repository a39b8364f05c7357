// Advisory locks of Idempotency-Keys across processes, for work that must not hold a transaction.
//
// Who calls: http/idempotency/idempotency.ts, around what calls the ledger or a processor.
// How: one session holds all locks of this process, and calls of this process wait for each other
// in memory. The locks end with the session, so a process that dies blocks nobody; keepalives
// detect a lost machine within seconds.
// Does not: guarantee exclusion. A process that loses its session in the middle loses its locks, so
// the work has to be repeatable.
import { KeyedMutex } from '../../../ledger/kernel/keyed-mutex.ts';
import { type Clock, pause, type Timers } from '../../../ledger/ports.ts';
import { openPool, type Sql } from './postgres.ts';

type KeyLocksOptions = {
  readonly databaseUrl: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timers: Timers;
};

/** Beyond this the caller is told to retry. */
const WAIT_MS_MAX = 5000;
const POLL_MS_MIN = 10;
const POLL_MS_MAX = 160;

/** How soon the server notices a lost machine. */
const KEEPALIVES = {
  tcp_keepalives_idle: '3',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '3',
};

export class KeyLocks {
  readonly #options: KeyLocksOptions;
  readonly #sql: Sql;
  /** Keys in execution here, or about to be. */
  readonly #here = new KeyedMutex<bigint>();

  constructor(options: KeyLocksOptions) {
    this.#options = options;
    this.#sql = openPool(options.databaseUrl, {
      max: 1,
      applicationName: 'tollhouse keys',
      settings: KEEPALIVES,
    });
  }

  /**
   * The result of `task`, run while no other call has this key; null where another call holds it
   * too long.
   */
  async alone<T>(key: bigint, task: () => Promise<T>): Promise<T | null> {
    const until = this.#options.clock.monotonic() + WAIT_MS_MAX;
    return this.#here.alone([key], async () => {
      if (!(await this.#lock(key, until))) return null;
      try {
        return await task();
      } finally {
        // A failure means that the session is lost, and the lock with it.
        await this.#sql`select pg_advisory_unlock(${key})`.catch(() => undefined);
      }
    });
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 2 });
  }

  /** Whether the lock is acquired before `until`. @throws where the database does not answer */
  async #lock(key: bigint, until: number): Promise<boolean> {
    for (let wait = POLL_MS_MIN; ; wait = Math.min(wait * 2, POLL_MS_MAX)) {
      const [row] = await this.#sql<{ locked: boolean }[]>`
        select pg_try_advisory_lock(${key}) as locked`;
      if (row?.locked === true) return true;
      if (this.#options.clock.monotonic() >= until) return false;
      await pause(this.#options.timers, wait);
    }
  }
}
