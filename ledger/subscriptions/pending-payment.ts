import { type Cycle, boundary } from '../kernel/calendar.ts';
import { type Billed, bill, periodInvoiceId, totalOf } from './bills.ts';
import { endWithMandate } from './ending.ts';
import { announceFailed, announcePaid } from './invoicing.ts';
import { owesUsage, uncut } from './usage-billing.ts';
import { changeLines, recurringLine } from './proration.ts';
import {
  type Beginning,
  type Plan,
  type PlanAllowance,
  type Settlement,
  type Subscription,
  isTrial,
  amountOf,
  resumeRestarts,
} from './subscription.ts';
import { suspensionOf } from './dunning.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';

/**
 * Changes that take effect only when they are paid: a resume after the paid period, a more
 * expensive plan.
 *
 * How it works: the change is billed and kept in `waiting`; the answer to the charge applies it or
 * drops it.
 * What holds: until the answer the subscription stays as it is, and time stands still for it
 * (`subscriptionDue`).
 * What it does not do: retry. A refused charge drops the change.
 */
export function cycleOf({ interval, intervalCount }: Plan, anchor: number, zone: string): Cycle {
  return { anchor, interval, count: intervalCount, zone };
}

/** The fields of a pause, cleared. */
const RESUMED = { status: 'active', pausedAt: null, keepInvoices: false } as const;

/**
 * Within the paid period it simply goes on. After it, or if that was never paid, a new period
 * begins with its payment (decisions 7, Pause).
 */
export function resume(draft: SubscriptionDraft, at: number): void {
  const { state: before } = draft;
  const { plan, cycle, pausedAt } = before;
  if (!resumeRestarts(draft.state, at)) {
    draft.change({ ...RESUMED, resumesAt: null });
    draft.order({ kind: 'suspend', why: suspensionOf(draft.state) });
    return draft.announceUpdate(before, at);
  }
  draft.change({ resumesAt: null });
  const next = cycleOf(plan, at, cycle.zone);
  draft.cutSpans(at);
  const billed = bill(draft, {
    cause: `resume ${pausedAt} ${tryOf(draft, at)}`,
    reason: 'subscription_resume',
    lines: [recurringLine(plan)],
    periodStart: at,
    periodEnd: boundary(next, 1),
    at,
    usageUntil: at,
  });
  wait(draft, { kind: 'resume', since: at }, billed);
}

/**
 * Changes the plan. The rest of the old plan is credited, the new plan is charged: a positive
 * difference is due now, a negative one becomes credit.
 */
export function changePlan(
  draft: SubscriptionDraft,
  { plan, allowances }: { plan: Plan; allowances: readonly PlanAllowance[] },
): void {
  const { plan: from, periodStart, periodEnd, periodPrice, cycle } = draft.state;
  // If the clock stepped back, it is still in the period.
  const at = Math.max(draft.context.now, periodStart);
  if (from.priceId === plan.priceId && from.quantity === plan.quantity) return;
  const restarts = from.interval !== plan.interval || from.intervalCount !== plan.intervalCount;
  const change = { kind: 'change', plan, allowances, restarts, since: at } as const;
  if (isTrial(draft.state)) return begin(draft, change, at);
  const period = { start: periodStart, end: periodEnd, price: periodPrice };
  const lines = changeLines(period, { from, to: plan, at, restarts });
  draft.cutSpans(at);
  const total = totalOf(lines);
  if (total <= 0n && !owesUsage(draft, at)) {
    draft.change({ credit: draft.state.credit - total });
    return begin(draft, change, at);
  }
  const end = restarts ? boundary(cycleOf(plan, at, cycle.zone), 1) : periodEnd;
  const billed = bill(draft, {
    cause: `change ${plan.priceId} ${plan.quantity} ${tryOf(draft, at)}`,
    reason: 'subscription_update',
    lines,
    plan,
    periodStart: at,
    periodEnd: end,
    at,
    usageUntil: at,
  });
  wait(draft, change, billed);
}

/**
 * Names a try: each has an invoice of its own. The time alone does not, as it stands still where the
 * clock of this node is behind; what became of an earlier try is an event.
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
  if (payment === null) begin(draft, what, what.since);
  else draft.change({ waiting: { ...what, invoiceId, amount, credit, paymentId: payment.id } });
}

function begin(draft: SubscriptionDraft, what: Beginning, at: number): void {
  const { state: before } = draft;
  const { cycle } = before;
  if (what.kind === 'resume') {
    const invoiceId = replacedBy(draft, what);
    if (invoiceId !== null) draft.follow(invoiceId, at, { kind: 'void', invoiceId });
    draft.change({ ...RESUMED, waiting: null });
    restart(draft, what.since, at);
    endWithPeriod(draft);
    return draft.announceUpdate(before, at);
  }
  const { plan, allowances, restarts } = what;
  const inTrial = isTrial(draft.state);
  const anchor = inTrial ? cycle.anchor : what.since;
  const next = restarts ? cycleOf(plan, anchor, cycle.zone) : cycle;
  // The rest of the period has the new plan's price from here on; a trial stays free.
  const moved = restarts && !inTrial ? firstPeriod(next) : { cycle: next };
  const periodPrice = inTrial ? 0n : amountOf(plan);
  draft.change({ plan, waiting: null, ...moved, periodPrice });
  const { since } = what;
  draft.order({ kind: 'replace', allowances, cycle: next, since, charges: !inTrial });
  draft.repriceSpans(since, allowances);
  endWithPeriod(draft);
  draft.announceUpdate(before, at);
}

/** The draft invoice of the period that the new period replaces. */
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
  draft.change({ ...firstPeriod(next), periodPrice: amountOf(plan) });
  draft.order({ kind: 'restart', cycle: next });
  // A restart ends the suspension of the allowances.
  const why = suspensionOf(draft.state);
  if (why !== null) draft.order({ kind: 'suspend', why });
  if (!wasTrial) return;
  draft.order({ kind: 'charge', at: anchor });
  draft.announceTrialEnd(at, 'converted');
}

function firstPeriod(cycle: Subscription['cycle']): Partial<Subscription> {
  return { cycle, periodIndex: 0, periodStart: cycle.anchor, periodEnd: boundary(cycle, 1) };
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
  draft.change({ waiting: null, credit: draft.state.credit + waiting.credit });
  const { invoiceId } = waiting;
  uncut(draft, invoiceId, waiting.since);
  draft.follow(invoiceId, settlement.at, { kind: 'void', invoiceId });
  endWithMandate(draft, settlement);
  return true;
}
