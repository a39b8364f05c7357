// Who executes an Idempotency-Key now, among all processes: an advisory lock of the database, for
// work that must not hold a transaction.
//
// Who calls: http/idempotency.ts, around what asks the ledger or a processor.
// How: one session holds all locks of this process, and calls of this process wait for each other
// in memory. With the session go its locks, so that whoever dies blocks nobody; a machine that goes
// away is noticed within seconds, by keepalives.
// Does not: hold for sure. Who loses its session in the middle is not alone any more: what it does
// must be repeatable all the same.
import { KeyedMutex } from '../../../ledger/kernel/keyed-mutex.ts';
import { type Clock, pause, type Timers } from '../../../ledger/ports.ts';
import { openPool, type Sql } from './postgres.ts';

type KeyLocksOptions = {
  readonly databaseUrl: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timers: Timers;
};

/** Then the caller is told to come back. */
const WAIT_MS_MAX = 5000;
const POLL_MS_MIN = 10;
const POLL_MS_MAX = 160;

/** When the server notices that a machine is gone. */
const KEEPALIVES = {
  tcp_keepalives_idle: '3',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '3',
};

export class KeyLocks {
  readonly #options: KeyLocksOptions;
  readonly #sql: Sql;
  /** Those that are run here, or are about to be. */
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
   * What `task` gives, when nobody else runs one for this key; null where somebody does for too
   * long.
   */
  async alone<T>(key: bigint, task: () => Promise<T>): Promise<T | null> {
    const until = this.#options.clock.monotonic() + WAIT_MS_MAX;
    return this.#here.alone([key], async () => {
      if (!(await this.#lock(key, until))) return null;
      try {
        return await task();
      } finally {
        // Where this fails the session is lost, and the lock with it.
        await this.#sql`select pg_advisory_unlock(${key})`.catch(() => undefined);
      }
    });
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 2 });
  }

  /** Whether it is ours before `until`. @throws where the database does not answer */
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
