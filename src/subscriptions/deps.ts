import type { Billing, BillingDeps } from './billing.ts';

/** What the parts of this API work with. */
export type SubscriptionsDeps = OpenDeps & { readonly billing: Billing };

export type OpenDeps = BillingDeps & {
  /** Executes what the customer's automatic top-ups owe: it has stored another payment method. */
  readonly carryOutTopUps: (customerId: string) => Promise<void>;
};
