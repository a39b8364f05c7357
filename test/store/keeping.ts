// A service whose clock is moved by months, and the rows that it then keeps.
import { expect } from 'bun:test';
import type { Timers } from '../../ledger/ports.ts';
import { audit } from '../../src/database/audit.ts';
import {
  retain,
  type Retained,
  type RetentionDeps,
  type RetentionPolicy,
} from '../../src/database/retention.ts';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { Setting } from '../http/metering/setting.ts';
import { MovedClock } from '../support/moved-clock.ts';
import { relayAll } from '../support/relayed.ts';
import type { ServerOptions } from '../support/server.ts';
import { until } from '../support/until.ts';

export const DAY_MS = 86_400_000;

export const POLICY: RetentionPolicy = {
  keysMs: 40 * DAY_MS,
  eventsMs: 90 * DAY_MS,
  denialsMs: 30 * DAY_MS,
  usageMonths: null,
};

export class Keeping {
  readonly setting: Setting;
  /** Of the service, and of what is kept. */
  readonly clock: MovedClock;
  /** A connection of its own, as the command has. */
  readonly #sql: Sql;

  private constructor(setting: Setting, clock: MovedClock) {
    this.setting = setting;
    this.clock = clock;
    this.#sql = openPool(setting.server.databaseUrl, {
      max: 2,
      applicationName: 'retention',
      statementTimeoutMs: 0,
    });
  }

  static async open(options: ServerOptions = {}): Promise<Keeping> {
    const clock = new MovedClock();
    return new Keeping(await Setting.open({ clock, ...options }), clock);
  }

  /** Resolves when what is due by then is written: otherwise it would come between two counts. */
  async travel(at: number | null): Promise<void> {
    this.clock.travel(at);
    const now = new Date(this.clock.now());
    const { sql } = this.setting.server;
    await until('nothing is due', async () => {
      return (await sql`select from alarms where due_at <= ${now} limit 1`).length === 0;
    });
  }

  /** Once all events are fanned out, as a worker does. It does not rest between its steps. */
  async retain(
    policy: Partial<RetentionPolicy> = {},
    deps: Partial<RetentionDeps> = {},
  ): Promise<Retained | null> {
    await relayAll(this.setting.server.sql);
    const hurried: Timers = { ...timers, after: (_ms, task) => timers.after(0, task) };
    const all = { sql: this.#sql, clock: this.clock, timers: hurried, ids, dryRun: false, ...deps };
    return retain(all, { ...POLICY, ...policy });
  }

  async closes(): Promise<void> {
    expect(await audit(this.setting.server.sql)).toEqual([]);
  }

  async count(table: string): Promise<number> {
    const [row] = await this.setting.server.sql.unsafe<{ count: number }[]>(
      `select count(*)::int from ${table}`,
    );
    return row?.count ?? Number.NaN;
  }

  async stop(): Promise<void> {
    await this.#sql.end();
    await this.setting.stop();
  }
}
