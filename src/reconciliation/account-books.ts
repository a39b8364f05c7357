// What reconciliation reads of an account at a processor: pages of its lists, newest first, and
// single charges, refunds and disputes.
//
// Holds: nothing is written there. Each call asks once, and throws where there is no answer or a
// refusal.
import type { NewPayout } from '../records/payouts.ts';
import type { Side } from './compare.ts';
import type { PayoutItem } from './payout-sums.ts';

/** By the processor's clock; the end is not in it. */
export type Window = { readonly since: Date; readonly until: Date };

/** Rows, and behind which one the next page begins; null where there is none. */
export type Rows<T> = { readonly rows: readonly T[]; readonly next: string | null };

export type TheirCharge = Side & {
  readonly subject: 'charge';
  readonly reference: string;
  /** What we named it by; null where another program or organisation made it. */
  readonly key: string | null;
};

export type TheirRefund = Side & {
  readonly subject: 'refund';
  readonly reference: string;
  /** null where it was made by hand, or by another program or organisation. */
  readonly key: string | null;
  /** The charge that it gives back. */
  readonly charge: string | null;
};

/** `succeeded`: lost, so its money has moved. `failed`: won. */
export type TheirDispute = Side & {
  readonly subject: 'dispute';
  readonly reference: string;
  readonly charge: string;
};

/** What moved the balance. */
export type TheirTransaction = {
  readonly id: string;
  /** In the currency of the balance, in the processor's units. */
  readonly amount: bigint;
  readonly fee: bigint;
  readonly currency: string;
  readonly createdAt: Date;
  /** What it was for; null for what has nothing to do with a buyer. */
  readonly source: TheirCharge | TheirRefund | TheirDispute | null;
};

export type AccountBooks = {
  transactions(window: Window, after: string | null): Promise<Rows<TheirTransaction>>;
  disputes(window: Window, after: string | null): Promise<Rows<TheirDispute>>;
  payouts(since: Date, after: string | null): Promise<Rows<NewPayout>>;
  /** What a payout consists of; null where that is not told. */
  inPayout(payout: string, after: string | null): Promise<Rows<PayoutItem> | null>;
  /** The processor's units in the smallest coin; null where that is no whole number. */
  coinsOf(units: bigint, currency: string): bigint | null;
  /** By its own name, or by that of what it came from; null where there is none. */
  charge(reference: string): Promise<TheirCharge | null>;
  refund(reference: string): Promise<TheirRefund | null>;
  dispute(reference: string): Promise<TheirDispute | null>;
};

/** No answer, or none that says anything. The message is a name of the failure, without data. */
export class BooksFailed extends Error {}

/** The processor refused to answer: its key may not, or not any more. */
export class BooksRefused extends BooksFailed {}
