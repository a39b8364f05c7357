import type { LedgerEvent } from '../event.ts';
import type { Grant } from './grants.ts';
import type { Customer, Meter, MeterState, Period } from './meter.ts';
import type { Reservation } from './reservation.ts';
import type { StretchMark } from './stretch.ts';
import type { Span } from './span.ts';
import type { TopUpOrder } from '../topups/order.ts';
import type { Transfer } from '../kernel/transfers.ts';

/**
 * A period's account before and after a unit; `before` is what the store must still hold (I4, I6).
 */
export type PeriodChange = { readonly before: Period; readonly after: Period };

/** A member that a unique meter counts from now on in the account of this period. */
export type CountedMember = { readonly accountId: string; readonly member: bigint };

/** What a scaled unit of a member costs beyond the limit of this period, in scaled credits. */
export type PooledPeriod = { readonly accountId: string; readonly rate: bigint };

/** A span as it is now. Without `isLive` memory lets go of it. */
export type SpanChange = { readonly span: Span; readonly isLive: boolean };

/**
 * Everything that one decision on a meter wants written. Data only: the journal turns it into rows.
 */
export type MeterEffects = {
  readonly kind: 'meter';
  readonly customer: Customer;
  readonly meter: Meter;
  readonly state: MeterState;
  readonly transfers: readonly Transfer[];
  /** In the order of the changes: a period that was changed again is there again. */
  readonly periods: readonly PeriodChange[];
  readonly grants: readonly Grant[];
  readonly events: readonly LedgerEvent[];
  readonly members: readonly CountedMember[];
  readonly spans: readonly SpanChange[];
  readonly marks: readonly StretchMark[];
  readonly reservations: readonly Reservation[];
  /** Periods that a pool pays for from now on. */
  readonly pooled: readonly PooledPeriod[];
  /** What the decision changes on other meters of the customer: a pool and its members. */
  readonly beside: readonly MeterEffects[];
  /** Whether its automatic top-up changed, and the charges that this orders. */
  readonly topUpChanged: boolean;
  readonly topUpOrders: readonly TopUpOrder[];
  /** Whether the meter's own row changed, beyond its current account's totals. */
  readonly stateChanged: boolean;
};
