import { periodIndex } from '../kernel/calendar.ts';
import { DUE_WORK_MAX } from '../limits.ts';
import { leaderOf } from './grants.ts';
import type { Credits, MeterContext } from './meter-draft.ts';
import { dueOf, type MeterState } from './meter.ts';

// What must be moved to now, in decisions of its own, before something is decided on a meter or asked
// of it: the meter, or one that it shares credits with.

/**
 * Where alerts have fired that may recover, or are not told yet: so that one unit does not tell of
 * all that slept.
 */
export function recoversFirst(context: MeterContext, state: MeterState): string | null {
  const { now, credits } = context;
  if (isAwake(context, state)) return null;
  if (credits === null) return isDue(state, now) && hasFired(state) ? state.meterId : null;
  const all = [state, ...credits.others()];
  const due = all.find((one) => isDue(one, now));
  // A member may have the periods of its pool.
  return due !== undefined && all.some(hasFired) ? due.meterId : null;
}

/**
 * Where more is due than `max`, of the meter and of all that it shares credits with: whatever is decided
 * on one of them, or asked of it, moves them all.
 */
export function sleepsLong(
  context: MeterContext,
  state: MeterState,
  max: number = DUE_WORK_MAX,
): string | null {
  const { now, credits } = context;
  if (isAwake(context, state)) return null;
  if (credits === null) return dueWork(state, now) > max ? state.meterId : null;
  const group = groupOf(credits, state);
  if (workOf(group, now, max) <= max) return null;
  return group.find((one) => dueWork(one, now) > 0)?.meterId ?? null;
}

export function isMuch(state: MeterState, now: number): boolean {
  return dueWork(state, now) > DUE_WORK_MAX;
}

/** What is to do of the meter until now, and of all that it shares credits with; of what is too much, some. */
export function workBefore(context: MeterContext, state: MeterState): number {
  const { now, credits } = context;
  if (isAwake(context, state)) return 0;
  return credits === null ? dueWork(state, now) : workOf(groupOf(credits, state), now);
}

/** Most are: then nobody looks at what shares credits with it. */
function isAwake({ now, credits }: MeterContext, { nextDue }: MeterState): boolean {
  return now < nextDue && (credits === null || now < credits.dueFrom());
}

/**
 * Until when one decision moves the meter: now, or where that is too much of all that share credits, as far as
 * it comes; at least to what is due first.
 */
export function reach({ now, credits }: MeterContext, state: MeterState): number {
  if (credits === null) return now;
  const group = groupOf(credits, state);
  if (workOf(group, now) <= DUE_WORK_MAX) return now;
  let [from, to] = [Math.min(...group.map(dueOf)), now];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (workOf(group, middle) <= DUE_WORK_MAX) from = middle;
    else to = middle;
  }
  return from;
}

/**
 * Of all that share credits, one that lets go of holds at that moment, where the moment is too much for one
 * decision: it does so by itself, and before all else.
 */
export function holdsFirst(
  { credits }: MeterContext,
  state: MeterState,
  at: number,
): MeterState | null {
  if (credits === null) return null;
  const group = groupOf(credits, state);
  if (workOf(group, at) <= DUE_WORK_MAX) return null;
  return (
    group.find(({ reservations: [first] }) => first !== undefined && first.expiresAt <= at) ?? null
  );
}

/** The pool first, then its members. */
function groupOf(credits: Credits, state: MeterState): readonly MeterState[] {
  const [first, ...rest] = credits.others();
  if (credits.payer === null || first === undefined) return [state, ...credits.others()];
  return [first, state, ...rest];
}

/**
 * A member without an allowance of its own has the periods of its pool. Counts no further than beyond
 * `max`: there may be tens of thousands of grants.
 */
function workOf(
  [pool, ...members]: readonly MeterState[],
  at: number,
  max: number = DUE_WORK_MAX,
): number {
  if (pool === undefined) return 0;
  let work = dueWork(pool, at);
  const periods = work / (1 + pool.grants.length);
  for (const member of members) {
    if (work > max) break;
    work += dueWork(member, at);
    if (periods > 0 && leaderOf(member.grants) === null) work += periods;
  }
  return work;
}

/** What is to do until now: each step looks at all grants. */
export function dueWork({ nextDue, grants, reservations }: MeterState, now: number): number {
  if (now < nextDue) return 0;
  const open = reservations.findIndex(({ expiresAt }) => expiresAt > now);
  let steps = open < 0 ? reservations.length : open;
  for (const { started, effectiveAt, expiresAt, renewsAt, recurs, cut } of grants) {
    if (!started) steps += Number(effectiveAt <= now);
    else if (expiresAt !== null && expiresAt <= now) steps += 1;
    if (cut.length > 0) steps += cut.filter(({ until }) => until <= now).length;
    if (recurs === null || renewsAt === null || renewsAt > now) continue;
    steps += periodIndex(recurs.cycle, now) - periodIndex(recurs.cycle, renewsAt) + 1;
  }
  return steps * (1 + grants.length);
}

/** A reservation that expires leads no alert back. */
function isDue({ nextDue, grants, current }: MeterState, now: number): boolean {
  return now >= nextDue && now >= dueOf({ grants, current, reservations: NONE });
}

const NONE: readonly never[] = [];

function hasFired({ fired, untold }: MeterState): boolean {
  return fired.length > 0 || untold !== null;
}
