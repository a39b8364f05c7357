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

export type Grant = {
  readonly id: string;
  readonly source: GrantSource;
  /** What it gives (each period, if it recurs), scaled. Null: unlimited. */
  readonly amount: bigint | null;
  /** What was used of it as of the last checkpoint (in this period, if it recurs). */
  readonly used: bigint;
  /**
   * For a plan's grant: usage of earlier plans in this period beyond what this one gives. It counts
   * against the next plan.
   */
  readonly spent: bigint;
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
  /** A suspended grant counts in the limit, but nothing of it may be used. */
  readonly suspended: Suspension | null;
  /** A boolean feature: unlimited, and no number is shown. */
  readonly boolean: boolean;
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
  return (
    Number(a.suspended !== null) - Number(b.suspended !== null) ||
    a.priority - b.priority ||
    (a.expiresAt ?? Infinity) - (b.expiresAt ?? Infinity) ||
    Number(b.source === 'rollover') - Number(a.source === 'rollover') ||
    a.createdAt - b.createdAt ||
    (a.id < b.id ? -1 : 1)
  );
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

/** Whether it covers whatever is used. A suspended one covers nothing more. */
export function isUnlimited(grant: Grant): boolean {
  return grant.started && grant.amount === null && grant.suspended === null;
}

/** What is left of a grant as of its checkpoint; null is unlimited. */
export function left(grant: Grant): bigint | null {
  return grant.amount === null ? null : grant.amount - grant.used;
}

/**
 * Divides `units` among the started grants, in burn order. Negative units are corrections of usage
 * that an earlier checkpoint has settled: they go back to the last grants that burned, except for
 * what these pay for of reservations (`kept`, by grant). Returns the grants with their new `used`,
 * and the units that no grant took: overage if positive.
 */
export function burn(
  grants: readonly Grant[],
  units: bigint,
  kept: ReadonlyMap<string, bigint> = NOTHING,
): { grants: readonly Grant[]; rest: bigint } {
  if (units === 0n) return { grants, rest: 0n };
  const dealt = [...grants];
  let rest = units;
  for (let step = 0; step < dealt.length && rest !== 0n; step += 1) {
    const index = units > 0n ? step : dealt.length - 1 - step;
    const grant = dealt[index];
    if (grant === undefined || !grant.started) continue;
    const isHeld = grant.suspended !== null && grant.amount === null;
    const room = units > 0n ? (isHeld ? 0n : left(grant)) : -free(grant, kept);
    const taken = room === null ? rest : nearerToZero(room, rest);
    const used = grant.used + taken;
    assert(used >= 0n, 'a grant gives back at most what was used of it');
    assert(grant.amount === null || used <= grant.amount, 'a grant gives at most its amount');
    dealt[index] = { ...grant, used };
    rest -= taken;
  }
  return { grants: dealt, rest };
}

/** What a correction may give back to it. */
function free({ id, used }: Grant, kept: ReadonlyMap<string, bigint>): bigint {
  const rest = used - (kept.get(id) ?? 0n);
  return rest > 0n ? rest : 0n;
}

const NOTHING: ReadonlyMap<string, bigint> = new Map();

/** Both of one sign. */
function nearerToZero(a: bigint, b: bigint): bigint {
  return (a < b ? a : b) < 0n ? (a > b ? a : b) : a < b ? a : b;
}
