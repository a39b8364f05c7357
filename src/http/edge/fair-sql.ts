// Connections for work that one tenant can make slow (lists, replays of events), apart from those
// that everybody needs.
import { Lane, type LaneOptions } from '../../platform/postgres/lane.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { type PortalPrincipal, type Principal, tenantOf } from './auth.ts';
import { Unavailable } from './errors.ts';

export class FairSql {
  readonly #sql: Sql;
  readonly #lane: Lane;
  readonly #what: string;

  /** @param what as a refusal calls them */
  constructor(sql: Sql, what: string, options: LaneOptions) {
    this.#sql = sql;
    this.#what = what;
    this.#lane = new Lane(options);
  }

  /** @throws Unavailable where the tenant has too many of them under way */
  async run<T extends object>(
    principal: Principal | PortalPrincipal,
    task: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    const done = await this.#lane.run(tenantOf(principal), () => task(this.#sql));
    if (done === 'no_place') throw new Unavailable(`too many ${this.#what} of this caller at once`);
    return done;
  }

  async end(): Promise<void> {
    await this.#sql.end({ timeout: 2 });
  }
}
