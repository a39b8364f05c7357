import { assert, unreachable } from '../kernel/assert.ts';
import { formatMoney } from '../kernel/money.ts';
import {
  beganPaused,
  type OpenInvoice,
  type Settlement,
  type SignupPayment,
} from './subscription.ts';
import { externalIdOf } from '../metering/signup.ts';
import { iso } from '../kernel/iso.ts';
import { close, giveBack, periodInvoiceId } from './bills.ts';
import { afterFailure } from './dunning.ts';
import { endWithMandate, voidAfterEnd } from './ending.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';
import { waive } from './usage-billing.ts';

/**
 * Invoices of a subscription: a charge is ordered, its answer is applied (`bills.ts` makes them).
 *
 *     open ──paid──▶ closed
 *       └──failed──▶ dunning (`dunning.ts`): retried, blocked, given up
 *
 * How it works: billing writes follow-ups (`bill`, `collect`, `void`), which `src/subscriptions`
 * executes after the flush. The answer comes back as a `settle` command.
 * What holds: ids are derived from what they bill, and an answer counts only if its charge is the
 * one under way. So orders and answers may be repeated.
 * What it does not do: number or store invoices, ask a processor, or decide when to retry.
 */
/** Applies the answer to a charge of an open invoice. Returns whether it was one. */
export function settleOpen(draft: SubscriptionDraft, settlement: Settlement): boolean {
  const invoice = draft.state.open.find(({ paymentId }) => paymentId === settlement.paymentId);
  if (invoice === undefined) return false;
  if (invoice.isForgone === true) {
    settleForgone(draft, invoice, settlement);
    return true;
  }
  switch (settlement.kind) {
    case 'paid':
      announcePaid(draft, invoice, settlement);
      close(draft, invoice.invoiceId);
      break;
    case 'no_method':
    case 'failed':
    case 'errored':
      if (invoice.isVoid === true) {
        if (settlement.kind !== 'no_method') announceFailed(draft, invoice, settlement);
        makeVoid(draft, invoice.invoiceId);
      } else chase(draft, invoice, settlement);
      // If another charge is under way, its answer says whether the mandate is lost.
      if (draft.state.waiting === null) endWithMandate(draft, settlement);
      break;
    default:
      unreachable(settlement);
  }
  // As of now: the answer may be late, and what was blocked since stays blocked.
  draft.reconsider(draft.context.now);
  return true;
}

/** The charge of a change that was taken back: what it took is given back, and nothing begins. */
function settleForgone(
  draft: SubscriptionDraft,
  invoice: OpenInvoice,
  settlement: Settlement,
): void {
  const { invoiceId } = invoice;
  const { at, paymentId } = settlement;
  if (settlement.kind === 'paid') {
    announcePaid(draft, invoice, settlement);
    draft.follow(invoiceId, at, { kind: 'give_back', paymentId, invoiceId });
  } else {
    if (settlement.kind !== 'no_method') announceFailed(draft, invoice, settlement);
    draft.follow(invoiceId, at, { kind: 'void', invoiceId });
  }
  close(draft, invoiceId);
  if (draft.state.waiting === null) endWithMandate(draft, settlement);
}

/**
 * While a charge is under way its answer is awaited: it is announced, and then the invoice closes.
 */
export function closeAfterCharge(
  draft: SubscriptionDraft,
  { invoiceId, how }: { readonly invoiceId: string; readonly how: 'paid' | 'void' },
): void {
  const invoice = draft.state.open.find((other) => other.invoiceId === invoiceId);
  if (how === 'void' && invoice !== undefined) put(draft, { ...invoice, isVoid: true });
}

/** The merchant made it void: its credit returns to the customer. */
export function makeVoid(draft: SubscriptionDraft, invoiceId: string): void {
  const invoice = draft.state.open.find((other) => other.invoiceId === invoiceId);
  if (invoice === undefined) return;
  close(draft, invoiceId);
  giveBack(draft, invoice.credit);
  waive(draft, invoiceId);
  // An unpaid period is worth nothing when the plan changes.
  if (invoiceId === periodInvoiceId(draft)) draft.change({ periodPrice: 0n });
}

/** It was paid in another way. */
export function closePaid(draft: SubscriptionDraft, invoiceId: string): void {
  const invoice = draft.state.open.find((other) => other.invoiceId === invoiceId);
  if (invoice === undefined) return;
  close(draft, invoiceId);
  priceOfPause(draft, invoiceId, invoice.amount);
}

/** Retries an open invoice. */
export function retry(draft: SubscriptionDraft, invoice: OpenInvoice, at: number): void {
  const attempt = String(invoice.attempt + 1);
  const paymentId = draft.context.ids.derive('payment', invoice.invoiceId, attempt);
  charge(draft, invoice, { at, paymentId });
}

/** Orders a charge of it, which has this id. */
export function charge(
  draft: SubscriptionDraft,
  invoice: OpenInvoice,
  { at, paymentId: id }: { readonly at: number; readonly paymentId: string },
): void {
  assert(invoice.paymentId === null, 'one charge of an invoice at a time');
  const attempt = invoice.attempt + 1;
  const { invoiceId, amount, transactionType } = invoice;
  const { currency } = draft.state.plan;
  const payment = { id, invoiceId, amount, currency, attempt, transactionType };
  draft.follow(id, at, { kind: 'collect', payment });
  put(draft, { ...invoice, attempt, paymentId: id, again: false, retryAt: null });
  priceOfPause(draft, invoiceId, amount);
}

/**
 * A period that began during the pause is worth what is charged for it, and nothing once that was
 * in vain: a resume in it would be free. Its invoice goes on being collected until then.
 */
function priceOfPause(draft: SubscriptionDraft, invoiceId: string, periodPrice: bigint): void {
  const { state } = draft;
  if (state.status !== 'paused' || !beganPaused(state)) return;
  if (invoiceId === periodInvoiceId(draft)) draft.change({ periodPrice });
}

/** Retries it as soon as time goes on for the subscription. */
export function retryNext(draft: SubscriptionDraft, invoice: OpenInvoice): void {
  assert(invoice.paymentId === null, 'one charge of an invoice at a time');
  put(draft, { ...invoice, retryAt: draft.context.now });
}

/** Retries with another payment method: at once, or as soon as the charge under way has failed. */
export function retryAnew(draft: SubscriptionDraft, invoice: OpenInvoice): void {
  if (invoice.paymentId === null) return retry(draft, invoice, draft.context.now);
  if (!invoice.again) put(draft, { ...invoice, again: true });
}

/**
 * Goes on after a failed charge: dunning while the subscription lives, else the invoice is void.
 */
function chase(
  draft: SubscriptionDraft,
  invoice: OpenInvoice,
  settlement: Extract<Settlement, { kind: 'failed' | 'errored' | 'no_method' }>,
): void {
  const { at, policy } = settlement;
  if (draft.state.status === 'canceled') {
    if (settlement.kind !== 'no_method')
      announceFailed(draft, { ...invoice, retryAt: null }, settlement);
    if (invoice.isFinal === true) leave(draft, invoice);
    else voidAfterEnd(draft, invoice, at);
    return;
  }
  const hard = settlement.kind !== 'no_method' && settlement.hard;
  const { dunning, retryAt: later } = afterFailure(invoice, { at, policy, hard });
  const retryAt = invoice.again ? draft.context.now : later;
  const failed = { ...invoice, paymentId: null, retryAt, dunning };
  put(draft, failed);
  priceOfPause(draft, invoice.invoiceId, 0n);
  if (settlement.kind !== 'no_method') announceFailed(draft, failed, settlement);
}

/** What was used at the end stays owed. Its credit would be nobody's if it were forgotten, too. */
function leave(draft: SubscriptionDraft, invoice: OpenInvoice): void {
  if (invoice.credit === 0n) close(draft, invoice.invoiceId);
  else put(draft, { ...invoice, paymentId: null, again: false });
}

function put(draft: SubscriptionDraft, invoice: OpenInvoice): void {
  const { open } = draft.state;
  const next = open.map((other) => (other.invoiceId === invoice.invoiceId ? invoice : other));
  draft.change({ open: next });
}

type Charged = {
  readonly invoiceId: string;
  readonly amount: bigint;
  readonly transactionType: 'SUBSCRIPTION_START' | 'RECURRING';
};

/** Contract, Payment event data: a signup is known by its subscription, a renewal by its charge. */
export function announcePaid(
  draft: SubscriptionDraft,
  charged: Charged,
  settlement: Extract<Settlement, { kind: 'paid' }>,
): void {
  const isSignup = charged.transactionType === 'SUBSCRIPTION_START';
  draft.write('payment.succeeded', settlement.at, {
    ...paymentData(draft, charged),
    paymentId: isSignup ? null : settlement.paymentId,
    transactionId: isSignup ? null : settlement.transactionId,
  });
}

/** Announces what a signup on the hosted page paid. It may be nothing. */
export function announceSignup(
  draft: SubscriptionDraft,
  { amount, customerEmail, invoiceId }: SignupPayment,
  at: number,
): void {
  const charged = { invoiceId, amount, transactionType: 'SUBSCRIPTION_START' as const };
  const data = paymentData(draft, charged);
  const email = customerEmail ?? draft.context.customer.email;
  draft.write('payment.succeeded', at, {
    ...data,
    customerEmail: email,
    paymentId: null,
    transactionId: null,
  });
}

export function announceFailed(
  draft: SubscriptionDraft,
  charged: Charged & { readonly attempt: number; readonly retryAt: number | null },
  settlement: Extract<Settlement, { kind: 'failed' | 'errored' }>,
): void {
  const { kind, paymentId, code, message, at, hard } = settlement;
  const data = {
    ...paymentData(draft, charged),
    paymentId,
    transactionId: null,
    failureCode: code,
    failureMessage: message,
    attempt: charged.attempt,
    nextAttemptAt: iso(charged.retryAt),
  };
  if (kind === 'errored') draft.write('payment.errored', at, { ...data, retryable: !hard });
  else draft.write('payment.failed', at, data);
}

function paymentData(
  draft: SubscriptionDraft,
  { invoiceId, amount, transactionType }: Omit<Charged, 'invoiceId'> & { invoiceId: string | null },
): Record<string, unknown> {
  const { customer } = draft.context;
  const { id, plan, signup } = draft.state;
  return {
    subscriptionId: id,
    invoiceId,
    amount: formatMoney(amount, plan.currency),
    currency: plan.currency,
    transactionType,
    ...signup,
    productId: plan.productId,
    customerEmail: customer.email,
    externalCustomerId: externalIdOf(draft.state, customer),
  };
}
