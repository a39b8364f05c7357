// Builds the view of a checkout page from its records.
import { must } from '../../../ledger/kernel/assert.ts';
import type {
  CheckoutView,
  ClosedView,
  OpenView,
  Recurrence,
  Sale,
} from '../../pages/checkout/view.ts';
import type { SoldUsage } from '../../pages/sold-usage.ts';
import type { Quote } from '../../payments/quote.ts';
import { paidUrl } from '../../payments/urls.ts';
import { pageOf, type ProcessorPage } from '../processor-page.ts';
import type { Processor } from '../../processors/processor.ts';
import type { CheckoutRecord } from '../../records/checkouts.ts';
import type { PaymentRecord } from '../../records/payments.ts';
import type { PriceRecord } from '../../records/products.ts';
import { trialEndOf } from '../../subscriptions/plans.ts';
import type { Session, Terms } from './session.ts';

/** What an open checkout shows beside its price. */
export type FormState = Pick<OpenView, 'errors' | 'notice'> & {
  readonly email: string;
  readonly name: string;
  readonly method: OpenView['entered']['method'];
};

/**
 * The first view, before the buyer enters anything: the buyer's known fields, and why the last
 * attempt failed.
 */
export function initialForm({ checkout, payment }: Session, attemptsMax: number): FormState {
  const method = payment?.method?.type ?? 'card';
  return {
    email: checkout.customerEmail ?? '',
    name: checkout.customerName ?? '',
    method,
    errors: [],
    notice:
      payment === null || isGivenUp(payment) ? null : declined(payment, checkout, attemptsMax),
  };
}

/** The buyer wanted to start anew, so there is nothing to explain. */
function isGivenUp({ status, failureCode }: PaymentRecord): boolean {
  return status === 'canceled' && failureCode === 'canceled';
}

function declined(
  { failureMessage }: PaymentRecord,
  { attempts }: CheckoutRecord,
  attemptsMax: number,
): OpenView['notice'] {
  return {
    kind: 'declined',
    message: failureMessage ?? 'It was not confirmed.',
    attemptsLeft: attemptsMax === 0 ? null : attemptsMax - attempts,
  };
}

export function openView(
  session: Session,
  options: {
    readonly terms: Terms;
    readonly shown: FormState;
    readonly asks: Asks;
    readonly processor: Processor;
    readonly now: number;
    /** What usage of a subscription costs. */
    readonly sold: readonly SoldUsage[];
  },
): OpenView {
  const { terms, shown, asks } = options;
  const { checkout } = session;
  const said = knownBuyerOf(checkout);
  const { currencies, discount, currency, subtotal, reduction, total, price } = terms.quote;
  const recurs = recurrenceOf(price, options.now, options.sold);
  return {
    kind: 'open',
    sale: saleOf(session, { currency, subtotal, reduction, total, recurs }),
    currencies,
    discountCode: discount?.code ?? null,
    email: { value: said.email ?? shown.email, isLocked: said.email !== null },
    name: { value: said.name ?? shown.name, isLocked: said.name !== null },
    entered: { method: shown.method, discountCode: terms.refusedCode },
    asks,
    owner: asks === 'elsewhere' ? (pageOf(options.processor)?.owner ?? null) : null,
    errors: [...terms.errors, ...shown.errors],
    notice: shown.notice,
    backUrl: checkout.cancelUrl,
  };
}

export type Asks = OpenView['asks'];

/**
 * The fields that are needed to charge the total and what follows it: later periods, and usage.
 */
export function asksOf(
  { total, price }: Quote,
  sold: readonly SoldUsage[],
  processor: Processor,
): Asks {
  const isLater = price.type === 'recurring' && (price.amount > 0n || sold.length > 0);
  if (total === 0n && !isLater) return 'nothing';
  return processor.page === 'fields' ? 'instrument' : 'elsewhere';
}

/**
 * What the merchant said of the buyer. A buy link is open to anyone: its fields come from the last
 * attempt.
 */
export function knownBuyerOf({ source, customerEmail, customerName }: CheckoutRecord): KnownBuyer {
  return source === 'api'
    ? { email: customerEmail, name: customerName }
    : { email: null, name: null };
}

export type KnownBuyer = { readonly email: string | null; readonly name: string | null };

/** Whether all attempts are used; 0 means no limit. */
export function isSpent({ attempts }: CheckoutRecord, attemptsMax: number): boolean {
  return attemptsMax > 0 && attempts >= attemptsMax;
}

/** The view of a checkout that cannot be paid now. */
export function closedView(session: Session, kind: ClosedView['kind']): ClosedView {
  return { kind, sale: soldOf(session), backUrl: session.checkout.cancelUrl };
}

/**
 * `page`: the processor's, where the payment led to it. `actionUrl`: where the buyer has to act.
 */
export function processingView(
  session: Session,
  { page, actionUrl }: { readonly page: ProcessorPage | null; readonly actionUrl: string | null },
): CheckoutView {
  const { checkout, payment } = session;
  const sale = soldOf(session);
  if (payment?.status === 'requires_action') {
    if (page === null) return { kind: 'challenge', sale, bankUrl: actionUrl };
    const attempt = payment.id;
    const backUrl = checkout.cancelUrl;
    return { kind: 'elsewhere', sale, attempt, owner: page.owner, pageUrl: actionUrl, backUrl };
  }
  const isSlow = payment?.method?.type === 'bank_debit';
  return { kind: 'processing', sale, email: checkout.customerEmail, isSlow };
}

export function paidView(session: Session): CheckoutView {
  const { checkout } = session;
  const payment = must(session.payment, 'what paid the checkout');
  return {
    kind: 'paid',
    sale: soldOf(session),
    receipt: {
      paymentId: payment.id,
      email: payment.customerEmail ?? '',
      method: payment.method,
      paidAt: must(checkout.paidAt, 'when it was paid'),
    },
    continueUrl: continueUrlOf(checkout),
  };
}

/** Where a paid buyer is redirected; null where it is not paid, or the page is the end. */
export function continueUrlOf(checkout: CheckoutRecord): string | null {
  const { id, token, successUrl, status } = checkout;
  return successUrl === null || status !== 'paid' ? null : paidUrl(successUrl, { id, token });
}

function soldOf(session: Session): Sale {
  const { currency, subtotal, amount: total, priceId, paidAt, createdAt } = session.checkout;
  const price = session.product.prices.find(({ id }) => id === priceId);
  const since = (paidAt ?? createdAt).getTime();
  const recurs = price === undefined ? null : recurrenceOf(price, since, []);
  return saleOf(session, { currency, subtotal, reduction: subtotal - total, total, recurs });
}

function saleOf(
  { checkout, product, merchant }: Session,
  amounts: Pick<Sale, 'currency' | 'subtotal' | 'reduction' | 'total' | 'recurs'>,
): Sale {
  const { name, description } = product;
  return { merchant, product: { name, description }, ...amounts, isTest: checkout.mode === 'test' };
}

function recurrenceOf(
  price: PriceRecord,
  since: number,
  sold: readonly SoldUsage[],
): Recurrence | null {
  const { amount, interval, intervalCount: count, trialDays } = price;
  if (interval === null || count === null) return null;
  const trialEnd = trialEndOf(trialDays, since);
  return { amount, interval, count, trialEnd: trialEnd === null ? null : new Date(trialEnd), sold };
}
