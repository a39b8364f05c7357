// The view of the hosted checkout page: one case for each thing that a buyer can meet. Pure data,
// independent of the records.

import type { SoldUsage } from '../sold-usage.ts';

export type CheckoutView =
  | OpenView
  /**
   * The buyer has to authenticate at the bank; null where the page cannot send the buyer there
   * again.
   */
  | { readonly kind: 'challenge'; readonly sale: Sale; readonly bankUrl: string | null }
  | ElsewhereView
  /** An attempt is in progress: here, in another tab, or at a slow bank. */
  | {
      readonly kind: 'processing';
      readonly sale: Sale;
      readonly email: string | null;
      readonly isSlow: boolean;
    }
  | {
      readonly kind: 'paid';
      readonly sale: Sale;
      readonly receipt: Receipt;
      readonly continueUrl: string | null;
    }
  | ClosedView
  | { readonly kind: 'not_found' };

/** The buyer was led to the processor's page, and has not finished there. */
export type ElsewhereView = {
  readonly kind: 'elsewhere';
  readonly sale: Sale;
  /** Identifies the attempt that the buyer may give up. */
  readonly attempt: string;
  readonly owner: string;
  /** Where it is; null while the processor does not say. */
  readonly pageUrl: string | null;
  readonly backUrl: string | null;
};

/** It cannot be paid any more. `unavailable`: the product is gone or has no price. */
export type ClosedView = {
  readonly kind: 'expired' | 'canceled' | 'locked' | 'unavailable';
  readonly sale: Sale;
  readonly backUrl: string | null;
};

/** What is bought, and from whom. Amounts are in the currency's smallest unit. */
export type Sale = {
  readonly merchant: string;
  readonly product: { readonly name: string; readonly description: string };
  readonly currency: string;
  readonly subtotal: bigint;
  readonly reduction: bigint;
  readonly total: bigint;
  /** The later charges; null for a one-time purchase. */
  readonly recurs: Recurrence | null;
  readonly isTest: boolean;
};

/** A subscription, from its first full price on. */
export type Recurrence = {
  readonly amount: bigint;
  readonly interval: 'day' | 'week' | 'month' | 'year';
  readonly count: number;
  /** The end of the trial; null without one. */
  readonly trialEnd: Date | null;
  /** What usage costs beside it. */
  readonly sold: readonly SoldUsage[];
};

export type OpenView = {
  readonly kind: 'open';
  readonly sale: Sale;
  /** The currencies to choose from, this one included. */
  readonly currencies: readonly string[];
  /** The applied code; null for none. */
  readonly discountCode: string | null;
  readonly email: Known;
  readonly name: Known;
  readonly entered: Entered;
  /**
   * What the form asks for: an instrument; nothing because the processor's page does; nothing
   * because it is free.
   */
  readonly asks: 'instrument' | 'elsewhere' | 'nothing';
  /** Whose page asks; null where none but ours does. */
  readonly owner: string | null;
  readonly errors: readonly FieldError[];
  readonly notice: Notice | null;
  readonly backUrl: string | null;
};

/** Locked where the merchant set the value. */
type Known = { readonly value: string; readonly isLocked: boolean };

/** The other entered values that the page shows again. Never a card's number, nor an account's. */
export type Entered = {
  /** A code that is not applied. */
  readonly discountCode: string;
  readonly method: Method;
};

type Method = 'card' | 'bank_debit';

export type FieldName =
  | 'email'
  | 'name'
  | 'currency'
  | 'discount_code'
  | 'card_number'
  | 'card_expiry'
  | 'card_cvc'
  | 'iban';

export type FieldError = { readonly field: FieldName; readonly message: string };

export type Notice =
  | { readonly kind: 'declined'; readonly message: string; readonly attemptsLeft: number | null }
  | { readonly kind: 'total_changed' };

export type Receipt = {
  readonly paymentId: string;
  readonly email: string;
  readonly method: {
    readonly type: Method;
    readonly brand: string | null;
    readonly last4: string;
  } | null;
  readonly paidAt: Date;
};
