// Which pool of credits a meter is, or is a member of.
//
// Holds: a meter is in one pool at most (`credit-costs.ts`), so this is one look-up by its id. A
// list of costs never changes, and nor does what a pool knows of a meter: what was read is not read
// again, so a change costs what has changed. No statement reads more than LISTS_AT_ONCE lists,
// however many an organisation has.
import { must } from '../../ledger/kernel/assert.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { PoolMember, Pool, PoolCosts, PoolOf } from '../../ledger/metering/pool.ts';
import type { CountedPool, StoredList } from '../records/credit-costs.ts';
import { type BookEntry, type BookSource, openMeterBook } from './meter-book.ts';

/** Of 50 members each: some 10 ms to read, in which nobody else is answered. */
const LISTS_AT_ONCE = 100;

export type PoolSource = Omit<BookSource<Pool>, 'list'> & {
  readonly pools: (organisationId: string | null) => Promise<readonly CountedPool[]>;
  readonly listsAfter: (
    pools: readonly { readonly poolId: string; readonly known: number }[],
    limit: number,
  ) => Promise<readonly StoredList[]>;
  readonly meters: (ids: readonly string[]) => Promise<readonly Meter[]>;
};

export async function openPoolBook(source: PoolSource): Promise<{ readonly of: PoolOf }> {
  const { changes, timers } = source;
  const known = new KnownPools(source);
  const book = await openMeterBook({
    changes,
    timers,
    kind: 'meter',
    list: (organisationId) => known.list(organisationId),
  });
  return { of: ({ id }) => book.of(id) ?? null };
}

/** A pool, as far as its lists were read. */
type Known = {
  /** The same one until it has another list: what actors keep of it is kept by it. */
  readonly pool: Pool;
  /** By its id and the digits of its rate: what a member costs in many lists is in memory once. */
  readonly members: Map<string, PoolMember>;
  /** The pool itself, and the members of all of its lists. */
  readonly meterIds: Set<string>;
};

class KnownPools {
  readonly #source: PoolSource;
  readonly #byId = new Map<string, Known>();

  constructor(source: PoolSource) {
    this.#source = source;
  }

  async list(organisationId: string | null): Promise<readonly BookEntry<Pool>[]> {
    const pools = await this.#source.pools(organisationId);
    this.#forget(organisationId, new Set(pools.map(({ meter }) => meter.id)));
    for (const { meter } of pools) {
      const { id } = meter;
      const pool: Pool = { meter, costs: [] };
      const none = { pool, members: new Map(), meterIds: new Set([id]) };
      if (!this.#byId.has(id)) this.#byId.set(id, none);
    }
    await this.#readOn(pools);
    return pools.flatMap(({ meter: { id, organisationId: owner } }) => {
      const { pool, meterIds } = this.#of(id);
      return [...meterIds].map((meterId) => ({ organisationId: owner, meterId, value: pool }));
    });
  }

  #of(poolId: string): Known {
    return must(this.#byId.get(poolId), 'a pool is known before its lists are read');
  }

  /** Those that are not there any more. */
  #forget(organisationId: string | null, there: ReadonlySet<string>): void {
    for (const [id, { pool }] of this.#byId) {
      const isAsked = organisationId === null || pool.meter.organisationId === organisationId;
      if (isAsked && !there.has(id)) this.#byId.delete(id);
    }
  }

  async #readOn(pools: readonly CountedPool[]): Promise<void> {
    const { listsAfter, meters } = this.#source;
    for (;;) {
      const asked = pools.flatMap(({ meter: { id }, lists }) => {
        const known = this.#of(id).pool.costs.length;
        return known < lists ? [{ poolId: id, known }] : [];
      });
      if (asked.length === 0) return;
      // Each has one at least.
      const lists = await listsAfter(asked.slice(0, LISTS_AT_ONCE), LISTS_AT_ONCE);
      const memberIds = lists.flatMap(({ members }) => members.map(([id]) => id));
      const read = await meters([...new Set(memberIds)]);
      const byId = new Map(read.map((meter) => [meter.id, meter]));
      for (const [poolId, of] of Map.groupBy(lists, (list) => list.poolId)) {
        this.#add(poolId, of, byId);
      }
    }
  }

  #add(poolId: string, lists: readonly StoredList[], meters: ReadonlyMap<string, Meter>): void {
    const known = this.#of(poolId);
    const { members, meterIds } = known;
    const memberFor = (id: string, digits: string): PoolMember => {
      const name = `${id} ${digits}`;
      const meter = must(meters.get(id), 'a meter of a list is there');
      const member = members.get(name) ?? { meter, rate: BigInt(digits) };
      members.set(name, member);
      meterIds.add(id);
      return member;
    };
    const added: readonly PoolCosts[] = lists.map(({ since, members: of }) => ({
      since: since.getTime(),
      members: new Map(of.map(([id, digits]) => [id, memberFor(id, digits)])),
    }));
    const { meter, costs } = known.pool;
    this.#byId.set(poolId, { ...known, pool: { meter, costs: [...costs, ...added] } });
  }
}
