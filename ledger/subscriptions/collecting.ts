import {
  type Billing,
  type Chargeable,
  type OpenInvoice,
  subscriptionDue,
} from './subscription.ts';
import { isBeingReplaced } from './pending-payment.ts';
import { periodInvoiceId } from './bills.ts';
import { charge, retry } from './invoicing.ts';
import { SubscriptionDraft, type SubscriptionContext } from './subscription-draft.ts';

/**
 * Charges an invoice because the merchant or the buyer wants it paid now.
 *
 * How it works: a subscription keeps in mind what it chases. It has forgotten an invoice that is
 * paid before the invoice itself is marked, and it never chased the draft of a pause that the
 * merchant has finalised, nor what its end left open. So the invoice is looked up first, while
 * nothing else is decided about the subscription: only what is stored as unpaid, without a live
 * payment and with nothing owed about it, may be charged.
 * What holds: one live payment of an invoice at a time. A subscription that has ended announces
 * what is paid of it, in the order of its events.
 */

export type Collected =
  /** A charge of it is ordered, or is under way. */
  | 'ordered'
  /** A pending change replaces it: to charge both would be to charge twice. */
  | 'being_replaced'
  /** Something else is due first, which may change the invoice. */
  | 'due_first';

export type CollectDecision = {
  readonly outcome: Collected;
  readonly draft: SubscriptionDraft | null;
};

export function decideCollect(
  context: SubscriptionContext,
  billing: Billing,
  invoice: Chargeable,
): CollectDecision {
  const { subscription } = invoice;
  const draft = new SubscriptionDraft(context, billing, subscription.id, subscription);
  if (subscriptionDue(draft.state) <= context.now) return { outcome: 'due_first', draft: null };
  if (isBeingReplaced(draft, invoice.invoiceId)) return { outcome: 'being_replaced', draft: null };
  collect(draft, invoice);
  return { outcome: 'ordered', draft };
}

/** In dunning or not. If a charge is under way, nothing changes. */
function collect(draft: SubscriptionDraft, { invoiceId, amount, attempts }: Chargeable): void {
  const { open, waiting, status } = draft.state;
  const known = open.find((invoice) => invoice.invoiceId === invoiceId);
  if (waiting?.invoiceId === invoiceId || (known !== undefined && known.paymentId !== null)) return;
  const hasEnded = status === 'canceled';
  if (known !== undefined && !hasEnded) return retry(draft, known, draft.context.now);
  const unknown: OpenInvoice = {
    invoiceId,
    amount,
    credit: known?.credit ?? 0n,
    transactionType: 'RECURRING',
    attempt: attempts,
    paymentId: null,
    again: false,
    retryAt: null,
    dunning: null,
    // Nobody chases what an ended subscription left.
    ...(hasEnded && { isFinal: true }),
  };
  draft.change({ open: [...open.filter((other) => other !== known), unknown] });
  // Its period is no longer a draft.
  if (invoiceId === periodInvoiceId(draft)) draft.change({ periodPrice: amount });
  // A try for which there was nothing to charge had this number too, and no payment counts it.
  charge(draft, unknown, { at: draft.context.now, paymentId: draft.context.ids.next() });
}
