import { fireAlerts } from './alerts.ts';
import { announceGrant } from './announcements.ts';
import { assert, must } from '../kernel/assert.ts';
import { begun } from './carry.ts';
import { type MeterContext, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import { cutDue, entitles, type Grant, hasSameTerms, isUsedUp, leaderOf, left } from './grants.ts';
import { ADVANCE_STEPS_MAX, DUE_WORK_MAX, PERIODS_KEPT_MS } from '../limits.ts';
import { keptSince } from './settlement/kept.ts';
import {
  type MeterState,
  type Period,
  calendarPeriod,
  dueOf,
  emptyPeriod,
  snapshotOf,
  within,
} from './meter.ts';
import { cutUses, endCut } from './cut-periods.ts';
import { startingAfter, startingAt } from './in-order.ts';
import { closeSpan, followBiller, openSpan } from './span-changes.ts';
import { letGo } from './reservation-changes.ts';
import { coverDebt, uncover } from './grown.ts';
import { isRolloverOf, rollOver } from './rollover.ts';
import { billerOf } from './spans.ts';
import { leaveUnlimited } from './unlimited.ts';
import { boundaryAt, indexOf, momentOf, timeOf, placeIn } from './stretch.ts';
import { periodAccountId } from '../kernel/derived-ids.ts';

/**
 * Moves one meter through time: grants start and expire, allowances renew, periods end.
 *
 * How it works: whatever is due is done in due order, each at its own due time. So the result is
 * the same if an alarm came on the minute, if a call came a week later, or if a check only looked.
 * What holds: ids are derived from the grant and the period, so no period is opened twice and no
 * allowance is given twice (I5). The period of the meter is that of its leading allowance. Other
 * allowances renew at their own times within that period.
 * What it does not do: read a clock, record usage (`usage.ts`) or add and void grants
 * (`grant-decisions.ts`).
 */
export function advance(draft: MeterDraft, work = Infinity): void {
  const { pool } = draft;
  if (pool !== null) follow(draft, pool.state);
  advanceTo(draft, draft.context.now, work);
  draft.context.credits?.catchUp(draft);
}

function advanceTo(draft: MeterDraft, until: number, workMax = Infinity): void {
  if (dueOf(draft.state) > until) return;
  // What was reached before is told of before it is taken back.
  if (draft.state.untold !== null) fireAlerts(draft, draft.state);
  draft.inARow(() => {
    let work = 0;
    for (let step = 0; step < ADVANCE_STEPS_MAX && work < workMax; step += 1) {
      const due = dueOf(draft.state);
      if (due > until) return;
      work += (1 + draft.state.grants.length) * stepAt(draft, due, until);
      draft.settleAlerts(due);
      assert(dueOf(draft.state) >= due, 'time went backwards in an advance');
    }
  });
}

/** A member of a pool without an allowance of its own has the periods of the pool. */
function follow(draft: MeterDraft, pool: MeterState): void {
  for (const { start, end } of [
    ...startingAfter(pool.others, draft.state.current.start),
    pool.current,
  ]) {
    // An early event may have opened one that the pool has not come to.
    if (start <= draft.state.current.start || start > pool.current.start) continue;
    advanceTo(draft, start);
    if (leaderOf(draft.state.grants) === null) rollPeriod(draft, start, end);
  }
  const { current, grants } = draft.state;
  const { end } = pool.current;
  if (current.end === end || leaderOf(grants) !== null) return;
  const changed = current.opened ? draft.changePeriod(current, { end }) : { ...current, end };
  draft.change({ current: changed });
}

/** The state as it is now, for a question that writes nothing. */
export function advanced(context: MeterContext, state: MeterState): MeterState {
  const { credits } = context;
  if (context.now < state.nextDue && credits === null) return state;
  const draft = new MeterDraft(context, state);
  advance(draft);
  // What a member draws may change what its pool has.
  credits?.settle(draft);
  return draft.isChanged ? draft.settled() : state;
}

export function advancedDraft(context: MeterContext, state: MeterState): MeterDraft {
  const draft = new MeterDraft(context, state);
  advance(draft);
  return draft;
}

/** What an alarm does. Where much is due, the rest of it is still due afterwards. */
export function decideTick(context: MeterContext, state: MeterState): MeterEffects {
  const draft = new MeterDraft(context, state);
  advance(draft, DUE_WORK_MAX);
  if (draft.state.untold !== null) fireAlerts(draft, draft.state);
  // The alarm is written again, even where nothing was due any more. Otherwise it would fire for
  // ever.
  draft.change({ untold: null });
  return draft.effects();
}

/** Lets go of holds whose time has come, as many as one decision does, and moves nothing else. */
export function decideExpiries(context: MeterContext, state: MeterState): MeterEffects {
  const draft = new MeterDraft(context, state);
  expire(draft, context.now);
  return draft.effects();
}

/** Does what is due first, and holds that expire before anything else is due. Returns how much it was. */
function stepAt(draft: MeterDraft, due: number, until: number): number {
  const { reservations, grants, current } = draft.state;
  if (reservations[0]?.expiresAt === due) {
    const others = dueOf({ grants, current, reservations: [] });
    return expire(draft, Math.min(others, until));
  }
  doNext(draft, due);
  return 1;
}

/** Lets go of holds that expire until then, as many as one decision does, and returns how many. */
function expire(draft: MeterDraft, until: number): number {
  const most = Math.max(1, Math.floor(DUE_WORK_MAX / (1 + draft.state.grants.length)));
  const due = draft.state.reservations.filter(({ expiresAt }) => expiresAt <= until).slice(0, most);
  letGo(draft, due, 'expired');
  return due.length;
}

function doNext(draft: MeterDraft, due: number): void {
  const { grants, current } = draft.state;
  const leader = leaderOf(grants);
  const expired = grants.find((grant) => grant.started && grant.expiresAt === due);
  if (expired !== undefined) {
    // It may be decided late: after its end, and in a later period.
    return endWhole(draft, expired, since(draft, due), isGone(expired) ? 'used_up' : 'expired');
  }
  if (current.end === due && leader !== null) {
    rollPeriod(draft, due, renewalAfter(leader, due));
    return openSpan(draft, due);
  }
  const renewing = grants.find((grant) => grant.started && grant.renewsAt === due);
  if (renewing !== undefined) return renewWithin(draft, renewing.id, due);
  const cut = grants.find((grant) => cutDue(grant) === due);
  if (cut !== undefined) return endCut(draft, cut.id, due);
  const starting = grants.find((grant) => !grant.started && grant.effectiveAt === due);
  assert(starting !== undefined, 'something was due');
  startGrant(draft, starting, due);
}

/**
 * When something that begins at `at` begins on this meter. A late start keeps its time, but does
 * not come before the current period.
 */
export function since(draft: MeterDraft, at: number): number {
  return Math.max(Math.min(at, draft.context.now), draft.state.current.start);
}

/** Credits a grant. An allowance that comes to lead also opens its first period. */
export function startGrant(
  draft: MeterDraft,
  grant: Grant,
  at: number,
  source: string = isOfPlan(grant) ? 'subscription_start' : 'manual_top_up',
): void {
  assert(!grant.started && grant.ended === null, 'a grant starts once');
  assert(grant.amount === null || grant.used <= grant.amount, 'no more was used than it gives');
  draft.boundary(at);
  const { ids } = draft.context;
  const { limit } = snapshotOf(draft.state);
  if (draft.state.firstGrantAt === null) draft.change({ firstGrantAt: grant.effectiveAt });
  const started = { ...grant, started: true, renewsAt: renewalAfter(grant, at) };
  const others = draft.state.grants.filter((other) => other.id !== grant.id);
  if (leaderOf([...others, started]) === started) {
    rollPeriod(draft, at, renewalAfter(started, at));
  }
  draft.putGrant({ ...started, startedAt: momentOf(at, placeIn(draft.state.stretch, at)) });
  // Derived from the grant alone, so it is credited once.
  const fresh = grant.amount === null ? 0n : grant.amount - grant.used;
  draft.credit(ids.derive('grant', grant.id), fresh, at);
  announceGrant(draft, grant, { amount: grant.amount === null ? null : fresh, source, at });
  if (isOfPlan(grant)) coverDebt(draft);
  followBiller(draft, at, limit);
}

type End = NonNullable<Grant['ended']>['how'];

/** Takes back what is left of a grant, and ends it. What was used of it stays used. */
export function endGrant(draft: MeterDraft, grant: Grant, at: number, how: End): void {
  const led = leaderOf(draft.state.grants)?.id === grant.id;
  const { limit } = snapshotOf(draft.state);
  // What is sold closes with the limit that it had, not with what is taken back.
  if (led || billerOf(draft.state.grants)?.id === grant.id) closeSpan(draft, at, limit);
  draft.boundary(at);
  settleEnd(draft, grant, at, how);
  if (how === 'expired' && entitles(grant)) draft.change({ everExpired: true });
  // Without another leading allowance, the rest of the top-ups moves to an endless period.
  if (led) rollPeriod(draft, at, endAfter(draft, at));
  followBiller(draft, at, limit);
}

/** Ends a grant in its period, and returns it as it was then. */
function settleEnd(draft: MeterDraft, grant: Grant, at: number, how: End): Grant {
  assert(grant.ended === null, 'a grant ends once');
  draft.checkpoint();
  const settled = draft.state.grants.find((other) => other.id === grant.id) ?? grant;
  if (settled.started) {
    // An unlimited grant leaves behind what was used of it in this period.
    const rest = left(settled);
    const given = rest === null ? settled.used : -rest;
    draft.credit(draft.context.ids.derive('end', grant.id), given, at);
  }
  draft.putGrant({ ...settled, ended: { at, how }, endedIn: placeIn(draft.state.stretch, at) });
  return settled;
}

/**
 * Replaces a grant by another one. Usage of the old grant counts as usage of the new one. What
 * exceeds the new grant is kept in `spent`, so a change to a smaller or to an unlimited plan and
 * back gains nothing.
 */
export function replaceGrant(draft: MeterDraft, replaced: Grant, grant: Grant): void {
  assert(replaced.started && !grant.started, 'what has started is replaced by what has not');
  const { now, ids } = draft.context;
  // A node whose clock is behind may decide it: not before the current period.
  const at = since(draft, now);
  if (!hasSameTerms(replaced, grant)) draft.boundary(at);
  const settled = settleEnd(draft, replaced, at, 'voided');
  const { amount } = grant;
  const old = uncover(draft, settled, amount);
  const before = old.used + old.spent;
  const room = amount ?? 0n;
  const used = before < room ? before : room;
  const { expiresAt, suspended, createdAt } = settled;
  const renewsAt = renewalAfter(grant, at);
  const startedAt = momentOf(at, placeIn(draft.state.stretch, at));
  draft.putGrant({
    ...grant,
    used,
    spent: before - used,
    grown: old.grown,
    cut: draft.state.isLevel ? [] : cutUses(settled, before, renewsAt),
    started: true,
    startedAt,
    rests: suspended === null ? [] : [{ from: startedAt, until: null }],
    endedIn: 0,
    renewsAt,
    expiresAt,
    suspended,
    createdAt,
  });
  if (amount !== null) draft.credit(ids.derive('grant', grant.id), amount - used, at);
  announceGrant(draft, grant, { amount, source: 'plan_change', at });
  const leader = leaderOf(draft.state.grants);
  const end = leader === null ? endAfter(draft, at) : leader.renewsAt;
  if (end !== draft.state.current.end) rollPeriod(draft, at, endAfter(draft, at));
}

/** When a period that begins at `at` ends: by the allowance that leads, or by the pool. null: endless. */
function endAfter({ state, pool }: MeterDraft, at: number): number | null {
  const leader = leaderOf(state.grants);
  if (leader !== null) return renewalAfter(leader, at);
  if (pool === null) return null;
  const { current, others } = pool.state;
  return [current, ...others].find((period) => within(period, at))?.end ?? null;
}

/** Ends a grant, and with a subscription's allowance what has rolled over from it. */
export function endWhole(draft: MeterDraft, grant: Grant, at: number, how: End): void {
  const rolled = isOfPlan(grant)
    ? draft.state.grants.filter((other) => isRolloverOf(other, grant))
    : [];
  if (billerOf(draft.state.grants)?.id === grant.id) closeSpan(draft, at);
  for (const other of rolled) endGrant(draft, other, at, how);
  endGrant(draft, grant, at, how);
}

/** Closes the current period at `at` and opens the next one. `end` null: an endless one. */
function rollPeriod(draft: MeterDraft, at: number, end: number | null): void {
  draft.checkpoint();
  const closing = draft.state.current;
  assert(at >= closing.start, 'a period ends after it starts');
  assert(end === null || end > at, 'a period has a length');
  const started = draft.state.grants.filter((grant) => grant.started);
  const renewing = started.filter((grant) => grant.renewsAt === at);
  if (closing.start === at) {
    // It began in this millisecond, so only its end changes.
    assert(renewing.length === 0, 'a period begins with what renews then');
    draft.change({ current: { ...closing, end } });
    draft.arm();
    return;
  }
  const carried = started.filter((grant) => grant.renewsAt !== at);
  // Of a level nothing is used up: each period has the whole of a grant in its limit.
  if (!draft.state.isLevel) takeOut(draft, carried, at);
  leaveUnlimited(draft, at);
  closeSpan(draft, at);
  openPeriod(draft, at, end);
  for (const grant of carried) carryOver(draft, grant, at);
  keepCarried(draft, at);
  for (const grant of renewing) {
    rollOver(draft, grant, at);
    renew(draft, grant, at, 0n);
  }
}

/** Moves what the other grants have left to the next period, out of the limit of this one. */
function takeOut(draft: MeterDraft, carried: readonly Grant[], at: number): void {
  for (const grant of carried) {
    draft.credit(carryId(draft, 'out', grant, at), -(left(grant) ?? 0n), at);
  }
}

function carryOver(draft: MeterDraft, grant: Grant, at: number): void {
  const rest = left(grant);
  if (rest === null) {
    draft.putGrant({ ...grant, used: 0n, grown: 0n });
  } else if (isGone(grant) && !mayComeBack(draft, grant, at)) {
    draft.putGrant({ ...grant, ended: { at, how: 'used_up' } });
  } else {
    // What it has covered of the debt of a period that is over stays covered.
    if (grant.grown > 0n) draft.putGrant({ ...grant, grown: 0n });
    draft.credit(carryId(draft, 'in', grant, at), rest, at);
  }
}

/** Whether it gives nothing any more, unless something of it comes back. */
function isGone(grant: Grant): boolean {
  return isUsedUp(grant) && grant.recurs === null && !isOfPlan(grant);
}

/**
 * What is held may be released, and until then it can be voided. Where it expires before the last
 * correction may come, it stays: from its expiry on it covers nothing, whatever comes back.
 */
function mayComeBack({ state }: MeterDraft, { expiresAt }: Grant, at: number): boolean {
  return state.reservations.length > 0 || (expiresAt ?? Infinity) <= at + PERIODS_KEPT_MS;
}

/** The period before may have used or held something between boundaries of the same millisecond. */
function openingOf({ state }: MeterDraft, at: number): number {
  return boundaryAt(
    state,
    at,
    timeOf(state.stretch.start) === at && state.current.aggregate !== 0n,
  );
}

/** What was used before of the grants that go on, for events of this period that come late. */
function keepCarried(draft: MeterDraft, at: number): void {
  const { current, grants, isLevel } = draft.state;
  if (isLevel) return;
  const carried = grants
    .filter((grant) => grant.started && grant.renewsAt !== at)
    .map(({ id, used, spent }) => ({ id, used: used + spent }))
    .filter(({ used }) => used > 0n);
  const { start } = draft.state.stretch;
  if (carried.length === 0 && indexOf(start) === 0) return;
  draft.putMarks([{ accountId: current.accountId, start, aggregate: 0n, carried }]);
}

function carryId(draft: MeterDraft, side: 'in' | 'out', grant: Grant, at: number): string {
  return draft.context.ids.derive('carry', side, grant.id, String(at));
}

/**
 * Closes the current period and makes the next one current. Its account may exist already: an early
 * event opened it.
 */
function openPeriod(draft: MeterDraft, at: number, end: number | null): void {
  const closing = draft.state.current;
  if (closing.opened) draft.changePeriod(closing, { end: at });
  const closed = draft.state.current;
  const early = startingAt(draft.state.others, at);
  const empty = early === undefined ? newPeriod(draft.context, at, end) : { ...early, end };
  const next = begun(draft, empty);
  const oldest = keptSince(draft.state.reservations, draft.context.now);
  const others = withoutOld(draft.state.others, oldest);
  draft.change({
    current: next,
    others: next.opened ? others.filter(({ accountId }) => accountId !== next.accountId) : others,
    stretch: { start: openingOf(draft, at), aggregate: 0n },
    allocated: 0n,
  });
  if (closed.opened && at > oldest) draft.change({ others: draft.othersWith(closed) });
  draft.arm();
}

/** Those that ended since then. They end one after the other: what is old comes first. */
function withoutOld(others: readonly Period[], oldest: number): readonly Period[] {
  const isYoung = ({ end }: Period): boolean => end === null || end > oldest;
  const [first] = others;
  return first === undefined || isYoung(first) ? others : others.filter(isYoung);
}

/** A period without an account yet. The id of its account is derived. */
export function newPeriod(context: MeterContext, start: number, end: number | null): Period {
  const { customer, meter, ids } = context;
  const key = { customerId: customer.id, meterId: meter.id, start };
  return emptyPeriod(periodAccountId(ids, key), start, end);
}

/**
 * Renews an allowance that does not lead, within the meter's period. What it had left is replaced.
 */
function renewWithin(draft: MeterDraft, grantId: string, at: number): void {
  draft.boundary(at);
  const settled = must(
    draft.state.grants.find((grant) => grant.id === grantId),
    'the allowance that renews',
  );
  rollOver(draft, settled, at);
  renew(draft, settled, at, left(settled) ?? 0n);
  if (isOfPlan(settled)) coverDebt(draft);
}

/** Renews an allowance, of which `kept` units are still in the limit. */
function renew(draft: MeterDraft, allowance: Grant, at: number, kept: bigint): void {
  const { ids } = draft.context;
  const amount = allowance.amount ?? 0n;
  assert(allowance.renewsAt === at, 'an allowance is given at its time');
  assert(kept >= 0n && kept <= amount, 'no more is left than was given');
  const renewsAt = renewalAfter(allowance, at);
  draft.putGrant({ ...allowance, used: 0n, spent: 0n, grown: 0n, cut: [], renewsAt });
  // An unlimited one leaves behind what was used of it in this period, as when it ends.
  if (allowance.amount === null && draft.state.current.start !== at) {
    draft.credit(ids.derive('renewed', allowance.id, String(at)), allowance.used, at);
  }
  draft.credit(ids.derive('grant', allowance.id, String(at)), amount - kept, at);
  if (allowance.suspended !== null) return;
  announceGrant(draft, allowance, { amount: allowance.amount, source: 'renewal', at });
}

function renewalAfter({ recurs }: Grant, at: number): number | null {
  return recurs === null ? null : calendarPeriod(recurs.cycle, at).end;
}

/**
 * Whether it comes from a subscription. Such a grant stays, used up or not, until the subscription
 * ends it.
 */
export function isOfPlan(grant: Grant): boolean {
  return grant.source === 'subscription';
}
