// A list of a pool's costs, judged before anything is written (docs/spec/usage.md#credits).
//
// Holds: a meter is in one pool at most, ever, and no pool is a member. A cost is a whole number of
// the pool's smallest unit for one of the member's (`rate`), so nothing is ever rounded. The caller
// has the lock (`lockCreditCosts`).
import { parseQuantity } from '../../ledger/kernel/quantity.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { Bounds } from '../platform/bounds.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import {
  type Candidate,
  type CreditCost,
  findDisagreement,
  findLastList,
  findRoomForList,
  findRoomForMembers,
  findPoolOfMember,
  listCandidates,
  type NewList,
} from '../records/credit-costs.ts';
import { otherReset } from '../records/usage-conflicts.ts';

/** As a caller says it. */
export type GivenCost = { readonly featureKey: string; readonly cost: string };

/** The meter that is, or becomes, a pool. */
type ToBe = Pick<Meter, 'id' | 'slug' | 'aggregation' | 'scale'> & {
  /** The list in force; null: the meter is being made. */
  readonly creditCosts: readonly CreditCost[] | null;
};

type Fault = { readonly path: readonly string[]; readonly message: string };

export type RefusedCosts =
  | { readonly kind: 'costs_invalid'; readonly faults: readonly Fault[] }
  | { readonly kind: 'costs_unknown'; readonly featureKey: string }
  | { readonly kind: 'costs_conflict'; readonly why: string };

/** `list` null: the list in force says the same. */
export type JudgedCosts =
  | {
      readonly kind: 'good';
      readonly list: NewList | null;
      readonly creditCosts: readonly CreditCost[];
    }
  | RefusedCosts;

/** Of a list of costs that some pool is to have from now on. */
export async function judgeCosts(
  sql: Transaction,
  scope: Tenant,
  asked: {
    readonly pool: ToBe;
    readonly given: readonly GivenCost[];
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<JudgedCosts> {
  const { pool, given, bounds, now } = asked;
  const inForce = pool.creditCosts ?? [];
  if (given.length === 0 && inForce.length === 0) return same(inForce);
  const fault = await faultOfPool(sql, pool);
  if (fault !== null) return invalid([{ path: ['credit_costs'], message: fault }]);
  const slugs = given.map(({ featureKey }) => featureKey);
  const candidates = await listCandidates(sql, scope, { poolId: pool.id, slugs });
  const bySlug = new Map(candidates.map((one) => [one.slug, one]));
  const missing = slugs.find((slug) => !bySlug.has(slug) && slug !== pool.slug);
  if (missing !== undefined) return { kind: 'costs_unknown', featureKey: missing };

  const faults: Fault[] = [];
  const members: (Candidate & { readonly rate: bigint })[] = [];
  for (const [index, { featureKey, cost }] of given.entries()) {
    const at = (field: string, message: string): void => {
      faults.push({ path: ['credit_costs', String(index), field], message });
    };
    const meter = bySlug.get(featureKey);
    const why =
      slugs.indexOf(featureKey) < index ? 'is in the list twice' : faultOfMember(meter, pool);
    if (why !== null) at('feature_key', why);
    if (meter === undefined || why !== null) continue;
    const rate = rateOf(cost, meter, pool);
    if (typeof rate === 'bigint') members.push({ ...meter, rate });
    else at('cost', rate);
  }
  if (faults.length > 0) return invalid(faults);
  const creditCosts = members.map(({ slug, scale, rate }) => ({ slug, scale, rate: String(rate) }));
  if (isSame(creditCosts, inForce)) return same(inForce);
  const archived = members.find(({ isActive }) => !isActive);
  if (archived !== undefined) return { kind: 'costs_unknown', featureKey: archived.slug };

  const meterIds = members.map(({ id }) => id);
  const full =
    (await findRoomForList(sql, scope, bounds)) ??
    (await findRoomForMembers(sql, bounds, { poolId: pool.id, meterIds }));
  if (full !== null) return conflict(full.message);
  const { reset, priced } = await findDisagreement(sql, { poolId: pool.id, meterIds });
  if (priced !== null)
    return conflict(`usage of "${priced}" is sold: archive its usage prices first`);
  if (reset !== null) return conflict(otherReset(reset).message);
  const last = await findLastList(sql, pool.id);
  const number = (last?.number ?? 0) + 1;
  // Clocks of nodes differ a little: a later list begins no earlier.
  const since = pool.creditCosts === null ? 0 : Math.max(now, last?.since.getTime() ?? 0);
  const listed = members.map(({ id, rate }) => ({ meterId: id, rate }));
  const list = { poolId: pool.id, number, since: new Date(since), members: listed };
  return { kind: 'good', list, creditCosts };
}

const same = (creditCosts: readonly CreditCost[]) =>
  ({ kind: 'good', list: null, creditCosts }) as const;
const invalid = (faults: readonly Fault[]) => ({ kind: 'costs_invalid', faults }) as const;
const conflict = (why: string) => ({ kind: 'costs_conflict', why }) as const;

/** Why the meter cannot be a pool, or null. */
async function faultOfPool(sql: Transaction, { id, aggregation }: ToBe): Promise<string | null> {
  if (aggregation !== 'sum') return 'go with a meter whose aggregation is sum';
  const pool = await findPoolOfMember(sql, id);
  return pool === null ? null : `cannot be of a feature that "${pool}" pays for`;
}

/** Why the meter cannot be a member, or null. `undefined`: it is the pool that is being made. */
function faultOfMember(meter: Candidate | undefined, pool: ToBe): string | null {
  if (meter === undefined || meter.id === pool.id) return 'is the pool itself';
  if (meter.isPool) return 'is a pool of credits itself';
  if (meter.memberOf !== null) return `is paid for by "${meter.memberOf}"`;
  const isCounted = meter.aggregation === 'sum' || meter.aggregation === 'count';
  return isCounted ? null : 'must be a meter that sums or counts';
}

/** Or why it is none. */
function rateOf(cost: string, member: Candidate, pool: ToBe): bigint | string {
  const finer = pool.scale - member.scale;
  const rate = finer < 0 ? 'too_many_decimals' : parseQuantity(cost, finer);
  switch (rate) {
    case 'not_a_decimal':
      return 'must be a decimal string such as "0.5"';
    case 'too_many_decimals':
      return `has, with the ${member.scale} of its feature, more decimals than the pool (${pool.scale})`;
    case 'out_of_range':
      return 'is out of range';
    default:
      return rate > 0n ? rate : 'must be greater than zero';
  }
}

/** Whether they ask the same of each feature, in whatever order. */
function isSame(one: readonly CreditCost[], other: readonly CreditCost[]): boolean {
  const rates = new Map(other.map(({ slug, rate }) => [slug, rate]));
  return one.length === other.length && one.every(({ slug, rate }) => rates.get(slug) === rate);
}
