import { must } from '../kernel/assert.ts';
import { totalOfInvoice } from './bills.ts';
import { end } from './ending.ts';
import { renew } from './renewal.ts';
import { resumeInTime, settleWaiting } from './pending-payment.ts';
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
 * When the next invoice is made: at the end of the period, or now where that has passed. A resume
 * at a time that begins a period makes one, too.
 */
export function upcomingAt(billing: Billing, id: string, now: number): number | null {
  const subscription = billing.subscriptions.get(id);
  if (subscription === undefined || subscription.status === 'canceled') return null;
  return Math.max(billsAt(subscription), now);
}

/**
 * The renewal at the end of the period, or the end where it is canceled by then, decided without
 * writing. Open invoices are left out: it is as if they were paid. Paused past the period there is
 * a draft, what a resume at its time bills, or nothing; blocked, nothing.
 *
 * `context.now` is `upcomingAt`, and so are its spans. No change waits (`decidePaid`), and other
 * subscriptions have taken what they take of the customer's credit before it (`nextOther`).
 */
export function decideUpcoming(
  context: SubscriptionContext,
  billing: Billing,
  { id, asOf }: { readonly id: string; readonly asOf: number },
): UpcomingInvoice {
  const draft = decideNext(context, billing, id);
  const before = must(billing.subscriptions.get(id), 'what has a next invoice');
  const periodEnd = billsAt(before);
  const [invoice] = draft.followups.flatMap((owed) => (owed.kind === 'bill' ? [owed.invoice] : []));
  const { lines, discount = 0n } = invoice ?? { lines: [] };
  const total = totalOfInvoice({ lines, discount });
  const covers = {
    start: invoice?.periodStart ?? before.periodStart,
    end: invoice?.periodEnd ?? periodEnd,
  };
  return { currency: before.plan.currency, lines, discount, total, covers, periodEnd, asOf };
}

/** What time makes of it next. */
export function decideNext(
  context: SubscriptionContext,
  billing: Billing,
  id: string,
): SubscriptionDraft {
  const draft = new SubscriptionDraft(context, billing, id);
  const at = billsAt(draft.state);
  const { cancelAt, resumesAt } = draft.state;
  if (cancelAt !== null && cancelAt <= at) end(draft, cancelAt, 'cancellation_effective');
  else {
    if (resumesAt !== null && resumesAt <= at) resumeInTime(draft, resumesAt);
    if (!draft.owes && renews(draft.state)) renew(draft, at);
  }
  return draft;
}

/** As if the change that waits for its payment were paid now. */
export function decidePaid(
  context: SubscriptionContext,
  billing: Billing,
  id: string,
): SubscriptionDraft {
  const draft = new SubscriptionDraft(context, billing, id);
  const { paymentId } = must(draft.state.waiting, 'a change that waits');
  settleWaiting(draft, { kind: 'paid', paymentId, at: context.now, transactionId: null });
  return draft;
}

/**
 * Which other subscription has an invoice before the one of `id`, in the order in which the clock
 * bills: it may use credit of the customer, or leave some. null: none that counts.
 */
export function nextOther(
  { subscriptions, account }: Billing,
  {
    id,
    now,
    idle,
  }: { readonly id: string; readonly now: number; readonly idle: ReadonlySet<string> },
): Subscription | null {
  const own = must(subscriptions.get(id), 'a subscription');
  const { currency } = own.plan;
  const others = [...subscriptions.values()].filter(
    (one) => one !== own && one.status !== 'canceled' && one.plan.currency === currency,
  );
  const hasCredit = (account.credit[currency] ?? 0n) > 0n;
  // What ends leaves its credit to the others.
  if (!hasCredit && others.every(({ cancelAt }) => cancelAt === null)) return null;
  const isFirst = (one: Subscription, other: Subscription): boolean =>
    dueOf(one) === dueOf(other) ? one.id < other.id : dueOf(one) < dueOf(other);
  const before = others.filter((one) => !idle.has(one.id) && isFirst(one, own));
  return before.toSorted((a, b) => (isFirst(a, b) ? -1 : 1))[0] ?? null;

  function dueOf(one: Subscription): number {
    return Math.max(billsAt(one), now);
  }
}

/** When time alone makes the next invoice, or would if it did. */
function billsAt(subscription: Subscription): number {
  const { periodEnd, cancelAt, resumesAt } = subscription;
  if (resumesAt === null || !resumeRestarts(subscription, resumesAt)) return periodEnd;
  if (cancelAt !== null && cancelAt <= resumesAt) return periodEnd;
  return renews(subscription) ? Math.min(periodEnd, resumesAt) : resumesAt;
}
