import { type Cycle, boundary } from '../kernel/calendar.ts';
import { type Billed, bill, billPeriod, giveBack, periodInvoiceId } from './bills.ts';
import { endWithMandate } from './ending.ts';
import { announceFailed, announcePaid, makeVoid } from './invoicing.ts';
import { uncut } from './usage-billing.ts';
import { endPause } from './pauses.ts';
import { changeLines, recurringLine } from './proration.ts';
import {
  type Beginning,
  type GivenBack,
  type OpenInvoice,
  type Plan,
  type PlanAllowance,
  type Settlement,
  type Subscription,
  isTrial,
  amountOf,
  discountOf,
  resumeRestarts,
} from './subscription.ts';
import { suspensionOf } from './dunning.ts';
import { causeOfRequest } from './invoice-ids.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';

/**
 * Changes that take effect only when they are paid: a resume after the paid period, if somebody
 * asks for it, a more expensive plan.
 *
 * How it works: the change is billed and kept in `waiting`; the answer to the charge applies it or
 * drops it.
 * What holds: until the answer the subscription stays as it is, and time stands still for it
 * (`subscriptionDue`).
 * What it does not do: retry. A refused charge drops the change. A change may be taken back before
 * the answer: what is captured all the same is refunded.
 */
export function cycleOf({ interval, intervalCount }: Plan, anchor: number, zone: string): Cycle {
  return { anchor, interval, count: intervalCount, zone };
}

/** The fields of a pause, cleared. */
const RESUMED = { status: 'active', pausedAt: null, keepInvoices: false } as const;

/**
 * Within the paid period it simply goes on. After it, or if that was never paid, a new period
 * begins with its payment (docs/spec/subscriptions.md#pause).
 */
export function resume(
  draft: SubscriptionDraft,
  { at, requestId }: { readonly at: number; readonly requestId?: string | undefined },
): void {
  const { plan, cycle, pausedAt } = draft.state;
  if (!resumeRestarts(draft.state, at)) return goOn(draft, at);
  draft.change({ resumesAt: null });
  const next = cycleOf(plan, at, cycle.zone);
  draft.cutSpans(at);
  const billed = bill(draft, {
    cause:
      requestId === undefined
        ? `resume ${pausedAt} ${tryOf(draft, at)}`
        : causeOfRequest(requestId),
    reason: 'subscription_resume',
    lines: [recurringLine(plan)],
    periodStart: at,
    periodEnd: boundary(next, 1),
    at,
    usageUntil: at,
  });
  wait(draft, { kind: 'resume', since: at }, billed);
}

/** In the period that runs. */
function goOn(draft: SubscriptionDraft, at: number): void {
  const { state: before } = draft;
  endPause(draft, { end: at });
  draft.change({ ...RESUMED, resumesAt: null });
  draft.order({ kind: 'suspend', why: suspensionOf(draft.state) });
  draft.announceUpdate(before, at);
}

/**
 * At the time that it was paused until. Nobody waits for the answer, so a new period begins as with
 * a renewal, paid or not: what is not paid of it is in dunning, and everybody hears of it.
 */
export function resumeInTime(draft: SubscriptionDraft, at: number): void {
  const { state: before } = draft;
  // At the end of its period the next one begins by itself.
  if (at === before.periodEnd || !resumeRestarts(before, at)) return goOn(draft, at);
  const replaced = at < before.periodEnd ? periodInvoiceId(draft) : null;
  draft.cutSpans(at);
  endPause(draft, { end: at, begins: at });
  draft.change({ ...RESUMED, resumesAt: null });
  if (replaced !== null) dropReplaced(draft, replaced, { at, asOf: at });
  restart(draft, at);
  const { plan, periodEnd } = draft.state;
  billPeriod(draft, {
    reason: 'subscription_resume',
    lines: [recurringLine(plan)],
    periodStart: at,
    periodEnd,
    at,
    usageUntil: at,
  });
  endWithPeriod(draft);
  draft.announceUpdate(before, at);
}

type Wanted = {
  readonly plan: Plan;
  readonly allowances: readonly PlanAllowance[];
  readonly givenBack: readonly GivenBack[];
  readonly requestId?: string;
};

/**
 * Changes the plan. The rest of the old plan is credited, the new plan is charged: a positive
 * difference is due now, a negative one becomes credit. Either is an invoice, with the usage so
 * far.
 */
export function changePlan(
  draft: SubscriptionDraft,
  { plan, allowances, givenBack: all, requestId }: Wanted,
): void {
  const { plan: from, periodStart, periodEnd, periodPrice, cycle } = draft.state;
  // If the clock stepped back, it is still in the period.
  const at = Math.max(draft.context.now, periodStart);
  if (from.priceId === plan.priceId && from.quantity === plan.quantity) return;
  const restarts = from.interval !== plan.interval || from.intervalCount !== plan.intervalCount;
  const change = { kind: 'change', plan, allowances, restarts, since: at } as const;
  if (isTrial(draft.state)) return begin(draft, change, at);
  // What is of an earlier period was of another plan, whose credit was given.
  const givenBack = all.filter(({ start }) => start >= periodStart);
  const worth = { price: periodPrice, givenBack, accounted: draft.state.givenBack };
  const period = { start: periodStart, end: periodEnd, ...worth };
  const lines = changeLines(period, { from, to: plan, at, restarts });
  draft.cutSpans(at, ({ meter, price }) => {
    const next = allowances.find((allowance) => allowance.meter.id === meter.id);
    return !restarts && next?.price?.id === price.id;
  });
  const end = restarts ? boundary(cycleOf(plan, at, cycle.zone), 1) : periodEnd;
  const billed = bill(draft, {
    cause:
      requestId === undefined
        ? `change ${plan.priceId} ${plan.quantity} ${tryOf(draft, at)}`
        : causeOfRequest(requestId),
    reason: 'subscription_update',
    lines,
    plan,
    periodStart: at,
    periodEnd: end,
    at,
    usageUntil: at,
  });
  wait(draft, { ...change, ...(givenBack.length > 0 && { givenBack }) }, billed);
}

/**
 * Names a try: each has an invoice of its own. The time alone does not, as it stands still where
 * the clock of this node is behind; what became of an earlier try is an event.
 */
function tryOf({ state: { sequence } }: SubscriptionDraft, at: number): string {
  return `${at} ${sequence}`;
}

/** Waits for the payment. If the credit covers all of it, it begins at once. */
function wait(
  draft: SubscriptionDraft,
  what: Beginning,
  { invoiceId, amount, credit, payment }: Billed,
): void {
  if (payment === null) return begin(draft, what, what.since);
  draft.change({ waiting: { ...what, invoiceId, amount, credit, paymentId: payment.id } });
  draft.follow(invoiceId, what.since, { kind: 'pending', invoiceId, paymentId: payment.id });
}

/** The charge of the change has no answer at once: it is announced that it waits. */
export function tellPending(draft: SubscriptionDraft, invoiceId: string): void {
  const { state: before } = draft;
  const { waiting } = before;
  if (waiting?.invoiceId !== invoiceId || waiting.isTold === true) return;
  draft.change({ waiting: { ...waiting, isTold: true } });
  draft.announceUpdate(before);
}

/**
 * Takes the change back: nothing begins, and time goes on. Its charge is under way, so its invoice
 * stays open until that is decided (`settleOpen`).
 */
export function takeBack(draft: SubscriptionDraft): void {
  const { state: before, context } = draft;
  const { waiting } = before;
  if (waiting === null) return;
  const { invoiceId, paymentId, amount, since } = waiting;
  const forgone: OpenInvoice = {
    invoiceId,
    amount,
    credit: 0n,
    transactionType: 'RECURRING',
    attempt: 1,
    paymentId,
    again: false,
    retryAt: null,
    dunning: null,
    isForgone: true,
  };
  draft.change({ waiting: null, open: [...before.open, forgone] });
  giveBack(draft, waiting.credit);
  uncut(draft, invoiceId, since);
  draft.follow(invoiceId, context.now, { kind: 'let_go', paymentId });
  draft.announceUpdate({ ...before, waiting: { ...waiting, isTold: true } });
}

function begin(draft: SubscriptionDraft, what: Beginning, at: number): void {
  const { state: before } = draft;
  const { cycle } = before;
  if (what.kind === 'resume') {
    const replaced = replacedBy(draft, what);
    endPause(draft, { end: at, begins: what.since });
    draft.change({ ...RESUMED, waiting: null });
    if (replaced !== null) dropReplaced(draft, replaced, { at, asOf: draft.context.now });
    restart(draft, what.since, at);
    draft.change({ discount: null });
    endWithPeriod(draft);
    return draft.announceUpdate(before, at);
  }
  const { plan, allowances, restarts, givenBack = [] } = what;
  const inTrial = isTrial(draft.state);
  const anchor = inTrial ? cycle.anchor : what.since;
  const next = restarts ? cycleOf(plan, anchor, cycle.zone) : cycle;
  // The rest of the period has the new plan's price from here on; a trial stays free.
  const isWhole = restarts && !inTrial;
  const moved = isWhole ? { ...firstPeriod(next), discount: null } : { cycle: next, givenBack };
  const off = isWhole ? discountOf(draft.state, plan) : 0n;
  const periodPrice = inTrial ? 0n : amountOf(plan) - off;
  draft.change({ plan, waiting: null, ...moved, periodPrice });
  const { since } = what;
  draft.order({ kind: 'replace', allowances, cycle: next, since, charges: !inTrial });
  draft.repriceSpans(since, allowances, { isRunning: true });
  endWithPeriod(draft);
  draft.announceUpdate(before, at);
}

/** It is made void: as a draft, or as what was charged in vain, which nobody owes any more. */
function dropReplaced(
  draft: SubscriptionDraft,
  invoiceId: string,
  { at, asOf }: { readonly at: number; readonly asOf: number },
): void {
  draft.follow(invoiceId, at, { kind: 'void', invoiceId });
  if (!draft.state.open.some((invoice) => invoice.invoiceId === invoiceId)) return;
  makeVoid(draft, invoiceId);
  draft.reconsider(asOf);
}

/** The invoice of the period that the new period replaces: a draft, or charged in vain. */
function replacedBy(draft: SubscriptionDraft, { kind, since }: Beginning): string | null {
  return kind === 'resume' && since < draft.state.periodEnd ? periodInvoiceId(draft) : null;
}

/** Whether the pending change replaces this invoice: to charge both would be to charge twice. */
export function isBeingReplaced(draft: SubscriptionDraft, invoiceId: string): boolean {
  const { waiting } = draft.state;
  return waiting !== null && replacedBy(draft, waiting) === invoiceId;
}

/** A scheduled cancellation moves with the end of the period. */
function endWithPeriod(draft: SubscriptionDraft): void {
  const { cancelAt, periodEnd } = draft.state;
  if (cancelAt === null) return;
  draft.change({ cancelAt: periodEnd });
  draft.order({ kind: 'expire_at', at: periodEnd });
}

/** Counts periods from `anchor` now. A trial is over. */
export function restart(draft: SubscriptionDraft, anchor: number, at: number = anchor): void {
  const { plan, cycle } = draft.state;
  const next = cycleOf(plan, anchor, cycle.zone);
  const wasTrial = isTrial(draft.state);
  const periodPrice = amountOf(plan) - discountOf(draft.state, plan);
  draft.change({ ...firstPeriod(next), periodPrice });
  draft.order({ kind: 'restart', cycle: next });
  // A restart ends the suspension of the allowances.
  const why = suspensionOf(draft.state);
  if (why !== null) draft.order({ kind: 'suspend', why });
  if (!wasTrial) return;
  draft.order({ kind: 'charge', at: anchor });
  draft.announceTrialEnd(at, 'converted');
}

function firstPeriod(cycle: Subscription['cycle']): Partial<Subscription> {
  const [periodStart, periodEnd] = [cycle.anchor, boundary(cycle, 1)];
  return { cycle, periodIndex: 0, periodStart, periodEnd, givenBack: [] };
}

/**
 * Applies the answer to the charge of the pending change. Returns whether it was that charge. If it
 * was refused, nothing begins, the invoice is void, and its credit returns.
 */
export function settleWaiting(draft: SubscriptionDraft, settlement: Settlement): boolean {
  const { waiting } = draft.state;
  if (waiting?.paymentId !== settlement.paymentId) return false;
  const charged = { ...waiting, transactionType: 'RECURRING', attempt: 1, retryAt: null } as const;
  if (settlement.kind === 'paid') {
    announcePaid(draft, charged, settlement);
    begin(draft, waiting, settlement.at);
    return true;
  }
  if (settlement.kind !== 'no_method') announceFailed(draft, charged, settlement);
  const { state: before } = draft;
  draft.change({ waiting: null });
  giveBack(draft, waiting.credit);
  const { invoiceId } = waiting;
  uncut(draft, invoiceId, waiting.since);
  draft.follow(invoiceId, settlement.at, { kind: 'void', invoiceId });
  if (waiting.isTold === true) draft.announceUpdate(before, settlement.at);
  endWithMandate(draft, settlement);
  return true;
}
