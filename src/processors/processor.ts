// The payment processor as a port: what moves money for us, and what it may answer.
//
// Who implements it: `sandbox.ts` now; a Stripe adapter fits without a change elsewhere (a charge is a payment intent, `key` its
// idempotency key, `findCharge` its retrieval, a redirect its next action). `conformance` in test/processors is what any must pass.
// Holds, for every implementation:
// - A `key` is one charge or one refund for ever: the same call again never moves money twice, and answers what is true now.
// - A method never throws for what a processor may say. What throws, or takes too long, is `unknown` (see `guarded.ts`).
// - `not_attempted` is a promise that nothing was moved and nothing will be under this key unless it is sent again.
// - An instrument is saved by a charge with its buyer there, and by nothing else; it may be charged from when that charge is accepted.
// Amounts are bigints in units of the currency's smallest coin.
import type { FailureCode, RefundFailure } from '../../ledger/payments/payment.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/** How the buyer pays. Where a processor has a page of its own (`page: 'redirect'`), it asks there and gets `null`. */
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
  /** Where a buyer comes back to after an action elsewhere. */
  readonly returnUrl: string;
};

/** A charge of what an earlier one has saved; its buyer is not there. */
export type SavedChargeRequest = Pick<ChargeRequest, 'key' | 'amount' | 'currency'> & {
  readonly saved: string;
};

/** What the processor keeps of the instrument. */
type StoredInstrument = {
  /** Its own name of it, to be charged by later; null where nothing was to be saved. In `pending`, null where that is not known yet. */
  readonly saved: string | null;
  readonly expiry: Expiry | null;
};

export type ChargeResult =
  | ({
      readonly kind: 'succeeded';
      readonly reference: string;
      readonly method: Method;
    } & StoredInstrument)
  /** Accepted, and settles later. */
  | ({
      readonly kind: 'pending';
      readonly reference: string;
      readonly method: Method;
      readonly askAfterMs: number;
    } & StoredInstrument)
  /** The buyer must do something at `url` first. Never the answer where no buyer is there. */
  | {
      readonly kind: 'requires_action';
      readonly reference: string;
      readonly method: Method;
      readonly url: string;
    }
  /** The buyer has done it. Nothing is charged until `confirmCharge`. */
  | {
      readonly kind: 'requires_confirmation';
      readonly reference: string;
      readonly method: Method;
    }
  | {
      readonly kind: 'declined';
      /**
       * Stable: `card_declined`, `insufficient_funds`, … Of what was saved also `authentication_required`, where the bank would ask its
       * buyer, and `mandate_lost`, where it may not be charged any more. Those of HARD_DECLINES (ledger/payments/payment.ts) are final.
       */
      readonly code: FailureCode;
      /** For the buyer to read. */
      readonly message: string;
      readonly method: Method | null;
    }
  /** The processor failed, or never heard of it. */
  | { readonly kind: 'not_attempted'; readonly code: FailureCode; readonly message: string }
  /** No answer: the money may have moved or not. */
  | { readonly kind: 'unknown' };

export type ForgetResult =
  | { readonly kind: 'forgotten' }
  /** No answer: it may have been forgotten or not. */
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
  /** `askAfterMs`: when to look again, where the buyer's bank may still send it back; null where nothing can change any more. */
  | { readonly kind: 'succeeded'; readonly reference: string; readonly askAfterMs: number | null }
  | { readonly kind: 'pending'; readonly reference: string; readonly askAfterMs: number }
  /** Now, or after it had succeeded: the money is still with the merchant. */
  | { readonly kind: 'declined'; readonly reason: RefundFailure }
  | { readonly kind: 'not_attempted' }
  | { readonly kind: 'unknown' };

/** The processor that moves a tenant's money; null where it has none. */
export type ProcessorFor = (tenant: Tenant) => Processor | null;

export type Processor = {
  readonly name: string;
  /** `fields`: our page asks for the instrument. `redirect`: the processor's own does. */
  readonly page: 'fields' | 'redirect';
  charge(request: ChargeRequest): Promise<ChargeResult>;
  chargeSaved(request: SavedChargeRequest): Promise<ChargeResult>;
  /** From then on what was saved is not charged any more: `mandate_lost`. */
  forget(saved: string): Promise<ForgetResult>;
  /** What became of the charge, of either kind. */
  findCharge(key: string): Promise<ChargeResult>;
  /** Charges what its buyer has agreed to at its bank. Of any other charge: answers what is true, and changes nothing. */
  confirmCharge(key: string): Promise<ChargeResult>;
  /**
   * Gives a charge up that waits for its buyer or to be confirmed, or that has not arrived: its key is spent then, and no call that
   * comes late can use it. Answers what is true: `not_attempted` where it was in time.
   */
  cancelCharge(key: string): Promise<ChargeResult>;
  refund(request: RefundRequest): Promise<RefundResult>;
  /** What became of the refund. */
  findRefund(key: string): Promise<RefundResult>;
};
