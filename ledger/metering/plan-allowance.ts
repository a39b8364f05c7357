import {
  advancedDraft,
  endGrant,
  endWhole,
  isOfPlan,
  replaceGrant,
  since,
  startGrant,
} from './advance.ts';
import { type GrantRefusal, refuseGrant } from './grant-decisions.ts';
import { assert } from '../kernel/assert.ts';
import type { Cycle, Interval } from '../kernel/calendar.ts';
import type { MeterContext, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import {
  type Grant,
  type Rest,
  type Rollover,
  type Suspension,
  isLapsed,
  isUnlimited,
  leaderOf,
} from './grants.ts';
import { type MeterState, calendarPeriod, snapshotOf } from './meter.ts';
import { closeSpan, dropSince, followBiller, repriceSince } from './span-changes.ts';
import { coverDebt } from './grown.ts';
import { capRollover } from './rollover.ts';
import { keptSince } from './settlement/kept.ts';
import { runningSpan, soldSince } from './spans.ts';
import { momentOf, placeIn } from './stretch.ts';
import type { UsagePrice } from './usage-price.ts';

/**
 * What a subscription does to one meter of its customer. The subscription decides
 * (`ledger/subscriptions`), this module executes its orders in the same unit.
 *
 * What holds: each order is idempotent. An order that is fulfilled already has no effects.
 * What it does not do: decide when to start, suspend or end an allowance.
 */
export type Done<K extends string = never> = {
  readonly outcome: { readonly kind: 'done' | K };
  /** Null where nothing changes. */
  readonly effects: MeterEffects | null;
};

/** What a product gives of a meter. */
export type AllowanceTerms = {
  readonly priority: number;
  /** Scaled; null is unlimited. */
  readonly limit: bigint | null;
  /** `never`: given once, for as long as the subscription lasts. */
  readonly resetInterval: 'never' | Interval;
  /** How many intervals a period has. */
  readonly resetCount: number;
  readonly overageAllowed: boolean;
  /** What usage beyond the limit costs; null: it is not sold. */
  readonly price: UsagePrice | null;
  readonly rollover: Rollover | null;
  readonly boolean: boolean;
};

type Subscriber = {
  readonly grantId: string;
  readonly subscriptionId: string;
  readonly productId: string;
  /** Where the periods of the subscription are counted from. */
  readonly cycle: Pick<Cycle, 'anchor' | 'zone'>;
  readonly createdAt: number;
  /** Whether usage beyond the limit is charged: not in a trial. */
  readonly charges: boolean;
};

/** What a product's entitlement gives to a subscriber. */
export function planGrant(terms: AllowanceTerms & Subscriber): Grant {
  const { grantId, limit, resetInterval, cycle, rollover, createdAt } = terms;
  assert(limit === null || limit >= 0n, 'an allowance is never negative');
  const { anchor, zone } = cycle;
  return {
    id: grantId,
    source: 'subscription',
    amount: terms.boolean ? null : limit,
    used: 0n,
    spent: 0n,
    grown: 0n,
    cut: [],
    rests: [],
    startedAt: null,
    endedIn: 0,
    cap: null,
    effectiveAt: createdAt,
    expiresAt: null,
    priority: terms.priority,
    createdAt,
    overageAllowed: terms.overageAllowed,
    price: terms.price,
    charges: terms.charges,
    recurs:
      resetInterval === 'never'
        ? null
        : { cycle: { anchor, interval: resetInterval, count: terms.resetCount, zone }, rollover },
    renewsAt: null,
    started: false,
    suspended: null,
    boolean: terms.boolean,
    productId: terms.productId,
    subscriptionId: terms.subscriptionId,
    reason: null,
    ended: null,
  };
}

/**
 * Starts the grants that have not started, all or none. They start now, even if the clock of the
 * ordering node is ahead.
 */
export function startPlan(
  context: MeterContext,
  state: MeterState,
  grants: readonly Grant[],
): Done<GrantRefusal> {
  const draft = advancedDraft(context, state);
  for (const grant of grants) {
    assert(isOfPlan(grant) && grant.subscriptionId !== null, 'a plan grants to its subscription');
    if (draft.state.grants.some((other) => other.id === grant.id)) continue;
    const refused = refuseGrant(draft, grant);
    if (refused !== null) return { outcome: { kind: refused }, effects: null };
    const effectiveAt = Math.min(grant.effectiveAt, context.now);
    startGrant(draft, { ...grant, effectiveAt }, since(draft, effectiveAt), 'subscription_start');
  }
  return done(draft, state);
}

/**
 * Replaces the allowances by those of another plan, one for one. Usage of the old one in its period
 * counts against the new one, also where a plan between them lacks the feature or has no limit. So
 * changing back and forth gains nothing. What rolled over stays, as far as the new one lets it.
 */
export function replacePlan(
  context: MeterContext,
  state: MeterState,
  { subscriptionId, since: from, isRenewal = false }: Replacing,
  grants: readonly Grant[],
): Done<GrantRefusal> {
  const draft = advancedDraft(context, state);
  const now = since(draft, context.now);
  const before = draft.state;
  const { limit } = snapshotOf(before);
  const { accountId } = before.current;
  const sold = soldSince(before, { subscriptionId, since: from });
  const isNew = (id: string): boolean => grants.some((grant) => grant.id === id);
  for (const grant of grants) {
    assert(grant.subscriptionId === subscriptionId, 'a plan replaces its own allowances');
    if (draft.state.grants.some((other) => other.id === grant.id)) continue;
    const refused = refuseGrant(draft, grant);
    if (refused !== null) return { outcome: { kind: refused }, effects: null };
    const old = allowancesOf(draft.state, subscriptionId).find(({ id }) => !isNew(id));
    if (old !== undefined) {
      // What was sold of a period that ends with it closes as it was, and is nothing of the new one.
      if (endsPeriod(draft, { old, grant, now })) closeSpan(draft, now, limit);
      replaceGrant(draft, old, grant);
    } else startGrant(draft, grant, now, 'plan_change');
  }
  for (const { id } of allowancesOf(draft.state, subscriptionId)) {
    if (!isNew(id)) lapse(draft, live(draft, id));
  }
  capRollover(draft, subscriptionId, rolloverMax(allowancesOf(draft.state, subscriptionId)));
  // Of the period that goes on: one that began with the change has none of it.
  const own = draft.state.current.accountId === accountId ? sold : 0n;
  if (draft.state !== before) coverDebt(draft, own);
  followBiller(draft, now, limit, from);
  repriceSince(draft, subscriptionId, { since: from, isRenewal });
  return done(draft, state);
}

/** Whether the period of the meter ends where another allowance, of another interval, comes to lead. */
function endsPeriod(
  { state, pool }: MeterDraft,
  { old, grant, now }: { readonly old: Grant; readonly grant: Grant; readonly now: number },
): boolean {
  if (pool !== null) return false;
  const { recurs } = grant;
  const renewsAt = recurs === null ? null : calendarPeriod(recurs.cycle, now).end;
  const { createdAt, suspended } = old;
  const next = { ...grant, started: true, createdAt, suspended, renewsAt };
  const leader = leaderOf(state.grants.map((other) => (other.id === old.id ? next : other)));
  return (leader?.renewsAt ?? null) !== state.current.end;
}

/**
 * The plan of now lacks the feature. The period goes on, and what was used in it counts against the
 * plan that has the feature again.
 */
function lapse(draft: MeterDraft, old: Grant): void {
  if (isLapsed(old)) return;
  const { recurs } = old;
  replaceGrant(draft, old, {
    ...old,
    id: draft.context.ids.derive('lapsed', old.id),
    amount: 0n,
    boolean: false,
    used: 0n,
    spent: 0n,
    grown: 0n,
    overageAllowed: false,
    price: null,
    charges: false,
    recurs: recurs === null ? null : { ...recurs, rollover: null },
    renewsAt: null,
    started: false,
    productId: null,
  });
}

/** How much that rolled over they let be used. */
function rolloverMax(allowances: readonly Grant[]): bigint {
  let most = 0n;
  for (const { recurs } of allowances) {
    const max = recurs?.rollover?.max ?? 0n;
    if (max > most) most = max;
  }
  return most;
}

/** `since`: when the change counts from. Its answer may come later, when it is paid. */
type Replacing = {
  readonly subscriptionId: string;
  readonly since: number;
  readonly isRenewal?: boolean;
};

/** Takes over what the product gives now. Without a difference nothing changes. */
export function refreshPlan(
  context: MeterContext,
  state: MeterState,
  what: Replacing,
  grants: readonly Grant[],
): Done<GrantRefusal> {
  const draft = advancedDraft(context, state);
  const given = allowancesOf(draft.state, what.subscriptionId).filter((one) => !isLapsed(one));
  const isSame =
    given.length === grants.length &&
    grants.every((grant) => given.some((other) => hasTermsOf(other, grant)));
  if (isSame) return done(draft, state);
  return replacePlan(context, state, { ...what, isRenewal: true }, grants);
}

function hasTermsOf(one: Grant, other: Grant): boolean {
  const [mine, its] = [one.recurs, other.recurs];
  return (
    one.amount === other.amount &&
    one.boolean === other.boolean &&
    one.priority === other.priority &&
    one.overageAllowed === other.overageAllowed &&
    one.price?.id === other.price?.id &&
    one.charges === other.charges &&
    mine?.cycle.count === its?.cycle.count &&
    mine?.cycle.interval === its?.cycle.interval &&
    mine?.rollover?.max === its?.rollover?.max &&
    mine?.rollover?.expiresAfterPeriods === its?.rollover?.expiresAfterPeriods
  );
}

/**
 * Ends all grants of the subscription, which ended at `at`. After `expired`, checks say so if the
 * customer has nothing else.
 */
export function withdrawPlan(
  context: MeterContext,
  state: MeterState,
  subscriptionId: string,
  { how, at }: { readonly how: 'expired' | 'voided'; readonly at: number },
): Done {
  const draft = advancedDraft(context, state);
  // What was used since then has used them. Else the period ends with its span, whenever that is decided.
  const hasUse = draft.state.current.updatedAt > at;
  const endsAt = since(draft, hasUse ? context.now : at);
  if (runningSpan(draft.state)?.subscriptionId === subscriptionId) {
    closeSpan(draft, Math.min(at, context.now));
  }
  dropSince(draft, subscriptionId, at);
  for (;;) {
    const [grant] = grantsOf(draft.state, subscriptionId);
    if (grant === undefined) return done(draft, state);
    endWhole(draft, grant, endsAt, how);
  }
}

/** Sets when its allowances end; null for no end. */
export function expirePlanAt(
  context: MeterContext,
  state: MeterState,
  subscriptionId: string,
  at: number | null,
): Done {
  // Nothing ends in the past: checks of that time were answered already.
  const expiresAt = at === null ? null : Math.max(at, context.now);
  const draft = advancedDraft(context, state);
  // Rollover ends by its own rule, and with its allowance at the latest.
  const changed = allowancesOf(draft.state, subscriptionId).filter(
    (grant) => grant.expiresAt !== expiresAt,
  );
  if (changed.length > 0) draft.boundary(context.now);
  for (const { id } of changed) draft.putGrant({ ...live(draft, id), expiresAt });
  return done(draft, state);
}

/** Suspends all grants of the subscription, or ends the suspension. */
export function suspendPlan(
  context: MeterContext,
  state: MeterState,
  subscriptionId: string,
  why: Suspension | null,
): Done {
  const draft = advancedDraft(context, state);
  // What was used meanwhile is covered at the resume.
  if (suspendAll(draft, subscriptionId, why) && why === null) coverDebt(draft);
  return done(draft, state);
}

/**
 * Restarts the allowances on another cycle, on the same terms. A grant that is given once stays as
 * it is.
 */
export function restartPlan(
  context: MeterContext,
  state: MeterState,
  subscriptionId: string,
  { anchor, zone }: Pick<Cycle, 'anchor' | 'zone'>,
): Done {
  const draft = advancedDraft(context, state);
  suspendAll(draft, subscriptionId, null);
  for (const old of allowancesOf(draft.state, subscriptionId)) {
    const { recurs } = old;
    if (recurs === null || (recurs.cycle.anchor === anchor && recurs.cycle.zone === zone)) continue;
    const at = since(draft, anchor);
    endGrant(draft, live(draft, old.id), at, 'voided');
    const again: Grant = {
      ...old,
      id: context.ids.derive('restart', old.id, String(at)),
      used: 0n,
      spent: 0n,
      grown: 0n,
      effectiveAt: at,
      createdAt: at,
      recurs: { ...recurs, cycle: { ...recurs.cycle, anchor, zone } },
      renewsAt: null,
      started: false,
    };
    startGrant(draft, again, at, 'renewal');
  }
  return done(draft, state);
}

export function done(draft: MeterDraft, before: MeterState): Done {
  const effects = draft.state === before ? null : draft.effects();
  return { outcome: { kind: 'done' }, effects };
}

/** All grants of the subscription: its allowances and their rollover. */
export function grantsOf(state: MeterState, subscriptionId: string): readonly Grant[] {
  return state.grants.filter((grant) => grant.subscriptionId === subscriptionId);
}

function allowancesOf(state: MeterState, subscriptionId: string): readonly Grant[] {
  return grantsOf(state, subscriptionId).filter(isOfPlan);
}

function live(draft: MeterDraft, id: string): Grant {
  const grant = draft.state.grants.find((other) => other.id === id);
  assert(grant !== undefined && grant.ended === null, 'only a live grant changes');
  return grant;
}

/** Whether that changes something. */
function suspendAll(draft: MeterDraft, subscriptionId: string, why: Suspension | null): boolean {
  const changed = grantsOf(draft.state, subscriptionId).filter((grant) => grant.suspended !== why);
  if (changed.length > 0) draft.boundary(draft.context.now);
  for (const { id } of changed) suspend(draft, id, why);
  return changed.length > 0;
}

function suspend(draft: MeterDraft, id: string, why: Suspension | null): void {
  const grant = live(draft, id);
  const { context } = draft;
  const rests = restsAt(draft, grant, why);
  if (why === null || !isUnlimited(grant)) {
    draft.putGrant({ ...grant, suspended: why, rests });
    return;
  }
  // It is no longer unlimited, so it leaves behind what was used of it, as when it ends.
  draft.credit(context.ids.next(), grant.used, context.now);
  const spent = grant.spent + grant.used;
  draft.putGrant({ ...grant, used: 0n, spent, suspended: why, rests });
}

/** When it has been suspended, by now. */
function restsAt(
  { state, context: { now } }: MeterDraft,
  { rests, suspended }: Grant,
  why: Suspension | null,
): readonly Rest[] {
  const at = momentOf(now, placeIn(state.stretch, now));
  const oldest = keptSince(state.reservations, now);
  const known = rests.filter(({ until }) => (until ?? Infinity) > oldest);
  if (why === null) return known.map((one) => (one.until === null ? { ...one, until: at } : one));
  return suspended === null ? [...known, { from: at, until: null }] : known;
}
