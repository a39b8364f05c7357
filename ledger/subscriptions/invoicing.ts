import { assert, unreachable } from '../kernel/assert.ts';
import { formatMoney } from '../kernel/money.ts';
import {
  type BillingReason,
  type InvoiceLineDraft,
  type OpenInvoice,
  type PaymentOrder,
  type Settlement,
  type SignupPayment,
} from './subscription.ts';
import { externalIdOf } from '../metering/signup.ts';
import { iso } from '../kernel/iso.ts';
import { afterFailure, isMandateLost } from './dunning.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';

/**
 * Invoices of a subscription: a period is billed, a charge is ordered, its answer is applied.
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
type Bill = {
  /** The reason within the subscription: one invoice for each. */
  readonly cause: string;
  readonly reason: BillingReason;
  readonly lines: readonly InvoiceLineDraft[];
  readonly periodStart: number;
  readonly periodEnd: number;
  readonly at: number;
};

export type Billed = {
  readonly invoiceId: string;
  readonly amount: bigint;
  /** The credit of the customer that was used. */
  readonly credit: bigint;
  readonly payment: PaymentOrder | null;
};

/**
 * Orders an invoice and its charge, reduced by the customer's credit. A draft may come to nothing,
 * so it uses no credit.
 */
export function bill(
  draft: SubscriptionDraft,
  { cause, reason, at, ...what }: Bill,
  { isDraft = false }: { readonly isDraft?: boolean } = {},
): Billed {
  const { ids } = draft.context;
  const { id: subscriptionId, plan } = draft.state;
  const invoiceId = ids.derive('invoice', subscriptionId, cause);
  const lines = isDraft ? what.lines : withCredit(draft, what.lines);
  const amount = totalOf(lines);
  assert(amount >= 0n, 'an invoice is never negative');
  const payment: PaymentOrder | null =
    amount === 0n || isDraft
      ? null
      : {
          id: ids.derive('payment', invoiceId, '1'),
          invoiceId,
          amount,
          currency: plan.currency,
          attempt: 1,
          transactionType: reason === 'subscription_create' ? 'SUBSCRIPTION_START' : 'RECURRING',
        };
  const { periodStart, periodEnd } = what;
  const invoice = {
    id: invoiceId,
    reason,
    currency: plan.currency,
    lines,
    periodStart,
    periodEnd,
    isDraft,
  };
  draft.follow(invoiceId, at, { kind: 'bill', invoice, payment });
  return { invoiceId, amount, credit: totalOf(what.lines) - amount, payment };
}

/**
 * Bills a period that goes on even if it is not paid. The start of the period names the invoice.
 */
export function billPeriod(draft: SubscriptionDraft, what: Omit<Bill, 'cause'>): void {
  assert(what.periodStart === draft.state.periodStart, 'what is billed is the period that runs');
  const isDraft = draft.state.status === 'paused';
  const cause = String(what.periodStart);
  const { invoiceId, amount, credit, payment } = bill(draft, { cause, ...what }, { isDraft });
  if (payment === null) return;
  const opened: OpenInvoice = {
    invoiceId,
    amount,
    credit,
    transactionType: payment.transactionType,
    attempt: 1,
    paymentId: payment.id,
    again: false,
    retryAt: null,
    dunning: null,
  };
  draft.change({ open: [...draft.state.open, opened] });
}

/** The invoice of the current period, if that was billed on its own. */
export function periodInvoiceId({ context, state }: SubscriptionDraft): string {
  return context.ids.derive('invoice', state.id, String(state.periodStart));
}

export function totalOf(lines: readonly InvoiceLineDraft[]): bigint {
  return lines.reduce((sum, { unitAmount, quantity }) => sum + unitAmount * BigInt(quantity), 0n);
}

function withCredit(
  draft: SubscriptionDraft,
  lines: readonly InvoiceLineDraft[],
): readonly InvoiceLineDraft[] {
  const { credit } = draft.state;
  const total = totalOf(lines);
  const used = credit < total ? credit : total;
  if (used <= 0n) return lines;
  draft.change({ credit: credit - used });
  const line = { type: 'credit', description: 'Credit', quantity: 1, unitAmount: -used } as const;
  return [...lines, line];
}

/** Applies the answer to a charge of an open invoice. Returns whether it was one. */
export function settleOpen(draft: SubscriptionDraft, settlement: Settlement): boolean {
  const invoice = draft.state.open.find(({ paymentId }) => paymentId === settlement.paymentId);
  if (invoice === undefined) return false;
  switch (settlement.kind) {
    case 'paid':
      announcePaid(draft, invoice, settlement);
      close(draft, invoice.invoiceId);
      break;
    case 'no_method':
    case 'failed':
    case 'errored':
      chase(draft, invoice, settlement);
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

/** Ends the subscription when its mandate is lost. */
export function endWithMandate(draft: SubscriptionDraft, settlement: Settlement): void {
  if (!isMandateLost(settlement) || draft.state.status === 'canceled') return;
  draft.end(settlement.at, 'mandate_lost');
}

/** Removes an invoice that is paid or void. */
export function close(draft: SubscriptionDraft, invoiceId: string): void {
  const { open } = draft.state;
  const left = open.filter((other) => other.invoiceId !== invoiceId);
  if (left.length < open.length) draft.change({ open: left });
}

/** The merchant made it void: its credit returns to the customer. */
export function makeVoid(draft: SubscriptionDraft, invoiceId: string): void {
  const invoice = draft.state.open.find((other) => other.invoiceId === invoiceId);
  if (invoice === undefined) return;
  close(draft, invoiceId);
  draft.change({ credit: draft.state.credit + invoice.credit });
  // An unpaid period is worth nothing when the plan changes.
  if (invoiceId === periodInvoiceId(draft)) draft.change({ periodPrice: 0n });
}

/** Retries an open invoice. */
export function retry(draft: SubscriptionDraft, invoice: OpenInvoice, at: number): void {
  assert(invoice.paymentId === null, 'one charge of an invoice at a time');
  const attempt = invoice.attempt + 1;
  const { invoiceId, amount, transactionType } = invoice;
  const id = draft.context.ids.derive('payment', invoiceId, String(attempt));
  const { currency } = draft.state.plan;
  const payment = { id, invoiceId, amount, currency, attempt, transactionType };
  draft.follow(id, at, { kind: 'collect', payment });
  put(draft, { ...invoice, attempt, paymentId: id, again: false, retryAt: null });
}

/** Retries with another payment method: at once, or as soon as the charge under way has failed. */
export function retryAnew(draft: SubscriptionDraft, invoice: OpenInvoice): void {
  if (invoice.paymentId === null) return retry(draft, invoice, draft.context.now);
  if (!invoice.again) put(draft, { ...invoice, again: true });
}

/** Charges an invoice now, in dunning or not. If a charge is under way, nothing changes. */
export function collect(
  draft: SubscriptionDraft,
  { invoiceId, amount }: { readonly invoiceId: string; readonly amount: bigint },
): void {
  const { open, waiting } = draft.state;
  const known = open.find((invoice) => invoice.invoiceId === invoiceId);
  if (waiting?.invoiceId === invoiceId || (known !== undefined && known.paymentId !== null)) return;
  const unknown: OpenInvoice = {
    invoiceId,
    amount,
    credit: 0n,
    transactionType: 'RECURRING',
    attempt: 0,
    paymentId: null,
    again: false,
    retryAt: null,
    dunning: null,
  };
  if (known === undefined) {
    draft.change({ open: [...open, unknown] });
    // Its period is no longer a draft.
    if (invoiceId === periodInvoiceId(draft)) draft.change({ periodPrice: amount });
  }
  retry(draft, known ?? unknown, draft.context.now);
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
    close(draft, invoice.invoiceId);
    draft.follow(invoice.invoiceId, at, { kind: 'void', invoiceId: invoice.invoiceId });
    return;
  }
  const hard = settlement.kind !== 'no_method' && settlement.hard;
  const { dunning, retryAt: later } = afterFailure(invoice, { at, policy, hard });
  const retryAt = invoice.again ? draft.context.now : later;
  const failed = { ...invoice, paymentId: null, retryAt, dunning };
  put(draft, failed);
  if (settlement.kind !== 'no_method') announceFailed(draft, failed, settlement);
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
  const { kind, paymentId, code, message, at } = settlement;
  const data = {
    ...paymentData(draft, charged),
    paymentId,
    transactionId: null,
    failureCode: code,
    failureMessage: message,
    attempt: charged.attempt,
    nextAttemptAt: iso(charged.retryAt),
  };
  if (kind === 'errored') draft.write('payment.errored', at, { ...data, retryable: true });
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
