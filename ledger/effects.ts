import type { MeterEffects } from './metering/meter-effects.ts';
import type { PaymentEffects } from './payments/payment.ts';
import type { Handover } from './storage.ts';
import type { SubscriptionEffects } from './subscriptions/subscription.ts';

/** What one decision writes, for every kind of actor. */
export type Effects = MeterEffects | PaymentEffects | SubscriptionEffects | HandoverEffects;

/** Slots that go to other nodes. Earlier decisions for them are written before it, or with it. */
export type HandoverEffects = {
  readonly kind: 'handover';
  readonly handovers: readonly Handover[];
};
