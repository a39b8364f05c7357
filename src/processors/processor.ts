// The payment processor as a port: what moves money, and its possible answers.
//
// Implemented by `sandbox.ts` and `stripe/`. `conformance` in test/processors must pass for each
// implementation. Holds, for every implementation:
// - A `key` is one charge or one refund for ever. The same call again moves no money twice, and
//   answers the current state.
// - A method does not throw for a processor's answer. An exception or a timeout is `unknown` (see
//   `guarded.ts`).
// - `not_attempted` promises that no money was moved, and that none will be under this key unless
//   it is sent again.
// - An instrument is saved only by a charge with the buyer present. It may be charged when that
//   charge is accepted. Amounts are bigints in the smallest coin of the currency.
import type { DisputeNews, DisputesAnswer } from '../../ledger/payments/dispute.ts';
import type { FailureCode, RefundFailure } from '../../ledger/payments/payment.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/**
 * How the buyer pays. Where a processor has a page of its own (`page: 'redirect'`), it asks there
 * and gets `null`.
 */
export type Instrument =
  | {
      readonly type: 'card';
      readonly number: string;
      /** MM/YY or MM/YYYY as typed. */
      readonly expiry: string;
      readonly cvc: string;
    }
  | { readonly type: 'bank_debit'; readonly iban: string };

/** What may be shown of it, and kept. */
export type Method = {
  readonly type: 'card' | 'bank_debit';
  readonly brand: string | null;
  readonly last4: string;
};

/** The last month in which a card is good. */
export type Expiry = { readonly month: number; readonly year: number };

export type ChargeRequest = {
  /** Our payment's id. */
  readonly key: string;
  /** 0 only where the instrument is to be saved: it is verified then, and nothing is charged. */
  readonly amount: bigint;
  readonly currency: string;
  readonly instrument: Instrument | null;
  /** Whether it is kept, to be charged later without its buyer. */
  readonly save: boolean;
  /**
   * Whether it must wait for `confirmCharge` after the buyer has agreed. Otherwise it may: a bank
   * debit that the buyer agrees to on the processor's page need not.
   */
  readonly confirms?: boolean;
  /** What a page of the processor says is bought, and the address that it begins with. */
  readonly order?: { readonly name: string; readonly email: string };
  /** Where a buyer comes back to after an action elsewhere. */
  readonly returnUrl: string;
};

/** A charge of what an earlier one has saved; its buyer is not there. */
export type SavedChargeRequest = Pick<ChargeRequest, 'key' | 'amount' | 'currency'> & {
  readonly saved: string;
};

/** What the processor keeps of the instrument. */
type StoredInstrument = {
  /**
   * The processor's id of the saved instrument; null where nothing is saved. In `pending`, null
   * while it is not known.
   */
  readonly saved: string | null;
  readonly expiry: Expiry | null;
};

export type ChargeResult =
  | ({
      readonly kind: 'succeeded';
      readonly reference: string;
      readonly method: Method;
      /** What was captured, where the merchant has taken less than the charge there by hand. */
      readonly captured?: bigint;
      /** Disputes that the processor has by now, where it says so. */
      readonly disputes?: readonly Dispute[];
    } & StoredInstrument)
  /** Accepted, and settles later. */
  | ({
      readonly kind: 'pending';
      readonly reference: string;
      readonly method: Method;
      readonly askAfterMs: number;
    } & StoredInstrument)
  /**
   * The buyer must do something at `url` first. Never the answer where no buyer is there. `method`
   * is null while the buyer has not chosen one.
   */
  | {
      readonly kind: 'requires_action';
      readonly reference: string;
      readonly method: Method | null;
      readonly url: string;
    }
  /** The buyer has done it. Nothing is charged until `confirmCharge`. */
  | {
      readonly kind: 'requires_confirmation';
      readonly reference: string;
      readonly method: Method | null;
    }
  | {
      readonly kind: 'declined';
      /**
       * A stable code: `card_declined`, `insufficient_funds`, … For a saved instrument also
       * `authentication_required` (the bank would ask the buyer) and `mandate_lost` (it may not be
       * charged any more). Which are final: ledger/payments/declines.ts.
       */
      readonly code: FailureCode;
      /** For the buyer to read. */
      readonly message: string;
      readonly method: Method | null;
    }
  /** The processor failed or did not receive it. */
  | { readonly kind: 'not_attempted'; readonly code: FailureCode; readonly message: string }
  /** No answer: the money may have moved or not. */
  | { readonly kind: 'unknown' };

export type ForgetResult =
  | { readonly kind: 'forgotten' }
  /** No answer: it may have been removed or not. */
  | { readonly kind: 'unknown' };

export type RefundRequest = {
  /** Our refund's id. */
  readonly key: string;
  /** The key of the charge that it gives back. */
  readonly chargeKey: string;
  readonly amount: bigint;
  readonly currency: string;
};

export type RefundResult =
  /**
   * `askAfterMs`: when to look again, where the buyer's bank may still send it back; null where
   * nothing can change any more.
   */
  | { readonly kind: 'succeeded'; readonly reference: string; readonly askAfterMs: number | null }
  | { readonly kind: 'pending'; readonly reference: string; readonly askAfterMs: number }
  /** Now, or after it had succeeded: the money is still with the merchant. */
  | { readonly kind: 'declined'; readonly reason: RefundFailure }
  | { readonly kind: 'not_attempted' }
  | { readonly kind: 'unknown' };

/**
 * A dispute of a charge as it is now. An inquiry of a bank that has taken nothing yet is none.
 * Lost, `amount` is what was taken; it is lost until the money is back, also while it is appealed.
 */
export type Dispute = DisputeNews;

/** All disputes of the charge, or no answer. */
export type DisputesResult = DisputesAnswer;

/** The processors that move tenants' money. */
export type Processors = {
  /** The one that takes what is new; null where there is none. */
  taking(tenant: Tenant): Processor | null;
  /**
   * The one that took a charge or saved an instrument, also where another takes what is new; null
   * where it is not known.
   */
  named(tenant: Tenant, name: string): Processor | null;
};

export type Processor = {
  /**
   * `sandbox`, or the kind and the account: `stripe:acct_1`. Payments and saved methods keep it.
   */
  readonly name: string;
  /** `fields`: our page asks for the instrument. `redirect`: the processor's own does. */
  readonly page: 'fields' | 'redirect';
  /** The origin of the page that the buyer is led to. */
  readonly pageOrigin: string;
  /** How long a buyer has to act there before the charge is given up. */
  readonly actionMs: number;
  /**
   * How long after a charge is sent it is first asked about: later than its answer may come, for
   * what has not arrived by then is canceled.
   */
  readonly firstAskMs: number;
  /**
   * How long a charge without its buyer is sent again, under its key, while no answer comes. Then
   * it is canceled, and dunning tries another day.
   */
  readonly retryLostMs: number;
  /**
   * Why it never charges this amount, in a sentence that names it; null where it may. Nothing is
   * asked of anybody.
   */
  readonly refusalOf: (amount: bigint, currency: string) => string | null;
  charge(request: ChargeRequest): Promise<ChargeResult>;
  chargeSaved(request: SavedChargeRequest): Promise<ChargeResult>;
  /** Removes a saved instrument: later charges of it answer `mandate_lost`. */
  forget(saved: string): Promise<ForgetResult>;
  /** The current state of the charge, of either kind. */
  findCharge(key: string): Promise<ChargeResult>;
  /**
   * Makes a charge that the buyer has confirmed at the bank. For any other charge it answers the
   * current state and changes nothing.
   */
  confirmCharge(key: string): Promise<ChargeResult>;
  /**
   * Cancels a charge that waits for the buyer or for confirmation, or that has not arrived. Its key
   * is then used up, so a late call cannot charge. Answers the current state: `not_attempted` if it
   * was in time.
   */
  cancelCharge(key: string): Promise<ChargeResult>;
  refund(request: RefundRequest): Promise<RefundResult>;
  /** The current state of the refund. */
  findRefund(key: string): Promise<RefundResult>;
  /**
   * The current state of all disputes of the charge with this key; none where there is no charge.
   */
  findDisputes(chargeKey: string): Promise<DisputesResult>;
};
