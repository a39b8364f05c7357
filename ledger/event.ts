import type { Tenant } from './kernel/tenant.ts';

/**
 * An entry of the outbox: written by the flush that made it true, delivered afterwards
 * (docs/spec/events.md#envelope).
 */
export type LedgerEvent = {
  readonly id: string;
  readonly type: LedgerEventType;
  readonly objectType: 'ENTITLEMENT' | 'PAYMENT' | 'SUBSCRIPTION' | 'USAGE';
  readonly objectId: string;
  /** The customer; null where a payment has none. */
  readonly accountId: string | null;
  /** Milliseconds, strictly increasing for each object (docs/spec/events.md#envelope). */
  readonly timestamp: number;
  /** 1, 2, 3 … for each object, without a gap. */
  readonly sequence: bigint;
  /** The type's own fields; what all events carry is added where the event is written. */
  readonly data: Readonly<Record<string, unknown>>;
};

export type LedgerEventType =
  | 'entitlement.granted'
  | 'entitlement.exhausted'
  | 'alert.triggered'
  | 'alert.recovered'
  | 'customer.spend_cap_reached'
  | 'usage.recorded'
  | 'auto_topup.succeeded'
  | 'auto_topup.failed'
  | 'payment.succeeded'
  | 'payment.failed'
  | 'payment.errored'
  | 'payment.refunded'
  | 'payment.refund_failed'
  | 'payment.disputed'
  | 'subscription.created'
  | 'subscription.updated'
  | 'subscription.canceled'
  | 'subscription.expired'
  | 'subscription.trial_ended'
  | 'subscription.blocked';

/** Events that are written only where an endpoint hears them. */
export const HEARD_EVENTS = [
  'usage.recorded',
  'customer.spend_cap_reached',
  'alert.triggered',
  'alert.recovered',
  'auto_topup.succeeded',
  'auto_topup.failed',
] as const;
/** Types beyond the contract, and its costliest: an endpoint gets them where it names them. */
export const NAMED_EVENTS = [...HEARD_EVENTS, 'payment.disputed'] as const;
export type HeardEvent = (typeof HEARD_EVENTS)[number];

/** Whether an endpoint of the tenant hears such events. */
export type Wants = (tenant: Tenant, type: HeardEvent) => boolean;
