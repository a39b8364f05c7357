// The door to everything that moves money: what routes and pages may ask, and each answer they may get.
import type { Instrument } from '../processors/processor.ts';

/** What a buyer sends from the hosted page. */
export type Order = {
  /** null where the checkout came with one. */
  readonly email: string | null;
  readonly name: string | null;
  readonly currency: string;
  readonly discountCode: string | null;
  /** What the page said it costs, in the currency's smallest coin: never charge what nobody saw. */
  readonly total: bigint;
  /** null for a processor that asks on a page of its own, and where nothing is due. */
  readonly instrument: Instrument | null;
};

export type PayOutcome =
  /** Look at the checkout: it is paid, in progress, or open again with its last payment declined. */
  | { readonly kind: 'attempted' }
  /** The buyer has to go there first. */
  | { readonly kind: 'requires_action'; readonly url: string }
  /** Paid, expired, canceled, or being paid in another tab. Nothing was done. */
  | { readonly kind: 'not_open' }
  /** Too many attempts. Nothing was done. */
  | { readonly kind: 'locked' }
  /** The price or the discount is not what the page said any more. Nothing was done. */
  | { readonly kind: 'total_changed' }
  | { readonly kind: 'discount_refused' }
  | { readonly kind: 'email_required' };

export type Payments = {
  /** Tries to pay the checkout with this token. */
  pay(token: string, order: Order): Promise<PayOutcome>;
  /** Asks the processor what became of the checkout's payment, where that is open: the buyer came back, or waits. */
  refresh(checkoutId: string): Promise<void>;
};
