import { assert } from './assert.ts';
import type { Cycle } from './calendar.ts';
import type { MeterContext, MeterEffects } from './draft.ts';
import { MeterDraft } from './draft.ts';
import { type Grant, left } from './grants.ts';
import { ADVANCE_STEPS_MAX, PERIODS_KEPT_MS } from './limits.ts';
import { type MeterState, type Period, calendarPeriod, dueOf, emptyPeriod } from './meter.ts';
import { periodAccountId } from './names.ts';

/**
 * Time: grants start and expire, periods end. Everything due is done in due order, each at its own due time, so that the result
 * is the same whether an alarm came on the minute, a call came a week later, or a check only looked. Ids are derived from the
 * grant and the period, so that no period is opened and no allowance is given twice, whoever tries (I5).
 */
export function advance(draft: MeterDraft): void {
  for (let step = 0; step < ADVANCE_STEPS_MAX; step += 1) {
    const due = dueOf(draft.state.grants, draft.state.current);
    if (due > draft.context.now) return;
    stepAt(draft, due);
    assert(
      dueOf(draft.state.grants, draft.state.current) >= due,
      'time went backwards in an advance',
    );
  }
}

/** The state as it is now, for a question that writes nothing. */
export function advanced(context: MeterContext, state: MeterState): MeterState {
  if (context.now < state.nextDue) return state;
  const draft = new MeterDraft(context, state);
  advance(draft);
  return draft.effects().state;
}

/** What an alarm does. */
export function decideTick(context: MeterContext, state: MeterState): MeterEffects {
  const draft = new MeterDraft(context, state);
  advance(draft);
  // The alarm's row is written again even where nothing was due any more, or it would ring for ever.
  draft.change({});
  return draft.effects();
}

function stepAt(draft: MeterDraft, due: number): void {
  const { grants, current } = draft.state;
  const expired = grants.find((grant) => grant.started && grant.expiresAt === due);
  if (expired !== undefined) return endGrant(draft, expired, due, 'expired');
  const { cycle } = draft.state;
  if (current.end === due) {
    assert(cycle !== null, 'only a cycle ends a period');
    return rollPeriod(draft, due, cycle);
  }
  const starting = grants.find((grant) => !grant.started && grant.effectiveAt === due);
  assert(starting !== undefined, 'something was due');
  startGrant(draft, starting, due);
}

/** Credits a grant. An allowance also opens its first period. */
export function startGrant(draft: MeterDraft, grant: Grant, at: number): void {
  assert(!grant.started && grant.ended === null, 'a grant starts once');
  draft.checkpoint();
  const { ids } = draft.context;
  if (draft.state.firstGrantAt === null) draft.change({ firstGrantAt: grant.effectiveAt });
  if (grant.recurs !== null) {
    rollPeriod(draft, at, { anchor: at, interval: grant.recurs.interval });
  }
  draft.putGrant({ ...grant, started: true });
  // Derived from the grant alone: it is credited once, whenever and by whomever.
  draft.credit(ids.derive('grant', grant.id), grant.amount ?? 0n, at);
  draft.announceGrant(grant, grant.amount, eventSource(grant, 'start'), at);
}

/** Takes back what is left of a grant, and ends it. What was used of it stays used. */
export function endGrant(
  draft: MeterDraft,
  grant: Grant,
  at: number,
  how: 'expired' | 'voided',
): void {
  assert(grant.ended === null, 'a grant ends once');
  draft.checkpoint();
  const settled = draft.state.grants.find((other) => other.id === grant.id) ?? grant;
  if (settled.started) {
    // An unlimited grant has given what was used of it in this period, and leaves that behind.
    const rest = left(settled);
    const given = rest === null ? settled.used : -rest;
    draft.credit(draft.context.ids.derive('end', grant.id), given, at);
  }
  draft.putGrant({ ...settled, ended: { at, how } });
  if (how === 'expired') draft.change({ everExpired: true });
  // The allowance that kept the cycle is gone: what top-ups have left goes on in an endless period.
  if (grant.recurs !== null && settled.started) rollPeriod(draft, at, null);
}

/** Closes the current period at `at` and opens the next one, by `cycle` or endless. */
function rollPeriod(draft: MeterDraft, at: number, cycle: Cycle | null): void {
  draft.checkpoint();
  const closing = draft.state.current;
  assert(at >= closing.start, 'a period ends after it starts');
  const carried = draft.state.grants.filter((grant) => grant.started && grant.recurs === null);
  takeOut(draft, carried, at);
  openPeriod(draft, at, cycle);
  for (const grant of carried) {
    const rest = left(grant);
    if (rest === null) draft.putGrant({ ...grant, used: 0n });
    else if (rest === 0n) draft.putGrant({ ...grant, ended: { at, how: 'used_up' } });
    else draft.credit(carryId(draft, 'in', grant, at), rest, at);
  }
  const allowance = draft.state.grants.find((grant) => grant.started && grant.recurs !== null);
  if (allowance === undefined) return;
  // The same cycle goes on: what the allowance had left rolls over, and it is given afresh.
  assert(cycle !== null && closing.end === at, 'an allowance ends with its cycle');
  renew(draft, allowance, at, cycle);
}

/** What top-ups have left moves on to the next period, and so out of this one's limit. */
function takeOut(draft: MeterDraft, carried: readonly Grant[], at: number): void {
  for (const grant of carried) {
    draft.credit(carryId(draft, 'out', grant, at), -(left(grant) ?? 0n), at);
  }
}

function carryId(draft: MeterDraft, side: 'in' | 'out', grant: Grant, at: number): string {
  return draft.context.ids.derive('carry', side, grant.id, String(at));
}

/**
 * Closes the current period and makes the next one current. Its account may exist: an event came ahead of its time, or the period
 * that closes began in this same millisecond and only changes its end.
 */
function openPeriod(draft: MeterDraft, at: number, cycle: Cycle | null): void {
  const closing = draft.state.current;
  const end = cycle === null ? null : calendarPeriod(cycle, at).end;
  assert(end === null || end > at, 'a period has a length');
  if (closing.start === at) {
    draft.change({ cycle, exhausted: false, current: { ...closing, end } });
    return;
  }
  if (closing.opened) draft.putPeriod(closing, { ...closing, end: at });
  const closed = draft.state.current;
  const early = draft.state.others.find((period) => period.start === at);
  const next = early === undefined ? newPeriod(draft.context, at, end) : { ...early, end };
  const others = draft.state.others.filter(
    (period) => period.start !== at && mayBeLate(draft.context, period),
  );
  const keepsClosed = closed.opened && mayBeLate(draft.context, closed);
  draft.change({
    current: next,
    others: keepsClosed ? [...others, closed].sort((a, b) => a.start - b.start) : others,
    cycle,
    allocated: 0n,
    exhausted: false,
  });
}

/** Whether an event may still come that falls into it. */
function mayBeLate({ now }: MeterContext, { end }: Period): boolean {
  return end === null || end > now - PERIODS_KEPT_MS;
}

/** A period that no account exists for yet. Its account's id follows from what it is for. */
export function newPeriod(context: MeterContext, start: number, end: number | null): Period {
  const { customer, meter, ids } = context;
  const key = { customerId: customer.id, meterId: meter.id, start };
  return emptyPeriod(periodAccountId(ids, key), start, end);
}

function renew(draft: MeterDraft, allowance: Grant, at: number, cycle: Cycle): void {
  const { ids } = draft.context;
  rollOver(draft, allowance, at, cycle);
  draft.putGrant({ ...allowance, used: 0n });
  draft.credit(ids.derive('grant', allowance.id, String(at)), allowance.amount ?? 0n, at);
  draft.announceGrant(allowance, allowance.amount, eventSource(allowance, 'renewal'), at);
}

/** What an allowance had left becomes a grant of its own, up to the cap on all that rolled over. */
function rollOver(draft: MeterDraft, allowance: Grant, at: number, cycle: Cycle): void {
  const rollover = allowance.recurs?.rollover ?? null;
  if (rollover === null || allowance.amount === null) return;
  let held = 0n;
  for (const grant of draft.state.grants) {
    if (grant.source === 'rollover') held += left(grant) ?? 0n;
  }
  const room = rollover.max - held;
  const rest = allowance.amount - allowance.used;
  const amount = rest < room ? rest : room;
  if (amount <= 0n) return;
  let expiresAt = at;
  for (let period = 0; period < rollover.expiresAfterPeriods; period += 1) {
    expiresAt = calendarPeriod(cycle, expiresAt).end;
  }
  const grant: Grant = {
    ...allowance,
    id: draft.context.ids.derive('rollover', allowance.id, String(at)),
    source: 'rollover',
    amount,
    used: 0n,
    effectiveAt: at,
    expiresAt,
    createdAt: at,
    overageAllowed: false,
    recurs: null,
    reason: null,
  };
  draft.putGrant(grant);
  draft.credit(draft.context.ids.derive('grant', grant.id), amount, at);
}

function eventSource(grant: Grant, when: 'start' | 'renewal'): string {
  if (grant.source === 'top_up' || grant.source === 'manual') {
    return when === 'renewal' ? 'renewal' : 'manual_top_up';
  }
  return when === 'renewal' ? 'renewal' : 'subscription_start';
}
