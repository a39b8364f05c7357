// Connections for work that one tenant can make slow (lists, replays of events), apart from those
// that everybody needs.
import { Lane, type LaneOptions, type NoPlace } from '../../platform/postgres/lane.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { type PortalPrincipal, type Principal, tenantOf } from './auth.ts';
import { Unavailable } from './errors.ts';

export class FairSql {
  readonly #sql: Sql;
  readonly #lane: Lane;
  /** Before the lane: half of its places, and one for a tenant. */
  readonly #slow: Lane;
  readonly #what: string;

  /** @param what as a refusal calls them */
  constructor(sql: Sql, what: string, options: LaneOptions) {
    this.#sql = sql;
    this.#what = what;
    this.#lane = new Lane(options);
    this.#slow = new Lane({ ...options, places: Math.ceil(options.places / 2), perTenant: 1 });
  }

  /** @throws Unavailable where the tenant has too many of them under way */
  async run<T extends object>(
    principal: Principal | PortalPrincipal,
    task: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    const done = await this.#lane.run(tenantOf(principal), () => task(this.#sql));
    return this.#placed(done);
  }

  /**
   * The same for what may take as long as a statement may: whatever such tasks do, half of the
   * connections are left to the others.
   *
   * @throws Unavailable where the tenant has too many of them under way
   */
  async runSlow<T extends object>(
    principal: Principal | PortalPrincipal,
    task: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    const run = () => this.run(principal, task);
    return this.#placed(await this.#slow.run(tenantOf(principal), run));
  }

  #placed<T>(done: T | NoPlace): T {
    if (done === 'no_place') throw new Unavailable(`too many ${this.#what} of this caller at once`);
    return done;
  }

  async end(): Promise<void> {
    await this.#sql.end({ timeout: 2 });
  }
}
