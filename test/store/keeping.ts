// A service whose clock is moved by months, and the rows that it then keeps.
import { expect, setSystemTime } from 'bun:test';
import type { Timers } from '../../ledger/ports.ts';
import { audit } from '../../src/database/audit.ts';
import {
  retain,
  type Retained,
  type RetentionDeps,
  type RetentionPolicy,
} from '../../src/database/retention.ts';
import { clock, timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { Setting } from '../http/metering/setting.ts';
import type { ServerOptions } from '../support/server.ts';
import { relayAll } from '../support/relayed.ts';
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
  /** A connection of its own, as the command has. */
  readonly #sql: Sql;

  private constructor(setting: Setting) {
    this.setting = setting;
    this.#sql = openPool(setting.server.databaseUrl, {
      max: 2,
      applicationName: 'retention',
      statementTimeoutMs: 0,
    });
  }

  static async open(options: ServerOptions = {}): Promise<Keeping> {
    return new Keeping(await Setting.open({ leaseMs: 900, ...options }));
  }

  /**
   * The jump ends the lease; the node renews it by itself. Resolves when what is due by then is
   * written, too: otherwise it would come between two counts.
   */
  async travel(at: number | null): Promise<void> {
    if (at === null) setSystemTime();
    else setSystemTime(new Date(at));
    const { server } = this.setting;
    await until('the node is ready', () => server.ledger.readiness().ready);
    await until('nothing is due', async () => {
      return (
        (await server.sql`select from alarms where due_at <= ${new Date()} limit 1`).length === 0
      );
    });
  }

  /** Once all events are fanned out, as a worker does. It does not rest between its steps. */
  async retain(
    policy: Partial<RetentionPolicy> = {},
    deps: Partial<RetentionDeps> = {},
  ): Promise<Retained | null> {
    await relayAll(this.setting.server.sql);
    const hurried: Timers = { ...timers, after: (_ms, task) => timers.after(0, task) };
    const all = { sql: this.#sql, clock, timers: hurried, ids, dryRun: false, ...deps };
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
    setSystemTime();
    await this.#sql.end();
    await this.setting.stop();
  }
}
