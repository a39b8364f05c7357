import { assert } from '../kernel/assert.ts';
import type { Cycle } from '../kernel/calendar.ts';

/**
 * What a customer may use of a meter, and in which order it is used up.
 *
 * A grant knows what of it was used as of the last checkpoint of its meter; what came after is dealt out to the grants in burn
 * order whenever somebody asks (`burn`). So a usage event writes no grant, and a checkpoint is only needed where the set of
 * grants changes: a grant comes, goes, expires, or the period ends.
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
  /** Of a plan's: what was used in this period of the plans before it, beyond what this one gives. It counts against the next one. */
  readonly spent: bigint;
  readonly effectiveAt: number;
  readonly expiresAt: number | null;
  /** Lower burns first. */
  readonly priority: number;
  readonly createdAt: number;
  readonly overageAllowed: boolean;
  /** Set on an allowance, which is given anew at the start of each of its periods. */
  readonly recurs: { readonly cycle: Cycle; readonly rollover: Rollover | null } | null;
  /** When it is next given anew; null until it has started, and where it does not recur. */
  readonly renewsAt: number | null;
  /** Whether it has been credited: a grant of the future has not. */
  readonly started: boolean;
  /** A suspended grant counts in the limit, but nothing of it may be used. */
  readonly suspended: Suspension | null;
  /** A feature that one has or has not: unlimited, and no number is shown. */
  readonly boolean: boolean;
  readonly productId: string | null;
  readonly subscriptionId: string | null;
  readonly reason: string | null;
  /** Why and when it stopped counting; null while it is live. */
  readonly ended: { readonly at: number; readonly how: 'expired' | 'voided' | 'used_up' } | null;
};

/**
 * Burn order (decisions 5): lowest priority, then soonest expiry, then rollover before fresh, then oldest. Total: ids break ties.
 * What is suspended comes last of all.
 */
export function burnOrder(a: Grant, b: Grant): number {
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
 * The allowance whose periods are the meter's: of those that have started the one with the lowest priority, then the oldest. Not
 * the first to burn, because a suspension or a planned end moves that one, and the period must stay.
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
 * Deals `units` out to the started grants, which stand in burn order. Negative units (corrections of what an earlier checkpoint
 * had settled) go back to the last ones that burned. Returns the grants with their new `used`, and the units that no grant took:
 * overage if positive.
 */
export function burn(
  grants: readonly Grant[],
  units: bigint,
): { grants: readonly Grant[]; rest: bigint } {
  if (units === 0n) return { grants, rest: 0n };
  const dealt = [...grants];
  let rest = units;
  for (let step = 0; step < dealt.length && rest !== 0n; step += 1) {
    const index = units > 0n ? step : dealt.length - 1 - step;
    const grant = dealt[index];
    if (grant === undefined || !grant.started) continue;
    const isHeld = grant.suspended !== null && grant.amount === null;
    const room = units > 0n ? (isHeld ? 0n : left(grant)) : -grant.used;
    const taken = room === null ? rest : nearerToZero(room, rest);
    const used = grant.used + taken;
    assert(used >= 0n, 'a grant gives back at most what was used of it');
    assert(grant.amount === null || used <= grant.amount, 'a grant gives at most its amount');
    dealt[index] = { ...grant, used };
    rest -= taken;
  }
  return { grants: dealt, rest };
}

/** Both of one sign. */
function nearerToZero(a: bigint, b: bigint): bigint {
  return (a < b ? a : b) < 0n ? (a > b ? a : b) : a < b ? a : b;
}
