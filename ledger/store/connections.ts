import type { Sql } from 'postgres';
import type { Timers } from '../ports.ts';
import type { Bigints } from './bigints.ts';

/**
 * Connections that are replaced, all of them, when the database does not answer in time.
 *
 * A broken route can stay silent for a quarter of an hour, while new connections work. What still
 * waits on an old connection fails then.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  #sql: Sql<Bigints>;
  /** Late answers in a row, without an answer between them. */
  #late = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#sql = options.open();
  }

  get sql(): Sql<Bigints> {
    return this.#sql;
  }

  /**
   * Has no bound of its own. Where nothing is answered, a bounded call (`within`) replaces the
   * connections, and this one fails.
   */
  async ask<T>(task: (sql: Sql<Bigints>) => Promise<T>): Promise<T> {
    const asked = this.#sql;
    const answer = await task(asked);
    if (asked === this.#sql) this.#late = 0;
    return answer;
  }

  /** @throws Error where it takes longer; the task may still happen */
  async within<T>(ms: number, task: (sql: Sql<Bigints>) => Promise<T>): Promise<T> {
    const asked = this.#sql;
    const late = Promise.withResolvers<never>();
    const cancel = this.#options.timers.after(ms, () => {
      late.reject(new Error(`the database gave no answer in ${ms} ms`));
      if (asked === this.#sql) this.#countLate();
    });
    try {
      return await Promise.race([this.ask(task), late.promise]);
    } finally {
      cancel();
    }
  }

  #countLate(): void {
    this.#late += 1;
    if (this.#late < this.#options.lateMax) return;
    const silent = this.#sql;
    this.#late = 0;
    this.#sql = this.#options.open();
    silent.end({ timeout: 0 }).catch(() => undefined);
  }

  async end(): Promise<void> {
    await this.#sql.end({ timeout: 2 });
  }
}

type ConnectionsOptions = {
  readonly open: () => Sql<Bigints>;
  /** After how many late answers in a row the connections are replaced. */
  readonly lateMax: number;
  readonly timers: Timers;
};
