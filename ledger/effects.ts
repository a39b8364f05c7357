import type { MeterEffects } from './draft.ts';
import type { PaymentEffects } from './payment.ts';
import type { SubscriptionEffects } from './subscription.ts';

/** What one decision wants written, whoever decided it. */
export type Effects = MeterEffects | PaymentEffects | SubscriptionEffects;
