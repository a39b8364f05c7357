// What the hosted checkout page can show: one case for each thing that a buyer can meet. Pure data;
// nothing here knows a record.

export type CheckoutView =
  | OpenView
  /** The buyer has to confirm it with the bank first; null where nobody can be sent there again. */
  | { readonly kind: 'challenge'; readonly sale: Sale; readonly bankUrl: string | null }
  /** An attempt is under way: here, in another tab, or at a bank that takes its time. */
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

/** It cannot be paid any more; `unavailable`: what is sold is gone, or has no price. */
export type ClosedView = {
  readonly kind: 'expired' | 'canceled' | 'locked' | 'unavailable';
  readonly sale: Sale;
  readonly backUrl: string | null;
};

/** What is bought, and from whom. Amounts are in the currency's smallest coin. */
export type Sale = {
  readonly merchant: string;
  readonly product: { readonly name: string; readonly description: string };
  readonly currency: string;
  readonly subtotal: bigint;
  readonly reduction: bigint;
  readonly total: bigint;
  /** What comes after it; null for what is bought once. */
  readonly recurs: Recurrence | null;
  readonly isTest: boolean;
};

/** A subscription, from its first full price on. */
export type Recurrence = {
  readonly amount: bigint;
  readonly interval: 'day' | 'week' | 'month' | 'year';
  readonly count: number;
  /** Until when it is free; null where it is not. */
  readonly trialEnd: Date | null;
};

export type OpenView = {
  readonly kind: 'open';
  readonly sale: Sale;
  /** What the buyer may choose from, this one included. */
  readonly currencies: readonly string[];
  /** The code that is taken into account; null for none. */
  readonly discountCode: string | null;
  readonly email: Known;
  readonly name: Known;
  readonly entered: Entered;
  /**
   * What has to be asked for: the means to pay, nothing because a page of the processor does, or
   * nothing because it is free.
   */
  readonly asks: 'instrument' | 'elsewhere' | 'nothing';
  readonly errors: readonly FieldError[];
  readonly notice: Notice | null;
  readonly backUrl: string | null;
};

/** Locked where the merchant has said it. */
type Known = { readonly value: string; readonly isLocked: boolean };

/**
 * What else the buyer entered and gets back when the page is shown again. Never a card's number,
 * nor an account's.
 */
export type Entered = {
  /** A code that is not taken into account. */
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
