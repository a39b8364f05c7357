import type { Usage } from './metering/usage.ts';
import type { UsageAnswer } from './metering/usage-answer.ts';

export type { UsageAnswer };

/** The requests and answers of recording usage. */
export type UsageRequest = Omit<Usage, 'id'> & {
  /** The id that the caller's key gives, or null. */
  readonly keyId: string | null;
  /**
   * The id that the key gave when its scope was the organisation's; null where nothing can be
   * recorded under it.
   */
  readonly formerKeyId: string | null;
  /** What the caller called it, for the event that tells of it. */
  readonly idempotencyKey: string | null;
  readonly externalId: string | null;
};

export type RecordOutcome =
  | {
      readonly kind: 'recorded' | 'refused';
      readonly record: UsageAnswer;
      /** The answer of an earlier call with this key. */
      readonly replayed: boolean;
    }
  /** The key was used for something else. */
  | { readonly kind: 'key_reused' }
  | { readonly kind: 'out_of_range' }
  /** The customer has as many meters as it may: nothing was recorded. */
  | { readonly kind: 'too_many_meters' };

/** Of one item of a call whose items are recorded each by itself. */
export type EachOutcome =
  | RecordOutcome
  /** It cannot be recorded now. It may have been: with a key it is safe to send it again. */
  | { readonly kind: 'unavailable'; readonly why: string };

/** Why nothing of an event was recorded. */
export type EventRefusal = 'was_refused' | 'out_of_range' | 'too_many_meters';

export type BatchOutcome =
  | {
      readonly kind: 'recorded';
      /**
       * For each item: its id, and whether its key was used before. Of a partial call, why it was
       * not recorded, if it was not.
       */
      readonly items: readonly {
        readonly id: string;
        readonly duplicate: boolean;
        readonly refused?: EventRefusal;
      }[];
    }
  /** The key of this item was answered with a refusal before: nothing was recorded. */
  | { readonly kind: 'was_refused'; readonly index: number }
  /** Totals of these items would leave the range: nothing was recorded. */
  | { readonly kind: 'out_of_range'; readonly index: number }
  /** The customer of this item has as many meters as it may: nothing was recorded. */
  | { readonly kind: 'too_many_meters'; readonly index: number };

/**
 * Of a whole call: or it is more than may be written at once, as the words say, and nothing was
 * recorded.
 */
export type CallOutcome = BatchOutcome | { readonly kind: 'too_large'; readonly why: string };

/** The actor was dropped between the lookup and the decision: look it up again. */
export const STALE = Symbol('stale');
