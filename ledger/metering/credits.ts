import { announceExhaustion, announceLate } from './announcements.ts';
import { advance, advanced, advancedDraft } from './advance.ts';
import { changeHold, type HoldChange, heldFor, holdChanges } from './pool-holds.ts';
import { inRange } from '../kernel/quantity.ts';
import { type Credits, type MeterContext, type Payer, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import { type Grant, leaderOf } from './grants.ts';
import { changedSince, startingAt } from './in-order.ts';
import { type MeterState, type Period, balance, billedOf, limitOf, snapshotOf } from './meter.ts';
import { periodFor } from './period-for.ts';
import type { PaidBy } from './paid-by.ts';
import type { Pool } from './pool.ts';
import { countLate } from './span-changes.ts';
import { heldSince, lastOf } from './stretch.ts';
import type { Transfer } from '../kernel/transfers.ts';
import { anew, asIs, countInMarks } from './settlement/anew.ts';
import { followsOn } from './settlement/follows.ts';
import { isSold } from './spans.ts';
import { crossed, reasonAfter } from './usage-answer.ts';

/**
 * A pool pays, in credits, for what its members use beyond their own limits (beyond.md 4).
 *
 * How it works: each decision on a member ends with its pool (`MeterDraft.effects`). For each period
 * of the member that it changed, what is beyond the limit costs its rate, and the difference to
 * before is a *draw*: usage of the pool. What is reserved beyond the limit is a hold of the pool. Both
 * are in the effects of the member's decision, so one flush writes both sides.
 * What holds: what a pool has paid for a period is `rate x max(0, consumed - limit)`, a function of
 * totals, so it is the same for events in any order, late ones and corrections. A rate is that of the
 * pool's list when the pool's period began, and stays with the member's period.
 * A member without an allowance of its own has the periods of its pool (`follow` in `advance.ts`): the
 * decision that ends the pool's period ends theirs. What is due of members is done before anything is
 * decided on the pool, or asked of it (`catchUp`), so what a member lets go of is free at that time.
 * What it does not do: say whether the pool has enough (`cover.ts`).
 *
 * Limits: before its first grant a pool pays nothing; then it pays for the period that is current. A
 * late draw counts for a span of the pool that a change of plan has closed in the same period at the
 * time of the decision. A draw at a first grant that would leave the range is left out. Where both a
 * pool and its members are decided late, the pool is moved to now before they are.
 */

/** A customer's meter, as a decision on another one finds it. */
export type Side = { readonly context: MeterContext; readonly state: MeterState };

/** The members of a pool that the customer has, as a decision finds them. */
export type Members = {
  /** When time alone next changes one of them. To look at no more costs a part of `sides`. */
  readonly dueFrom: number;
  readonly sides: readonly Side[];
};

/** `meterId`: the member that the decision is on; `members`: all of them. */
export function creditsOfMember(
  pool: Pool,
  { context, state }: Side,
  { meterId, members }: { readonly meterId: string; readonly members: Members },
): Credits {
  const dueFrom = (): number => Math.min(state.nextDue, members.dueFrom);
  const paying = (decided: string | null): MeterContext => {
    return { ...context, credits: creditsOfPool(pool, members, decided) };
  };
  let known: MeterState | null = null;
  const payer: Payer = {
    context,
    now: () => (known ??= context.now < dueFrom() ? state : advanced(paying(null), state)),
    open: () => advancedDraft(paying(meterId), state),
  };
  return {
    pool,
    payer,
    quietly: () => creditsOfMember(pool, { context: quiet(context), state }, { meterId, members }),
    dueFrom,
    others: () => [state, ...statesOf(members).filter((one) => one.meterId !== meterId)],
    leaders: () => leadersOf([payer.now()]),
    catchUp: nothing,
    mayDraw: (draft) => mayDraw(draft, pool),
    settle: (draft) => settleMember(draft, pool),
  };
}

/** Of a member whose decision moves nothing else: its pool pays as it is. */
export function creditsAsIs(pool: Pool, { context, state }: Side): Credits {
  const payer = { context, now: () => state, open: () => new MeterDraft(context, state) };
  return creditsBy(pool, payer, {
    mayDraw: (draft) => mayDraw(draft, pool),
    settle: (draft) => settleMember(draft, pool),
  });
}

/** Of a member that moves nothing but what is said. */
function creditsBy(pool: Pool, payer: Payer, its: Pick<Credits, 'mayDraw' | 'settle'>): Credits {
  const credits: Credits = {
    pool,
    payer,
    quietly: () => credits,
    dueFrom: () => Infinity,
    others: () => NONE,
    leaders: () => NONE,
    catchUp: nothing,
    ...its,
  };
  return credits;
}

/** `decided`: the member that a decision is on, which has its own part in it; null: it is on the pool. */
export function creditsOfPool(
  pool: Pool,
  members: Members,
  decided: string | null = null,
): Credits {
  const catchUp = (draft: MeterDraft): void => {
    const moved = isMoved(draft);
    if (!moved && draft.context.now < members.dueFrom) return;
    for (const side of members.sides) {
      if (side.state.meterId === decided) continue;
      if (moved || side.state.nextDue <= draft.context.now) follow(side, draft, pool);
    }
  };
  const credits: Credits = {
    pool,
    payer: null,
    quietly: () => credits,
    dueFrom: () => members.dueFrom,
    others: () => statesOf(members),
    leaders: () => leadersOf(statesOf(members)),
    catchUp,
    mayDraw: () => true,
    settle: (draft) => {
      catchUp(draft);
      return draft.members.filter(({ isChanged }) => isChanged).map((member) => member.effects());
    },
  };
  return credits;
}

function settleMember(member: MeterDraft, pool: Pool): readonly MeterEffects[] {
  const paying = member.pool;
  if (paying === null) return NONE;
  drawFor(member, paying, pool);
  return paying.isChanged ? [paying.effects()] : NONE;
}

function statesOf({ sides }: Members): readonly MeterState[] {
  return sides.map(({ state }) => state);
}

/** A decision in it fires no alerts. */
export function quiet(context: MeterContext): MeterContext {
  const { alerts, credits } = context;
  return {
    ...context,
    alerts: alerts === null ? null : { ...alerts, mayFire: false },
    credits: credits?.quietly() ?? null,
  };
}

const NONE: readonly never[] = [];

function leadersOf(states: readonly MeterState[]): readonly Grant[] {
  return states.flatMap(({ grants }) => leaderOf(grants) ?? []);
}

/** Whether its period is another one, or it may pay from now on. */
function isMoved({ before, state }: MeterDraft): boolean {
  return (
    before.current.accountId !== state.current.accountId ||
    before.current.end !== state.current.end ||
    (before.firstGrantAt === null && state.firstGrantAt !== null)
  );
}

/** A member in a decision on its pool: it has the time of the pool, and what it draws is taken. */
function follow({ context, state }: Side, paying: MeterDraft, pool: Pool): void {
  const member = paying.member(state.meterId, () => {
    const payer = { context: paying.context, now: () => paying.state, open: () => paying };
    const credits = creditsBy(pool, payer, { mayDraw: () => true, settle: () => NONE });
    return new MeterDraft({ ...context, credits }, state);
  });
  advance(member);
  drawFor(member, paying, pool);
}

function nothing(): void {}

/** What changes for the pool with one period of a member. */
type Draw = {
  readonly period: Period;
  readonly rate: bigint;
  /** Credits that are used more; less, if negative. */
  readonly used: bigint;
  /** Credits that are held from now on. */
  readonly held: bigint;
};

/**
 * What pays for `change` units that the decision has used in a period, as a check has said it: with
 * what is held taken off. null where no pool may.
 */
export function paidBy(member: MeterDraft, period: Period, change: bigint): PaidBy | null {
  const { pool: paying, state } = member;
  const pool = member.context.credits?.pool;
  if (paying === null || pool === undefined) return null;
  const rate = rateOf(member, paying, { pool, period });
  const { reserved } = period;
  const units =
    rate === null ? 0n : beyond(state, period, reserved) - beyond(state, period, reserved - change);
  return { own: change - units, credits: (rate ?? 0n) * units, pool: pool.meter };
}

/** Of what was refused. */
export function paidByNone({ credits }: MeterContext): PaidBy | null {
  if (credits === null || credits.payer === null) return null;
  return { own: 0n, credits: 0n, pool: credits.pool.meter };
}

function mayDraw(member: MeterDraft, pool: Pool): boolean {
  const { pool: paying } = member;
  if (paying === null) return true;
  const draws = drawsOf(member, paying, pool);
  if (!draws.every((draw) => fits(member, paying, draw))) return false;
  for (const { period, rate } of draws) price(member, period, rate);
  return true;
}

/** A rate stays with its period. */
function price(member: MeterDraft, period: Period, asked: bigint): void {
  if (period.rate === null) member.payBy(period, asked);
}

function drawFor(member: MeterDraft, paying: MeterDraft, pool: Pool): void {
  for (const draw of drawsOf(member, paying, pool)) {
    if (!fits(member, paying, draw)) continue;
    price(member, draw.period, draw.rate);
    take(member, paying, draw);
  }
  member.drawn = member.state;
}

function drawsOf(member: MeterDraft, paying: MeterDraft, pool: Pool): readonly Draw[] {
  const { drawn: before, state } = member;
  const draws: Draw[] = [];
  // Most decisions leave the periods that are over as they are, of which there may be hundreds.
  const others = state.others === before.others ? NONE : changedSince(before.others, state.others);
  for (const period of [...others, state.current]) {
    const { accountId, start } = period;
    const was =
      before.current.accountId === accountId ? before.current : startingAt(before.others, start);
    if (was === period && period !== state.current) continue;
    const rate = rateOf(member, paying, { pool, period });
    if (rate === null) continue;
    const paid = was === undefined || was.rate === null ? 0n : rate * beyond(before, was);
    const cost = rate * beyond(state, period);
    const held = rate * beyond(state, period, period.reserved) - cost;
    const used = cost - paid;
    const isSame = used === 0n && held === heldFor(paying.state, period.accountId);
    if (!isSame) draws.push({ period, rate, used, held });
  }
  return draws;
}

/** Units that no grant of the member's own pays for. */
export function beyond(state: MeterState, period: Period, more = 0n): bigint {
  const limit = limitOf(state, period);
  const units = period.consumed - billedOf(state, period) + more;
  return limit === null || units <= limit ? 0n : units - limit;
}

/**
 * What the pool asks for a unit of the member in a period that it has not paid for: by its list when
 * `its` period began, which pays. null where it does not pay.
 */
export function rateFor(
  { costs }: Pool,
  { firstGrantAt }: MeterState,
  {
    meterId,
    period,
    its,
  }: { readonly meterId: string; readonly period: Period; readonly its: Period },
): bigint | null {
  if (firstGrantAt === null || (period.end !== null && period.end <= firstGrantAt)) return null;
  const began = Math.max(its.start, firstGrantAt);
  const list = costs.findLast(({ since }) => since <= began);
  return list?.members.get(meterId)?.rate ?? null;
}

function rateOf(
  member: MeterDraft,
  paying: MeterDraft,
  { pool, period }: { readonly pool: Pool; readonly period: Period },
): bigint | null {
  if (period.rate !== null) return period.rate;
  const its = payingPeriod(member, paying, period);
  return rateFor(pool, paying.state, { meterId: member.state.meterId, period, its });
}

function fits(member: MeterDraft, paying: MeterDraft, draw: Draw): boolean {
  const period = payingPeriod(member, paying, draw.period);
  const more = draw.held - heldFor(paying.state, draw.period.accountId);
  return (
    inRange(period.aggregate + draw.used) &&
    inRange(period.consumed + draw.used + period.reserved + more)
  );
}

/** The period of the pool that pays for one of a member: the one that it begins in, or the current one. */
function payingPeriod(member: MeterDraft, { context, state }: MeterDraft, period: Period): Period {
  const isCurrent = period.accountId === member.state.current.accountId;
  return isCurrent ? state.current : periodFor(context, state, period.start);
}

function take(member: MeterDraft, paying: MeterDraft, { period, used, held }: Draw): void {
  const from = payingPeriod(member, paying, period);
  const { accountId } = from;
  const holds = holdChanges(paying.state, period.accountId, { held, used, accountId });
  const id = paying.context.ids.next();
  const before = paying.state;
  const settle = settling(paying, { id, from, used, holds });
  for (const hold of holds) changeHold(paying, period.accountId, hold);
  const eventAt = used === 0n ? null : use(paying, from, used);
  settle?.();
  const its = { member, memberAccountId: period.accountId, value: used };
  if (eventAt !== null) paying.transfers.push(drawn(paying, from, { ...its, id, eventAt }));
  const { state, context } = paying;
  const isUse = used > 0n && from.accountId === state.current.accountId;
  // What is used now may have been held before.
  if (isUse && crossed(state, balance(snapshotOf(state)))) announceExhaustion(paying, context.now);
  if (settle !== null && from.accountId !== state.current.accountId) announceLate(paying, before);
}

/**
 * Called before the pool's period and holds change; see `anew`. What was held is used in the stretch in
 * which it was held, the rest now. null: nothing that was settled is another.
 */
function settling(
  paying: MeterDraft,
  {
    id: key,
    from,
    used,
    holds,
  }: {
    readonly id: string;
    readonly from: Period;
    readonly used: bigint;
    readonly holds: readonly HoldChange[];
  },
): (() => void) | null {
  const { state, context } = paying;
  const parts = holds.map(({ old, accountId, amount, used: value }) => ({
    period: old === null ? state.current : paying.period(accountId),
    after: old === null ? lastOf(context.now) : heldSince(old),
    used: value,
    held: amount - (old?.amount ?? 0n),
  }));
  const rest = used - sumOf(parts, ({ used: value }) => value);
  const now = { period: from, after: lastOf(usedAt(paying, from)), used: rest, held: 0n };
  const changes = [...parts, now].filter((one) => one.used !== 0n || one.held !== 0n);
  const together = { ...now, used, held: sumOf(parts, ({ held }) => held) };
  if (![...changes, together].some((one) => followsOn(state, one))) return null;
  const periods = changes.map(({ period }) => period).toSorted((a, b) => a.start - b.start);
  const [first = from, last = from] = [periods[0], periods.at(-1)];
  const settle = anew(paying, { period: first, last, after: now.after, value: 0n, key });
  for (const one of changes) countInMarks(paying, { ...one, value: one.used });
  return settle;
}

function sumOf<T>(list: readonly T[], unitsOf: (item: T) => bigint): bigint {
  return list.reduce((units, item) => units + unitsOf(item), 0n);
}

/** When it uses what a member draws: now, or at the end of a period that is over. */
function usedAt({ context, state }: MeterDraft, { accountId, end }: Period): number {
  return accountId === state.current.accountId || end === null ? context.now : end - 1;
}

/** Usage of the pool. It is no event of its own. Returns when it is used. */
function use(paying: MeterDraft, before: Period, value: bigint): number {
  // What is held of it may have changed.
  const period = asIs(paying.state, before);
  const eventAt = usedAt(paying, period);
  const aggregate = period.aggregate + value;
  countLate(paying, { period, eventAt }, (mark) => ({
    ...mark,
    aggregate: mark.aggregate + value,
  }));
  paying.changePeriod(period, { consumed: aggregate > 0n ? aggregate : 0n, aggregate });
  return eventAt;
}

type Drawn = {
  readonly id: string;
  readonly member: MeterDraft;
  readonly memberAccountId: string;
  readonly value: bigint;
  readonly eventAt: number;
};

function drawn(
  paying: MeterDraft,
  before: Period,
  { id, member, memberAccountId, value, eventAt }: Drawn,
): Transfer {
  const { customer, books, now } = paying.context;
  const after = paying.period(before.accountId);
  const isCurrent = after.accountId === paying.state.current.accountId;
  const change = after.consumed - before.consumed;
  // What is late may take units from another period, for which the pool pays then as it must.
  const isGuarded = member.guarded === memberAccountId;
  const snapshot = snapshotOf(paying.state, after);
  const reason = reasonAfter(paying.state, snapshot, balance(snapshot));
  return {
    id,
    kind: change < 0n ? 'reverse' : 'single',
    slot: customer.slot,
    debit: after.accountId,
    credit: books.usage,
    amount: change < 0n ? -change : change,
    hold: null,
    at: now,
    usage: {
      value,
      events: 0n,
      eventAt,
      fingerprint: null,
      reason,
      consumedAfter: snapshot.consumed,
      limitAfter: snapshot.limit,
      metadata: null,
      guarded: isGuarded && reason === 'ok' && snapshot.billed === 0n && change > 0n && isCurrent,
      sold: isSold(paying.state, after),
      answer: null,
    },
    drawnFor: memberAccountId,
  };
}
