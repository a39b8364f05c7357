import type { Customer } from './meter.ts';

/** What came with the signup and goes out with every event (contract, General rules 3). */
export type SignupContext = {
  readonly paymentLinkId: string | null;
  readonly paymentLinkToken: string | null;
  readonly clientReferenceId: string | null;
  /** As sent with the checkout; null without one. */
  readonly externalCustomerId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

/** What a signup began: a subscription. */
export type Began = { readonly signup: SignupContext };

/** What the merchant calls the customer in its events: as sent with the checkout that began it, else as the customer is called now. */
export function externalIdOf({ signup }: Began, customer: Customer): string | null {
  return signup.paymentLinkId === null ? customer.externalId : signup.externalCustomerId;
}
