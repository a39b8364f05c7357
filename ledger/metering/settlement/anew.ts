import { LATE_WORK_MAX } from '../../limits.ts';
import { countUntil, startingAt } from '../in-order.ts';
import { dueOf, type MeterState, type Period, spentOf } from '../meter.ts';
import type { MeterDraft } from '../meter-draft.ts';
import { type Grant, isUsedUp, left, unburn } from '../grants.ts';
import { type StretchMark, timeOf } from '../stretch.ts';
import { factsSince, nextBoundary } from './facts.ts';
import { settle } from './settle.ts';
import type { Settlement, Used } from './settlement.ts';

// What comes late changes everything after it (balance.md 1): it is settled without it and with it,
// and the difference is made.

type Late = {
  readonly period: Period;
  /** The change is after this moment, and in the stretch that holds it (`stretch.ts`). */
  readonly after: number;
  /** What it adds to the period's aggregate. */
  readonly value: bigint;
  /** Names the change. */
  readonly key: string;
  /** Where more than one period changes: the last one. */
  readonly last?: Period;
};

/** How many moments the late changes of one unit may be settled over. */
export class LateBudget {
  left = LATE_WORK_MAX;

  /** A unit is decided. */
  begin(): void {
    this.left = LATE_WORK_MAX;
  }
}

/**
 * Called before a change is made; what it returns settles anew what follows from the change: in its
 * period, and in as many after it as another one begins with. Beyond the budget of the unit only
 * what must be.
 */
export function anew(draft: MeterDraft, late: Late): () => void {
  draft.checkpoint();
  const before = draft.state;
  countInMarks(draft, late);
  return () => settleAnew(draft, late, before);
}

function settleAnew(draft: MeterDraft, late: Late, before: MeterState): void {
  const { ids, late: budget } = draft.context;
  // What is due and not done yet is not settled: a hold may expire before it.
  const now = Math.min(draft.context.now, dueOf({ ...before, reservations: [] }) - 1);
  const asked = { now, ids, isMember: draft.pool !== null };
  const settled = (state: MeterState, periods: number): Settlement =>
    settle(factsSince(state, asIs(state, late.period), periods), asked);
  let room = budget.left;
  for (let periods = periodsOf(before, late); room > 0; periods *= PERIODS_MORE) {
    const [was, is] = [settled(before, periods), settled(draft.state, periods)];
    room -= was.work + is.work;
    budget.left = room;
    if (is.isWhole || isAsBefore(was, is))
      return new Difference(draft, { was, is, now }).make(late.key);
  }
  takeBack(draft, late.key);
}

/** What is settled is used: the last grants that burned get back what is more. */
function takeBack(draft: MeterDraft, key: string): void {
  const { allocated, grants } = draft.state;
  const spent = spentOf(draft.state);
  if (spent >= allocated) return;
  const { ids, now } = draft.context;
  const back = unburn(grants, allocated - spent);
  draft.burned(back.grants);
  draft.credit(ids.derive('lapsed', key), -(back.rest + back.lapsed), now);
  draft.change({ allocated: spent });
  draft.checkpoint();
}

/** The account of the current period has what its grants have left and have covered. */
function balanceBooks(draft: MeterDraft, key: string): void {
  const { current, allocated, grants } = draft.state;
  let granted = allocated;
  for (const grant of grants) if (grant.started) granted += left(grant) ?? -grant.used;
  const { ids, now } = draft.context;
  const more = granted - current.granted;
  draft.credit(ids.derive('settled', key), more < -current.granted ? -current.granted : more, now);
}

const PERIODS_MORE = 8;

/** As many as change at least. */
function periodsOf({ current, others }: MeterState, { period, last = period }: Late): number {
  if (last.accountId === current.accountId) return Infinity;
  return 1 + countUntil(others, last.start) - countUntil(others, period.start);
}

/** Whether what follows begins with the same. */
function isAsBefore({ open: was }: Settlement, { open: is }: Settlement): boolean {
  if (was.size !== is.size) return false;
  for (const [id, one] of is) {
    const other = was.get(id);
    if (other?.used !== one.used || other.size !== one.size || !isSameCut(other, one)) return false;
  }
  return true;
}

/** The period as it is by now; one without an account yet as it is. */
export function asIs({ current, others }: MeterState, period: Period): Period {
  if (current.accountId === period.accountId) return current;
  return startingAt(others, period.start) ?? period;
}

/** A late event counts in each mark that is after it, and at the boundary that follows it. */
export function countInMarks(
  draft: MeterDraft,
  { period, after, value }: Pick<Late, 'period' | 'after' | 'value'>,
): void {
  const { accountId } = period;
  const { current, stretch } = draft.state;
  const isCurrent = accountId === current.accountId;
  // In the stretch that runs: its end writes its mark.
  if (value === 0n || (isCurrent && after >= stretch.start)) return;
  const { marks } = draft.state;
  const end = period.end ?? Infinity;
  const near = marks.slice(countUntil(marks, period.start - 1), countUntil(marks, end));
  const its = near.filter((mark) => mark.accountId === accountId);
  const next = nextBoundary(factsSince(draft.state, asIs(draft.state, period), 0), {
    after,
    period,
  });
  const changed: StretchMark[] = its
    .filter(({ start }) => start > after)
    .map((mark) => ({ ...mark, aggregate: mark.aggregate + value }));
  if (next !== null && !changed.some(({ start }) => start <= next)) {
    const before = its.findLast(({ start }) => start <= after)?.aggregate ?? 0n;
    changed.unshift({ accountId, start: next, aggregate: before + value, carried: [] });
  }
  draft.putMarks(changed);
  if (!isCurrent) return;
  draft.change({ stretch: { ...stretch, aggregate: stretch.aggregate + value } });
}

const NOTHING: Used = { used: 0n, before: 0n, grown: 0n, cut: [] };

class Difference {
  readonly #draft: MeterDraft;
  readonly #before: Settlement;
  readonly #after: Settlement;
  /** Until when the meter has come. */
  readonly #now: number;

  constructor(
    draft: MeterDraft,
    {
      was: before,
      is: after,
      now,
    }: { readonly was: Settlement; readonly is: Settlement; readonly now: number },
  ) {
    this.#now = now;
    this.#draft = draft;
    this.#before = before;
    this.#after = after;
  }

  make(key: string): void {
    this.#credit(key);
    this.#spans();
    const begun = this.#rollOver();
    for (const id of this.#after.used.keys()) if (!begun.has(id)) this.#use(id);
    this.#carry();
    if (this.#after.isWhole) this.#settle();
    balanceBooks(this.#draft, key);
  }

  #use(id: string): void {
    const [was, is] = [this.#before.used.get(id) ?? NOTHING, this.#after.used.get(id) ?? NOTHING];
    const units = is.used - was.used;
    const grown = is.grown - was.grown;
    const before = is.before - was.before;
    if (units === 0n && grown === 0n && before === 0n && isSameCut(was, is)) return;
    const grant = this.#grant(id);
    if (grant === undefined) return;
    const cut = isSameCut(was, is) ? grant.cut : is.cut;
    const after = { ...usedMore(grant, units, { grown, before }), cut };
    this.#draft.putGrant(revived(after, this.#now));
  }

  #grant(id: string): Grant | undefined {
    const { grants, ended } = this.#draft.state;
    const isIt = (grant: Grant): boolean => grant.id === id;
    return grants.find(isIt) ?? ended.findLast(isIt);
  }

  /** What rolled over is more or less. Returns what had not rolled over before. */
  #rollOver(): ReadonlySet<string> {
    const now = this.#now;
    const begun = new Set<string>();
    for (const id of new Set([...this.#before.rolled.keys(), ...this.#after.rolled.keys()])) {
      const [was, is] = [this.#before.rolled.get(id), this.#after.rolled.get(id)];
      const units = (is?.amount ?? 0n) - (was?.amount ?? 0n);
      const grant = this.#grant(id);
      if (units === 0n && is?.cap === was?.cap) continue;
      if (grant === undefined) {
        if (is === undefined || was !== undefined) continue;
        this.#draft.putGrant(endedBy({ ...is, started: true }, now));
        begun.add(id);
        continue;
      }
      const amount = (grant.amount ?? 0n) + units;
      // What had come to nothing is something again.
      const ended = isNothing(grant) ? (is?.ended ?? null) : grant.ended;
      const more = { ...grant, amount, ended, cap: is?.cap ?? null };
      if (amount > 0n) this.#draft.putGrant(endedBy(revived(more, now), now));
      else {
        const nothing = { at: now, how: 'voided' } as const;
        this.#draft.putGrant({ ...grant, amount: 0n, used: 0n, ended: ended ?? nothing });
      }
    }
    return begun;
  }

  /** What was used before of what goes on, at the start of each later period. */
  #carry(): void {
    const marks: StretchMark[] = [];
    const moved = new Set<string>();
    for (const [accountId, { start, used }] of this.#after.carried) {
      const was = this.#before.carried.get(accountId)?.used ?? new Map<string, bigint>();
      const ids = new Set([...was.keys(), ...used.keys()]);
      const changed = [...ids].filter((id) => was.get(id) !== used.get(id));
      if (changed.length === 0) continue;
      const its = this.#draft.state.marks.find(
        (mark) => mark.accountId === accountId && mark.start === start,
      );
      const carried = new Map(its?.carried.map((one) => [one.id, one.used]));
      for (const id of changed) {
        moved.add(id);
        const units = (used.get(id) ?? 0n) - (was.get(id) ?? 0n);
        carried.set(id, atLeast0((carried.get(id) ?? was.get(id) ?? 0n) + units));
      }
      marks.push({
        accountId,
        start,
        aggregate: 0n,
        carried: [...carried].flatMap(([id, units]) => (units > 0n ? [{ id, used: units }] : [])),
      });
    }
    this.#draft.putMarks(marks);
    for (const id of moved) this.#useUp(id);
  }

  /** When nothing of it was left any more; it goes on where that is not so yet. */
  #useUp(id: string): void {
    const grant = this.#grant(id);
    const now = this.#now;
    if (grant?.ended?.how !== 'used_up' || (grant.expiresAt ?? Infinity) <= now) return;
    const begun = [...this.#after.carried.values()];
    const first = begun.find(({ used }) => used.get(id) === grant.amount);
    const ended = first === undefined ? null : { ...grant.ended, at: timeOf(first.start) };
    this.#draft.putGrant({ ...grant, ended });
  }

  #credit(key: string): void {
    const { now, ids } = this.#draft.context;
    const { accountId: current } = this.#draft.state.current;
    for (const [accountId, limit] of this.#after.limits) {
      // Of that one grants and books are known.
      if (accountId === current) continue;
      const period = this.#draft.period(accountId);
      const units = limit - (this.#before.limits.get(accountId) ?? 0n);
      // Of what is older than the marks the settlements may know too little.
      const more = units < -period.granted ? -period.granted : units;
      if (more === 0n) continue;
      this.#draft.credit(ids.derive('settled', key, accountId), more, now, period);
    }
  }

  /** What closed spans have sold follows from the limits with which they closed. */
  #spans(): void {
    const [before, after] = [this.#before, this.#after];
    const changed = this.#draft.state.spans.flatMap((span) => {
      const { id, accountId, end, limit } = span;
      if (end === null || limit === null) return [];
      // One that ends with its period may have closed when what goes on was in the next one.
      const all = before.spanLimits.get(id);
      const more =
        all === limit
          ? (after.spanLimits.get(id) ?? all) - all
          : (after.limits.get(accountId) ?? 0n) - (before.limits.get(accountId) ?? 0n);
      return more === 0n ? [] : [{ ...span, limit: limit + more }];
    });
    this.#draft.changeSpans(changed);
  }

  #settle(): void {
    const { allocated } = this.#draft.state;
    const settled = allocated + this.#after.settled - this.#before.settled;
    const most = spentOf(this.#draft.state);
    this.#draft.change({ allocated: settled < 0n ? 0n : settled > most ? most : settled });
  }
}

function isSameCut({ cut: a }: Pick<Used, 'cut'>, { cut: b }: Pick<Used, 'cut'>): boolean {
  return a.length === b.length && a.every(({ units }, index) => units === b[index]?.units);
}

/** What is beyond the size of a plan's allowance is `spent`. */
function usedMore(
  grant: Grant,
  units: bigint,
  { grown, before }: Pick<Used, 'grown' | 'before'>,
): Grant {
  const { amount, used, spent } = grant;
  const isOfPlan = grant.source === 'subscription';
  const all = atLeast0(used + (amount === null || isOfPlan ? spent : 0n) + units);
  const own = amount ?? atLeast0(used + units - before);
  const within = all < own ? all : own;
  const early = atLeast0(grant.grown + grown);
  return {
    ...grant,
    used: within,
    spent: amount === null ? atLeast0(spent + before) : isOfPlan ? all - within : 0n,
    grown: grant.subscriptionId === null ? 0n : early < all ? early : all,
  };
}

/** Whether all that had rolled over has come to nothing. */
const isNothing = ({ amount, ended }: Grant): boolean => ended?.how === 'voided' && amount === 0n;

/** What has expired already is known to later settlements. */
function endedBy(grant: Grant, now: number): Grant {
  const { ended, expiresAt } = grant;
  if (ended !== null || expiresAt === null || expiresAt > now) return grant;
  return { ...grant, ended: { at: expiresAt, how: 'expired' } };
}

/** One that was used up and has units again goes on until it expires. */
function revived(grant: Grant, now: number): Grant {
  const { ended, expiresAt } = grant;
  const isOver = expiresAt !== null && expiresAt <= now;
  return ended?.how === 'used_up' && !isUsedUp(grant) && !isOver
    ? { ...grant, ended: null }
    : grant;
}

const atLeast0 = (units: bigint): bigint => (units < 0n ? 0n : units);
