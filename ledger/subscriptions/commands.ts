import { unreachable } from '../kernel/assert.ts';
import { invoiceOfRequest } from './invoice-ids.ts';
import { billPeriod } from './bills.ts';
import { end } from './ending.ts';
import { type BackOfInvoice, giveUsageBack } from './given-back.ts';
import {
  closeAfterCharge,
  closePaid,
  makeVoid,
  retryAnew,
  retryNext,
  settleOpen,
} from './invoicing.ts';
import { recurringLine } from './proration.ts';
import { catchUp } from './renewal.ts';
import {
  type Billing,
  type GivenBack,
  type OpenInvoice,
  type Plan,
  type PlanAllowance,
  type Settlement,
  type Subscription,
  isOver,
  isTrial,
  renews,
} from './subscription.ts';
import { suspensionOf } from './dunning.ts';
import { SubscriptionDraft, type SubscriptionContext } from './subscription-draft.ts';
import {
  changePlan,
  isBeingReplaced,
  restart,
  resume,
  settleWaiting,
  takeBack,
  tellPending,
} from './pending-payment.ts';
import { type Action, TRANSITIONS, legalActions } from './transitions.ts';

/** What a customer, a merchant, a processor or time asks of a subscription. */
export type Command =
  | { readonly kind: 'cancel'; readonly mode: 'at_period_end' | 'immediate' }
  | { readonly kind: 'uncancel' }
  | { readonly kind: 'pause'; readonly resumesAt: number | null; readonly keepInvoices: boolean }
  | ({ readonly kind: 'resume' } & Requested)
  | ({
      readonly kind: 'change';
      readonly plan: Plan;
      readonly allowances: readonly PlanAllowance[];
      /** Of what was paid for the present time, as it is now. */
      readonly givenBack: readonly GivenBack[];
    } & Requested)
  /** Takes back a change that waits for its payment. */
  | { readonly kind: 'unschedule' }
  | { readonly kind: 'end_trial' }
  /**
   * Only time has passed. `allowances`: what the product gives now, for a period that begins with
   * it.
   */
  | { readonly kind: 'tick'; readonly allowances?: readonly PlanAllowance[] }
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  /**
   * An open invoice was paid in another way, or the merchant made it void. `paymentId`: an ordered
   * charge of it that never begins.
   */
  | {
      readonly kind: 'close_invoice';
      readonly invoiceId: string;
      readonly how: 'paid' | 'void';
      readonly paymentId: string | null;
    }
  /** Money of an invoice went back, or has come again: the account of its payment says how much. */
  | { readonly kind: 'usage_given_back'; readonly paymentId: string }
  /** The charge of a change has no answer yet. */
  | { readonly kind: 'pending'; readonly invoiceId: string }
  /**
   * The payment method has changed: unpaid invoices are retried at once. `attempts`: the last try
   * of each when it was first told of, so that to tell it again retries none twice.
   */
  | { readonly kind: 'method_changed'; readonly attempts?: Readonly<Record<string, number>> };

/** What a request asks that may be sent again: its invoice has the name of the request. */
type Requested = { readonly requestId?: string };

export type CommandOutcome =
  /** `owes`: whether it wrote follow-ups. */
  | { readonly kind: 'done'; readonly subscription: Subscription; readonly owes: boolean }
  | { readonly kind: 'invalid_state'; readonly legal: readonly Action[] }
  | { readonly kind: 'currency_mismatch' }
  /** It has ended, or never existed. */
  | { readonly kind: 'unknown' };

/**
 * `outcome` is null where more was due than one decision does. What was done is written, then the
 * command is decided again.
 */
export type CommandDecision = {
  readonly outcome: CommandOutcome | null;
  readonly draft: SubscriptionDraft | null;
};

type Asked = {
  readonly id: string;
  readonly command: Command;
  /** As it was when it was over. */
  readonly stored?: Subscription | null;
  /** What went back of the invoice by now; null where none has usage. */
  readonly back?: BackOfInvoice | null;
};

/** Decides a command on one subscription, after all that was due before it. */
export function decideCommand(
  context: SubscriptionContext,
  billing: Billing,
  { id, command, stored = null, back = null }: Asked,
): CommandDecision {
  if (!billing.subscriptions.has(id) && stored === null) {
    return { outcome: { kind: 'unknown' }, draft: null };
  }
  const draft = new SubscriptionDraft(context, billing, id, stored);
  // Before what is due is billed: that may credit it.
  if (back !== null) giveUsageBack(draft, back);
  const allowances = command.kind === 'tick' ? command.allowances : undefined;
  if (!catchUp(draft, allowances)) return { outcome: null, draft };
  if (command.kind === 'cancel' && draft.state.waiting !== null) {
    takeBack(draft);
    // Time stood still for it.
    if (!catchUp(draft)) return { outcome: null, draft };
  }
  if (isOrdered(draft, command)) return done(draft);
  const refused = refusal(draft, command);
  // What was due is done, even if the command is refused.
  if (refused !== null) return { outcome: refused, draft };
  run(draft, command);
  // Time stood still while a payment was pending, and its answer may be of an earlier time.
  catchUp(draft);
  return done(draft);
}

function done(draft: SubscriptionDraft): CommandDecision {
  return { outcome: { kind: 'done', subscription: draft.state, owes: draft.owes }, draft };
}

/** Whether what waits for its payment was asked by this very request. */
function isOrdered({ state, context }: SubscriptionDraft, command: Command): boolean {
  if (command.kind !== 'change' && command.kind !== 'resume') return false;
  const { requestId } = command;
  if (requestId === undefined || state.waiting === null) return false;
  return state.waiting.invoiceId === invoiceOfRequest(context.ids, state.id, requestId);
}

function refusal(draft: SubscriptionDraft, command: Command): CommandOutcome | null {
  const { state: subscription } = draft;
  const { kind } = command;
  const hasEnded = subscription.status === 'canceled';
  // What it left unpaid at its end may still become void.
  if (kind === 'close_invoice') return null;
  if (isOver(subscription) || (hasEnded && kind in TRANSITIONS)) return { kind: 'unknown' };
  if (!(kind in TRANSITIONS)) return null;
  const action = kind as Action;
  if (!TRANSITIONS[action].holds(subscription)) {
    return { kind: 'invalid_state', legal: legalActions(subscription) };
  }
  const isOther = command.kind === 'change' && command.plan.currency !== subscription.plan.currency;
  return isOther ? { kind: 'currency_mismatch' } : null;
}

function run(draft: SubscriptionDraft, command: Command): void {
  const { now } = draft.context;
  switch (command.kind) {
    case 'cancel':
      return cancel(draft, command.mode);
    case 'uncancel':
      return uncancel(draft);
    case 'pause':
      return pause(draft, command);
    case 'resume':
      return draft.state.status === 'paused' && draft.state.waiting === null
        ? resume(draft, { at: now, requestId: command.requestId })
        : undefined;
    case 'change':
      return changePlan(draft, command);
    case 'unschedule':
      return takeBack(draft);
    case 'end_trial':
      return endTrial(draft);
    case 'tick':
    case 'usage_given_back':
      return undefined;
    case 'settle':
      if (settleWaiting(draft, command.settlement)) return undefined;
      return unblocking(draft, () => settleOpen(draft, command.settlement));
    case 'close_invoice':
      if (isBeingCharged(draft, command)) return closeAfterCharge(draft, command);
      return unblocking(draft, () => {
        if (command.how === 'void') makeVoid(draft, command.invoiceId);
        else closePaid(draft, command.invoiceId);
        draft.reconsider(now);
      });
    case 'pending':
      return tellPending(draft, command.invoiceId);
    case 'method_changed':
      for (const invoice of draft.state.open) {
        if (invoice.isForgone === true || !isOfBefore(invoice, command)) continue;
        // The charge of the resume decides first.
        if (isBeingReplaced(draft, invoice.invoiceId)) retryNext(draft, invoice);
        else retryAnew(draft, invoice);
      }
      return undefined;
    default:
      return unreachable(command);
  }
}

/** A later try takes the changed method anyway. */
function isOfBefore(
  { invoiceId, attempt }: OpenInvoice,
  { attempts }: Extract<Command, { readonly kind: 'method_changed' }>,
): boolean {
  if (attempts === undefined) return true;
  const last = attempts[invoiceId];
  return last !== undefined && attempt <= last;
}

/**
 * Cancels at the end of the period, or at once; then it ends in the same decision
 * (docs/spec/subscriptions.md#cancel).
 */
function cancel(draft: SubscriptionDraft, mode: 'at_period_end' | 'immediate'): void {
  const { now } = draft.context;
  const { periodEnd, cancelAt } = draft.state;
  if (mode === 'at_period_end' && periodEnd > now) {
    if (cancelAt !== null) return;
    draft.change({ cancelAt: periodEnd, canceledAt: now });
    draft.order({ kind: 'expire_at', at: periodEnd });
    return draft.announce('subscription.canceled', now);
  }
  const wasTrial = isTrial(draft.state);
  draft.change({ status: 'canceled', cancelAt: now, canceledAt: now, resumesAt: null });
  draft.announce('subscription.canceled', now);
  if (wasTrial) draft.announceTrialEnd(now, 'expired');
  end(draft, now, 'immediate');
}

function uncancel(draft: SubscriptionDraft): void {
  const { state: before } = draft;
  if (before.cancelAt === null) return;
  draft.change({ cancelAt: null, canceledAt: null });
  draft.order({ kind: 'expire_at', at: null });
  draft.announceUpdate(before);
}

function pause(
  draft: SubscriptionDraft,
  { resumesAt, keepInvoices }: { resumesAt: number | null; keepInvoices: boolean },
): void {
  const { now } = draft.context;
  const { state: before } = draft;
  const { status, periodEnd } = before;
  const same = before.resumesAt === resumesAt && before.keepInvoices === keepInvoices;
  if (status === 'paused' && same) return;
  const pausedAt = status === 'paused' ? draft.state.pausedAt : now;
  draft.change({ status: 'paused', pausedAt, resumesAt, keepInvoices });
  draft.order({ kind: 'suspend', why: suspensionOf(draft.state) });
  draft.announceUpdate(before);
  // Its periods had stopped and now go on.
  if (periodEnd <= now && renews(draft.state)) beginPeriod(draft);
}

/**
 * Whether a charge of the invoice is under way. Then its answer decides, and needs the invoice: a
 * capture must be announced.
 */
function isBeingCharged(
  { state }: SubscriptionDraft,
  { invoiceId, paymentId }: Extract<Command, { kind: 'close_invoice' }>,
): boolean {
  const invoice = state.open.find((other) => other.invoiceId === invoiceId);
  return invoice !== undefined && invoice.paymentId !== null && invoice.paymentId !== paymentId;
}

/** The first paid period begins now. */
function endTrial(draft: SubscriptionDraft): void {
  draft.change({ trialEnd: draft.context.now });
  beginPeriod(draft);
}

/**
 * Blocked time is not billed: if it is unblocked after the end of its period, a new period starts
 * now.
 */
function unblocking(draft: SubscriptionDraft, act: () => void): void {
  const wasBlocked = draft.state.overdue === 'blocked';
  act();
  const { waiting, periodEnd } = draft.state;
  const isLate = waiting === null && periodEnd <= draft.context.now;
  if (wasBlocked && isLate && renews(draft.state)) beginPeriod(draft);
}

/** Starts a period now, paid or not. */
function beginPeriod(draft: SubscriptionDraft): void {
  const { now: at } = draft.context;
  const { plan } = draft.state;
  draft.cutSpans(at);
  restart(draft, at);
  if (draft.state.status === 'paused') draft.change({ periodPrice: 0n });
  billPeriod(draft, {
    reason: 'subscription_cycle',
    lines: [recurringLine(plan)],
    periodStart: at,
    periodEnd: draft.state.periodEnd,
    at,
    usageUntil: at,
  });
}
