import type { Billing, BillingDeps } from './billing.ts';

/** What the door's parts work with. */
export type SubscriptionsDeps = BillingDeps & { readonly billing: Billing };
