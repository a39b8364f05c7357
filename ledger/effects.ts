import type { MeterEffects } from './draft.ts';
import type { PaymentEffects } from './payment.ts';

/** What one decision wants written, whoever decided it. */
export type Effects = MeterEffects | PaymentEffects;
