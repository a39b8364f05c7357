import { assert } from '../kernel/assert.ts';
import type { Cycle } from '../kernel/calendar.ts';
import type { UsagePrice } from './usage-price.ts';

/**
 * What a customer may use of a meter, and in which order it is used up.
 *
 * How it works: a grant stores its usage as of the last checkpoint of the meter. Later usage is
 * divided among the grants in burn order when it is read (`burn`). So a usage event writes no
 * grant. A checkpoint is needed only where the set of grants changes: one is added, ends or
 * expires, or the period ends.
 * What holds: the order is total, so the same state always burns the same way.
 * What it does not do: change the state of a meter (`meter-draft.ts`).
 */
export const GRANT_SOURCES = ['subscription', 'top_up', 'rollover', 'manual'] as const;
export type GrantSource = (typeof GRANT_SOURCES)[number];

/** Why what a subscription grants may not be used for now. */
export type Suspension = 'paused' | 'blocked';

export type Rollover = { readonly max: bigint; readonly expiresAfterPeriods: number };

/**
 * What was used in a period that a change to another interval has cut short, and when that would
 * have ended.
 */
export type CutUse = { readonly units: bigint; readonly until: number };

/** Moments (`stretch.ts`); `until` null: it is suspended now. */
export type Rest = { readonly from: number; readonly until: number | null };

export type Grant = {
  readonly id: string;
  readonly source: GrantSource;
  /** What it gives (each period, if it recurs), scaled. Null: unlimited. */
  readonly amount: bigint | null;
  /** What was used of it as of the last checkpoint (in this period, if it recurs). */
  readonly used: bigint;
  /**
   * For a plan's grant: usage of this period beyond what the plan of now gives, which counts
   * against the next plan. Of one without a limit: what the plans before it gave.
   */
  readonly spent: bigint;
  /**
   * Of a subscription: so much of what was used is of before the plan was as large (`grown.ts`).
   */
  readonly grown: bigint;
  /** Part of what was used, ascending by its end: it counts until then (`cut-periods.ts`). */
  readonly cut: readonly CutUse[];
  /**
   * Of a subscription: when it was suspended, ascending (balance.md 1). What was so long ago that
   * nothing comes late is left out.
   */
  readonly rests: readonly Rest[];
  /** Of what rolled over of a plan: how much of it the plan of now lets be used. null: all. */
  readonly cap: bigint | null;
  readonly effectiveAt: number;
  readonly expiresAt: number | null;
  /** Lower burns first. */
  readonly priority: number;
  readonly createdAt: number;
  readonly overageAllowed: boolean;
  /** What usage beyond the limit costs; null: it is not sold. */
  readonly price: UsagePrice | null;
  /** Whether it is charged: not in a trial. Then nothing beyond the limit may be used. */
  readonly charges: boolean;
  /** Set on an allowance, which renews at the start of each of its periods. */
  readonly recurs: { readonly cycle: Cycle; readonly rollover: Rollover | null } | null;
  /** When it renews next; null until it has started, and where it does not recur. */
  readonly renewsAt: number | null;
  /** Whether it has been credited: a grant of the future has not. */
  readonly started: boolean;
  /**
   * The moment in which it was credited (`stretch.ts`); null before that, and where it is older
   * than this field.
   */
  readonly startedAt: number | null;
  /** The place of its end among the boundaries of that millisecond. */
  readonly endedIn: number;
  /** A suspended grant counts in the limit, but nothing of it may be used. */
  readonly suspended: Suspension | null;
  /** A boolean feature: unlimited, and no number is shown. */
  readonly boolean: boolean;
  /**
   * What gives it. null: nobody's product, or of a subscription whose product lacks the feature.
   */
  readonly productId: string | null;
  readonly subscriptionId: string | null;
  readonly reason: string | null;
  /** Why and when it stopped counting; null while it is live. */
  readonly ended: { readonly at: number; readonly how: 'expired' | 'voided' | 'used_up' } | null;
};

type Burning = Pick<Grant, 'id' | 'source' | 'priority' | 'expiresAt' | 'createdAt' | 'suspended'>;

/**
 * Burn order (decisions 5): lowest priority, then soonest expiry, then rollover before fresh, then
 * oldest. Total: ids break ties. What is suspended comes last of all.
 */
export function burnOrder(a: Burning, b: Burning): number {
  return Number(a.suspended !== null) - Number(b.suspended !== null) || inForceOrder(a, b);
}

/** The same where none is suspended. */
export function inForceOrder(a: Burning, b: Burning): number {
  return (
    a.priority - b.priority ||
    (a.expiresAt ?? Infinity) - (b.expiresAt ?? Infinity) ||
    Number(b.source === 'rollover') - Number(a.source === 'rollover') ||
    a.createdAt - b.createdAt ||
    (a.id < b.id ? -1 : 1)
  );
}

/** The same grants, in burn order, with one that is new or changed. One that has ended leaves. */
export function withGrant(grants: readonly Grant[], grant: Grant): readonly Grant[] {
  const others = grants.slice();
  const before = others.findIndex(({ id }) => id === grant.id);
  if (before !== -1) others.splice(before, 1);
  if (grant.ended !== null) return others;
  let [from, to] = [0, others.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = others[middle];
    if (other !== undefined && burnOrder(other, grant) < 0) from = middle + 1;
    else to = middle;
  }
  others.splice(from, 0, grant);
  return others;
}

/** What the order of live grants depends on. */
export type Placed = Burning & Pick<Grant, 'started' | 'effectiveAt'>;

export function placed(grant: Grant): Placed {
  const { id, source, priority, expiresAt, createdAt, suspended, started, effectiveAt } = grant;
  return { id, source, priority, expiresAt, createdAt, suspended, started, effectiveAt };
}

/** The started grants in burn order, then those of the future. 0 for the same grant alone. */
export function liveOrder(a: Placed, b: Placed): number {
  if (a.id === b.id) return 0;
  if (a.started !== b.started) return a.started ? -1 : 1;
  return (a.started ? 0 : a.effectiveAt - b.effectiveAt) || burnOrder(a, b);
}

/**
 * The allowance that sets the periods of the meter: of those that have started, the one with the
 * lowest priority, then the oldest. It is not the first to burn: a suspension or a planned end
 * changes that order, and the period must stay.
 */
export function leaderOf(grants: readonly Grant[]): Grant | null {
  let leader: Grant | null = null;
  for (const grant of grants) {
    if (!grant.started || grant.recurs === null) continue;
    if (leader === null || leads(grant, leader)) leader = grant;
  }
  return leader;
}

function leads(a: Grant, b: Grant): boolean {
  return (a.priority - b.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)) < 0;
}

/**
 * Whether it is what a plan without the feature leaves of an allowance: it gives nothing, and keeps
 * what was used in its period and when that ends.
 */
export function isLapsed({ source, productId }: Grant): boolean {
  return productId === null && source === 'subscription';
}

/**
 * Whether another plan's allowance is as this one, and its use costs nothing: a change between them
 * is no boundary. One without a limit covers all that is used, so there a boundary changes nothing.
 */
export function hasSameTerms(a: Grant, b: Grant): boolean {
  const [its, other] = [a.recurs, b.recurs];
  return (
    a.amount !== null &&
    a.amount === b.amount &&
    a.price === null &&
    b.price === null &&
    isLapsed(a) === isLapsed(b) &&
    a.priority === b.priority &&
    its?.rollover?.max === other?.rollover?.max &&
    its?.rollover?.expiresAfterPeriods === other?.rollover?.expiresAfterPeriods &&
    its?.cycle.anchor === other?.cycle.anchor &&
    its?.cycle.interval === other?.cycle.interval &&
    its?.cycle.count === other?.cycle.count
  );
}

/** Whether it has started, and something may be used by it or beyond it. */
export function entitles(grant: Grant): boolean {
  return grant.started && !isLapsed(grant) && grant.cap !== 0n;
}

/** When what was used in the first period that was cut short counts no more; Infinity for none. */
export function cutDue({ cut }: Pick<Grant, 'cut'>): number {
  return cut[0]?.until ?? Infinity;
}

/** Whether nothing of it can come back but by a correction. */
export function isUsedUp({ amount, used }: Grant): boolean {
  return amount === used;
}

/** Whether it covers whatever is used. A suspended one covers nothing more. */
export function isUnlimited(grant: Grant): boolean {
  return grant.started && grant.amount === null && grant.suspended === null;
}

/** What is left of a grant as of its checkpoint; null is unlimited. */
export function left({ amount, used, cap }: Grant): bigint | null {
  if (amount === null) return null;
  const size = cap === null || cap > amount ? amount : cap;
  return size > used ? size - used : 0n;
}

type Burned = {
  readonly grants: readonly Grant[];
  /** What no grant took: overage if positive. */
  readonly rest: bigint;
};

/**
 * Divides `units` among the started grants, in burn order. While one is unlimited no other burns,
 * and what is suspended covers nothing (balance.md 8).
 */
export function burn(grants: readonly Grant[], units: bigint): Burned {
  return divide(grants, units, ({ suspended }) => suspended === null);
}

/** As it is shown: beyond what may be used, suspended grants have less left. */
export function burnShown(grants: readonly Grant[], units: bigint): Burned {
  return divide(grants, units, ({ suspended, amount }) => suspended === null || amount !== null);
}

function divide(
  grants: readonly Grant[],
  units: bigint,
  mayBurn: (grant: Grant) => boolean,
): Burned {
  if (units === 0n) return { grants, rest: 0n };
  const dealt = [...grants];
  let rest = units;
  const unlimited = grants.find(isUnlimited);
  for (const [index, grant] of grants.entries()) {
    if (rest === 0n) break;
    if (!grant.started || !mayBurn(grant)) continue;
    if (unlimited !== undefined && grant !== unlimited) continue;
    const room = left(grant);
    const taken = room === null || room > rest ? rest : room;
    const used = grant.used + taken;
    assert(grant.amount === null || used <= grant.amount, 'a grant gives at most its amount');
    dealt[index] = { ...grant, used };
    rest -= taken;
  }
  return { grants: dealt, rest };
}

/**
 * Gives `units` back to the last grants that burned: a correction of usage that an earlier
 * checkpoint has settled. `lapsed`: what came back and may not be used any more.
 */
export function unburn(
  grants: readonly Grant[],
  units: bigint,
): Burned & { readonly lapsed: bigint } {
  const dealt = [...grants];
  let [rest, lapsed] = [units, 0n];
  for (const [index, grant] of [...grants.entries()].toReversed()) {
    if (rest === 0n) break;
    const free = grant.used + grant.spent;
    if (!grant.started || free <= 0n) continue;
    const taken = free < rest ? free : rest;
    const back = givenBack(grant, taken);
    dealt[index] = back.grant;
    lapsed += back.lapsed;
    rest -= taken;
  }
  return { grants: dealt, rest, lapsed };
}

/**
 * Units of it that were used come back, newest first: what was used beyond what it gives now; of
 * one without a limit, what plans before it gave comes last.
 */
export function givenBack(
  grant: Grant,
  units: bigint,
): { readonly grant: Grant; readonly lapsed: bigint } {
  const newest = grant.amount === null ? grant.used : grant.spent;
  const first = newest < units ? newest : units;
  const [ofUsed, ofSpent] = grant.amount === null ? [first, units - first] : [units - first, first];
  const [used, spent] = [grant.used - ofUsed, grant.spent - ofSpent];
  assert(used >= 0n && spent >= 0n, 'a grant gives back at most what was used of it');
  const all = used + spent;
  const after = { ...grant, used, spent, grown: grant.grown < all ? grant.grown : all };
  const rest = left(grant);
  return { grant: after, lapsed: rest === null ? 0n : units - ((left(after) ?? 0n) - rest) };
}
