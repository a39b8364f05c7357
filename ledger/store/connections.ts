import type { Sql } from 'postgres';
import type { Timers } from '../ports.ts';
import type { Bigints } from './bigints.ts';

/**
 * Connections that are given up, all of them, when the database gives no answer in time: a way that fell silent stays so for a quarter
 * of an hour where nobody does, while new connections work. What still waits for one of them fails then.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  #sql: Sql<Bigints>;
  /** In a row, and nothing was answered between. */
  #late = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#sql = options.open();
  }

  get sql(): Sql<Bigints> {
    return this.#sql;
  }

  /** Without a bound of its own: where nothing at all is answered, whoever is bounded gives these connections up. */
  async ask<T>(task: (sql: Sql<Bigints>) => Promise<T>): Promise<T> {
    const asked = this.#sql;
    const answer = await task(asked);
    if (asked === this.#sql) this.#late = 0;
    return answer;
  }

  /** @throws Error where that takes longer; what was asked may still happen */
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
  /** After how many answers in a row that did not come. */
  readonly lateMax: number;
  readonly timers: Timers;
};
