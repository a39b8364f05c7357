import type { Customer } from './meter.ts';

/** What was sent with the signup, and is part of every event (contract, General rules 3). */
export type SignupContext = {
  readonly paymentLinkId: string | null;
  readonly paymentLinkToken: string | null;
  readonly clientReferenceId: string | null;
  /** As sent with the checkout; null without one. */
  readonly externalCustomerId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

/** What a signup began: a subscription. */
export type Began = {
  readonly signup: SignupContext;
  readonly status: string;
  readonly pausedAt: number | null;
};

/**
 * The merchant's id of the customer in events: as sent with the checkout, else the customer's
 * current one.
 */
export function externalIdOf({ signup }: Pick<Began, 'signup'>, customer: Customer): string | null {
  return signup.paymentLinkId === null ? customer.externalId : signup.externalCustomerId;
}
