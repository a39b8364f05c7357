import type { Billing, BillingDeps } from './billing.ts';

/** What the parts of this API work with. */
export type SubscriptionsDeps = BillingDeps & { readonly billing: Billing };
