import { totalOfInvoice } from './bills.ts';
import { end } from './ending.ts';
import { renew } from './renewal.ts';
import { resume } from './pending-payment.ts';
import {
  type Billing,
  type InvoiceLineDraft,
  type Subscription,
  renews,
  resumeRestarts,
} from './subscription.ts';
import { SubscriptionDraft, type SubscriptionContext } from './subscription-draft.ts';

/** What the next invoice of a subscription would bill. */
export type UpcomingInvoice = {
  readonly currency: string;
  /** None where nothing would be billed. */
  readonly lines: readonly InvoiceLineDraft[];
  readonly discount: bigint;
  readonly total: bigint;
  /** What the invoice is for: the next period, or the last one where it ends. */
  readonly covers: { readonly start: number; readonly end: number };
  /** When it is made: the end of the present period, or a resume that begins another one. */
  readonly periodEnd: number;
  /** When it was reckoned. */
  readonly asOf: number;
};

/**
 * When the next invoice is made: at the end of the period, or now where that has passed. A resume at a
 * time that begins a period makes one, too.
 */
export function upcomingAt(billing: Billing, id: string, now: number): number | null {
  const subscription = billing.subscriptions.get(id);
  if (subscription === undefined || subscription.status === 'canceled') return null;
  return Math.max(billsAt(subscription), now);
}

/**
 * The renewal at the end of the period, or the end where it is canceled by then, decided without
 * writing. A payment under way and open invoices are left out: it is as if they were paid. Paused
 * past the period there is a draft, what a resume at its time bills, or nothing; blocked, nothing.
 *
 * `context.now` is `upcomingAt`, and so are its spans.
 */
export function decideUpcoming(
  context: SubscriptionContext,
  billing: Billing,
  { id, asOf }: { readonly id: string; readonly asOf: number },
): UpcomingInvoice {
  const draft = new SubscriptionDraft(context, billing, id);
  draft.change({ waiting: null });
  const periodEnd = billsAt(draft.state);
  const { periodStart, cancelAt, resumesAt, plan } = draft.state;
  if (cancelAt !== null && cancelAt <= periodEnd) end(draft, cancelAt, 'cancellation_effective');
  else {
    if (resumesAt !== null && resumesAt <= periodEnd) resume(draft, { at: resumesAt });
    if (!draft.owes && renews(draft.state)) renew(draft, periodEnd);
  }
  const [invoice] = draft.followups.flatMap((owed) => (owed.kind === 'bill' ? [owed.invoice] : []));
  const { lines, discount = 0n } = invoice ?? { lines: [] };
  const total = totalOfInvoice({ lines, discount });
  const covers = {
    start: invoice?.periodStart ?? periodStart,
    end: invoice?.periodEnd ?? periodEnd,
  };
  return { currency: plan.currency, lines, discount, total, covers, periodEnd, asOf };
}

/** When time alone makes the next invoice, or would if it did. */
function billsAt(subscription: Subscription): number {
  const { periodEnd, cancelAt, resumesAt } = subscription;
  if (resumesAt === null || !resumeRestarts(subscription, resumesAt)) return periodEnd;
  if (cancelAt !== null && cancelAt <= resumesAt) return periodEnd;
  return renews(subscription) ? Math.min(periodEnd, resumesAt) : resumesAt;
}
