// What the fake's objects are checked against: Stripe's own types, their enums closed.
import type Stripe from 'stripe';

// Two functions over every T are the same type only where A and B are: `string` and the open end of
// an enum can be assigned to each other, and nothing else tells them apart.
type Same<A, B> =
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** The open end that Stripe's package gives to each enum. */
type AnyOther = string & Record<never, never>;

/** An enum without its open end, so that a value which Stripe does not document is no type. */
export type Known<T> = T extends string ? (Same<T, AnyOther> extends true ? never : T) : T;

/** An object of Stripe with its own enums closed. */
export type Closed<T> = { [K in keyof T]: Known<T[K]> };

export type Account = Closed<Stripe.Account>;
export type Customer = Closed<Stripe.Customer>;
export type Method = Closed<Stripe.PaymentMethod>;
export type Intent = Closed<Stripe.PaymentIntent>;
export type Setup = Closed<Stripe.SetupIntent>;
export type Session = Closed<Stripe.Checkout.Session>;
export type Charge = Closed<Stripe.Charge>;
export type Refund = Closed<Stripe.Refund>;
export type Dispute = Closed<Stripe.Dispute>;
export type Transaction = Closed<Stripe.BalanceTransaction>;
export type Payout = Closed<Stripe.Payout>;
export type Endpoint = Closed<Stripe.WebhookEndpoint>;
/** The body of a refusal, as Stripe's API errors have it. */
export type ErrorBody = Closed<Stripe.PaymentIntent.LastPaymentError> & { message: string };
export type Mode = 'test' | 'live';
