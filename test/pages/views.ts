// One of each thing that the checkout page can show, with texts that a test chooses.
import { everySoldUsage } from './sold-usage-views.ts';
import type { CheckoutView, OpenView, Sale } from '../../src/pages/checkout/view.ts';

export type Texts = {
  readonly merchant: string;
  readonly product: string;
  readonly description: string;
  readonly email: string;
  readonly name: string;
  readonly code: string;
  readonly message: string;
};

export const PLAIN: Texts = {
  merchant: 'Northwind Press',
  product: 'The Field Guide to Bridges',
  description: 'Hardcover, 312 pages, with a fold-out map of every toll house that still stands.',
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  code: 'SPRING25',
  message: 'Your card was declined. Use another card, or ask your bank.',
};

/** Every state of the page by its name. */
export function everyView(texts: Texts): Readonly<Record<string, CheckoutView>> {
  const sale: Sale = {
    merchant: texts.merchant,
    product: { name: texts.product, description: texts.description },
    currency: 'EUR',
    subtotal: 4800n,
    reduction: 0n,
    total: 4800n,
    recurs: null,
    isTest: true,
  };
  const reduced: Sale = { ...sale, reduction: 1200n, total: 3600n };
  const open: OpenView = {
    kind: 'open',
    sale,
    currencies: ['EUR', 'USD', 'JPY'],
    discountCode: null,
    email: { value: '', isLocked: false },
    name: { value: '', isLocked: false },
    entered: { discountCode: '', method: 'card' },
    asks: 'instrument',
    owner: null,
    errors: [],
    notice: null,
    backUrl: 'https://shop.example/cart',
  };
  const recurs = { amount: 4800n, interval: 'month', count: 1, trialEnd: null } as const;
  const monthly = { ...recurs, sold: everySoldUsage(texts.product) };
  const trial = { ...monthly, sold: [], count: 3, trialEnd: new Date('2026-12-05T10:15:00Z') };
  const nothing = { subtotal: 0n, total: 0n };
  const backUrl = 'https://shop.example/cart';
  const receipt = {
    paymentId: '01982f0c-8d7e-7c33-9a51-2f0d6b1c4e77',
    email: texts.email,
    method: { type: 'card', brand: 'visa', last4: '4242' },
    paidAt: new Date('2026-11-21T10:15:00Z'),
  } as const;
  return {
    open,
    reduced: {
      ...open,
      sale: reduced,
      currencies: ['EUR'],
      discountCode: texts.code,
      email: { value: texts.email, isLocked: true },
      name: { value: texts.name, isLocked: true },
      entered: { discountCode: '', method: 'bank_debit' },
    },
    wrong: {
      ...open,
      email: { value: texts.email, isLocked: false },
      name: { value: texts.name, isLocked: false },
      entered: { discountCode: texts.code, method: 'card' },
      errors: [
        { field: 'discount_code', message: 'This code is not known.' },
        { field: 'email', message: 'Enter an e-mail address, such as ada@example.com.' },
        { field: 'card_number', message: 'Enter the number of your card: 12 to 19 digits.' },
        { field: 'card_expiry', message: 'Enter an expiry date that is still to come.' },
        { field: 'card_cvc', message: 'Enter the 3 or 4 digits.' },
      ],
    },
    declined: {
      ...open,
      email: { value: texts.email, isLocked: false },
      notice: { kind: 'declined', message: texts.message, attemptsLeft: 4 },
    },
    total_changed: { ...open, sale: reduced, notice: { kind: 'total_changed' } },
    free: {
      ...open,
      sale: { ...sale, reduction: 4800n, total: 0n },
      discountCode: texts.code,
      asks: 'nothing',
    },
    subscribe: { ...open, sale: { ...sale, recurs: monthly } },
    trial: { ...open, sale: { ...sale, ...nothing, recurs: trial } },
    subscribed: {
      kind: 'paid',
      sale: { ...sale, ...nothing, recurs: trial },
      receipt,
      continueUrl: null,
    },
    leads_on: { ...open, asks: 'elsewhere', owner: 'Stripe' },
    leads_on_trial: {
      ...open,
      sale: { ...sale, ...nothing, recurs: trial },
      asks: 'elsewhere',
      owner: 'Stripe',
    },
    elsewhere: {
      kind: 'elsewhere',
      sale,
      attempt: '01982f0c-8d7e-7c33-9a51-2f0d6b1c4e77',
      owner: 'Stripe',
      pageUrl: 'https://checkout.stripe.com/c/pay/cs_1',
      backUrl,
    },
    elsewhere_unknown: {
      kind: 'elsewhere',
      sale,
      attempt: '01982f0c-8d7e-7c33-9a51-2f0d6b1c4e77',
      owner: 'Stripe',
      pageUrl: null,
      backUrl: null,
    },
    challenge: { kind: 'challenge', sale, bankUrl: 'https://bank.example/confirm' },
    processing: { kind: 'processing', sale, email: texts.email, isSlow: false },
    processing_slow: { kind: 'processing', sale, email: texts.email, isSlow: true },
    paid: { kind: 'paid', sale: reduced, receipt, continueUrl: 'https://shop.example/thanks' },
    expired: { kind: 'expired', sale, backUrl },
    canceled: { kind: 'canceled', sale, backUrl: null },
    locked: { kind: 'locked', sale, backUrl },
    unavailable: { kind: 'unavailable', sale, backUrl: null },
    not_found: { kind: 'not_found' },
  };
}
