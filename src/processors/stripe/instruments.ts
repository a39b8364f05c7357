// A payment method of Stripe's, as the port shows and names it.
import type Stripe from 'stripe';
import type { Expiry, Method } from '../processor.ts';

/** Bank accounts that are debited. Their debits take days, and need the buyer's mandate once. */
const DEBITS = [
  'au_becs_debit',
  'bacs_debit',
  'nz_bank_account',
  'sepa_debit',
  'us_bank_account',
] as const;

export function methodOf(paid: Stripe.PaymentMethod): Method {
  const { card } = paid;
  if (card !== undefined) return { type: 'card', brand: card.brand, last4: card.last4 };
  for (const type of DEBITS) {
    const account = paid[type];
    if (account !== undefined) {
      return { type: 'bank_debit', brand: null, last4: account.last4 ?? '' };
    }
  }
  // Nothing else is offered, but the merchant may have allowed it at Stripe.
  return { type: 'card', brand: paid.type, last4: '' };
}

export function expiryOf({ card }: Stripe.PaymentMethod): Expiry | null {
  return card === undefined ? null : { month: card.exp_month, year: card.exp_year };
}

/** The name of a saved instrument: its Stripe customer, and itself. */
export function savedName({ customer, method }: Saved): string {
  return `${customer}:${method}`;
}

export type Saved = { readonly customer: string; readonly method: string };

const NAME = /^(cus_\w{1,100}):(pm_\w{1,100})$/;

/** null where it is no name of ours. */
export function savedOf(name: string): Saved | null {
  const [, customer, method] = NAME.exec(name) ?? [];
  return customer === undefined || method === undefined ? null : { customer, method };
}

/**
 * What the page may offer, where the merchant has switched it on at Stripe: cards, with the wallets
 * that hold them, and bank debits. Everything else is paid in a way that the port does not have:
 * with a voucher, in instalments, or from a balance that cannot be charged again.
 */
export const OFFERED: Stripe.Checkout.SessionCreateParams.AllowedPaymentMethodType[] = [
  'card',
  ...DEBITS,
];
