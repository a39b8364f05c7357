import { assert } from '../kernel/assert.ts';
import { invoiceIdOf } from './invoice-ids.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';
import {
  type BillingReason,
  type InvoiceDraft,
  type InvoiceLineDraft,
  type OpenInvoice,
  type PaymentOrder,
  type Plan,
  type UsageLineDraft,
  discountOf,
  isTrial,
} from './subscription.ts';
import { keepHeld, owesUsage, usageLines } from './usage-billing.ts';

/**
 * Makes the invoices of a subscription: lines, credit, the order to charge.
 *
 * How it works: a bill is a follow-up, which `src/subscriptions` executes after the flush. Usage
 * that has closed by then is billed with it. `invoicing.ts` applies what comes back.
 * What holds: ids are derived from what is billed, so an order may be repeated. A total is never
 * negative: what is left over is the customer's credit. A discount is for a whole period, so it
 * comes off that and not off usage, and before any credit does.
 */
type Bill = {
  /** The reason within the subscription: one invoice for each. */
  readonly cause: string;
  readonly reason: BillingReason;
  readonly lines: readonly InvoiceLineDraft[];
  /** Whose periods they are, if not those of the present plan. */
  readonly plan?: Plan;
  readonly periodStart: number;
  readonly periodEnd: number;
  readonly at: number;
  /** Usage that has closed by then is billed, too; none by default. */
  readonly usageUntil?: number;
};

export type Billed = {
  readonly invoiceId: string;
  readonly amount: bigint;
  /** The credit of the customer that was used. */
  readonly credit: bigint;
  readonly payment: PaymentOrder | null;
};

/**
 * Orders an invoice and its charge, reduced by the customer's credit.
 */
export function bill(
  draft: SubscriptionDraft,
  { cause, reason, at, usageUntil, ...what }: Bill,
  { isDraft = false }: { readonly isDraft?: boolean } = {},
): Billed {
  const { ids } = draft.context;
  const { id: subscriptionId, plan } = draft.state;
  const invoiceId = invoiceIdOf(ids, { subscriptionId, cause });
  // What the merchant may drop bills no usage, and uses neither credit nor a discount.
  const usage =
    isDraft || usageUntil === undefined ? [] : usageLines(draft, { invoiceId, until: usageUntil });
  const asked = [...what.lines, ...usage];
  const isPeriod = !isDraft && what.lines.some(({ type }) => type === 'recurring');
  const discount = isPeriod ? discountOf(draft.state, what.plan ?? plan) : 0n;
  const { lines, credit } = isDraft
    ? { lines: asked, credit: 0n }
    : withCredit(draft, asked, discount);
  const amount = totalOf(lines) - discount;
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
    productId: (what.plan ?? plan).productId,
    currency: plan.currency,
    lines,
    ...(discount > 0n && { discount }),
    periodStart,
    periodEnd,
    isDraft,
  };
  draft.follow(invoiceId, at, { kind: 'bill', invoice, payment });
  return { invoiceId, amount, credit, payment };
}

/**
 * Bills a period that goes on even if it is not paid. The start of the period names the invoice.
 */
export function billPeriod(draft: SubscriptionDraft, what: Omit<Bill, 'cause'>): void {
  assert(what.periodStart === draft.state.periodStart, 'what is billed is the period that runs');
  const isDraft = draft.state.status === 'paused';
  const cause = String(what.periodStart);
  open(draft, bill(draft, { cause, ...what }, { isDraft }));
  if (!isDraft) draft.change({ discount: null });
}

/** It is charged, and known until it is paid or void. */
function open(
  draft: SubscriptionDraft,
  { invoiceId, amount, credit, payment }: Billed,
  kind: Pick<OpenInvoice, 'isFinal'> = {},
): void {
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
    ...kind,
  };
  draft.change({ open: [...draft.state.open, opened] });
}

/**
 * Bills what is left of the usage of a subscription that has ended. Where it comes to nothing there
 * is no invoice.
 */
export function billLeftUsage(
  draft: SubscriptionDraft,
  { cause, at }: { readonly cause: string; readonly at: number },
): void {
  if (!owesUsage(draft, at)) {
    keepHeld(draft, at);
    return draft.forgetSpans();
  }
  billUsage(draft, { cause, at }, (invoiceId) => usageLines(draft, { invoiceId, until: at }));
}

/** One more last invoice; none without a line. */
export function billUsage(
  draft: SubscriptionDraft,
  { cause, at }: { readonly cause: string; readonly at: number },
  linesOf: (invoiceId: string) => readonly UsageLineDraft[],
): void {
  const subscriptionId = draft.state.id;
  const lines = linesOf(invoiceIdOf(draft.context.ids, { subscriptionId, cause }));
  if (lines.length === 0) return;
  const periodStart = Math.min(...lines.map((line) => line.periodStart));
  const periodEnd = Math.max(...lines.map((line) => line.periodEnd));
  const reason = 'usage';
  const billed = bill(draft, { cause, reason, lines, periodStart, periodEnd, at });
  open(draft, billed, { isFinal: true });
}

/** Removes an invoice that is paid or void. */
export function close(draft: SubscriptionDraft, invoiceId: string): void {
  const { open: unpaid } = draft.state;
  const left = unpaid.filter((other) => other.invoiceId !== invoiceId);
  if (left.length < unpaid.length) draft.change({ open: left });
}

/** The invoice of the current period, if that was billed on its own. */
export function periodInvoiceId({ context, state }: SubscriptionDraft): string {
  return invoiceIdOf(context.ids, { subscriptionId: state.id, cause: String(state.periodStart) });
}

/** What is to be paid for an invoice. */
export function totalOfInvoice({ lines, discount = 0n }: Pick<InvoiceDraft, 'lines' | 'discount'>) {
  return totalOf(lines) - discount;
}

export function totalOf(lines: readonly InvoiceLineDraft[]): bigint {
  return lines.reduce((sum, line) => sum + amountOfLine(line), 0n);
}

export function amountOfLine(line: InvoiceLineDraft): bigint {
  return 'amount' in line ? line.amount : line.unitAmount * BigInt(line.quantity);
}

/**
 * Uses the credit of the subscription, then the customer's; or keeps what is given back beyond the
 * total.
 */
function withCredit(
  draft: SubscriptionDraft,
  lines: readonly InvoiceLineDraft[],
  discount: bigint,
): { readonly lines: readonly InvoiceLineDraft[]; readonly credit: bigint } {
  const total = totalOf(lines) - discount;
  if (total < 0n) {
    giveBack(draft, -total);
    return { lines: [...lines, creditLine('Credit for later invoices', -total)], credit: 0n };
  }
  const { credit: own, plan } = draft.state;
  const ownUsed = own < total ? own : total;
  const shared = draft.account.credit[plan.currency] ?? 0n;
  const sharedUsed = shared < total - ownUsed ? shared : total - ownUsed;
  const used = ownUsed + sharedUsed;
  if (used === 0n) return { lines, credit: 0n };
  if (ownUsed > 0n) draft.change({ credit: own - ownUsed });
  if (sharedUsed > 0n) addSharedCredit(draft, -sharedUsed);
  return { lines: [...lines, creditLine('Credit', -used)], credit: used };
}

function creditLine(description: string, unitAmount: bigint): InvoiceLineDraft {
  return { type: 'credit', description, quantity: 1, unitAmount };
}

/**
 * Credit for later invoices: of the subscription, and after its end of any in its currency. So it
 * is in a trial: what one has of its own is read as its discount, as a release before had it.
 */
export function giveBack(draft: SubscriptionDraft, amount: bigint): void {
  const { status, credit } = draft.state;
  if (amount === 0n) return;
  if (status === 'canceled' || isTrial(draft.state)) addSharedCredit(draft, amount);
  else draft.change({ credit: credit + amount });
}

function addSharedCredit(draft: SubscriptionDraft, amount: bigint): void {
  const { currency } = draft.state.plan;
  const { [currency]: before = 0n, ...others } = draft.account.credit;
  const credit = before + amount;
  assert(credit >= 0n, 'a credit is owed to the customer, never by it');
  draft.changeAccount({ credit: credit === 0n ? others : { ...others, [currency]: credit } });
}
