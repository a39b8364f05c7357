import type { MeterEffects } from './metering/meter-draft.ts';
import type { PaymentEffects } from './payments/payment.ts';
import type { Handover } from './storage.ts';
import type { SubscriptionEffects } from './subscriptions/subscription.ts';

/** What one decision wants written, whoever decided it. */
export type Effects = MeterEffects | PaymentEffects | SubscriptionEffects | HandoverEffects;

/** Slots that go to other nodes. Whatever was decided for them before is written before, or with it. */
export type HandoverEffects = {
  readonly kind: 'handover';
  readonly handovers: readonly Handover[];
};
