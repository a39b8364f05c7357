// A call of Stripe's API: its path, what it may be sent, and what it does.
import type Stripe from 'stripe';
import type { Books } from './books.ts';
import type { Expand } from './expand.ts';
import { page, PAGING } from './list.ts';
import { list, type Read, readShape, type Shape, text } from './params.ts';
import type { Raw } from './form.ts';
import type {
  Account,
  Charge,
  Customer,
  Dispute,
  Endpoint,
  Intent,
  Method,
  Payout,
  Refund,
  Session,
  Setup,
  Transaction,
} from './types.ts';

type One =
  | Account
  | Charge
  | Customer
  | Dispute
  | Endpoint
  | Intent
  | Method
  | Payout
  | Refund
  | Session
  | Setup
  | Stripe.EventBase
  | Transaction;
/** What may be answered: an object as Stripe's package types it, and nothing else. */
export type Answer = One | Stripe.ApiList<One> | Stripe.Balance | Stripe.DeletedWebhookEndpoint;

/** What a restricted key may be allowed, as Stripe names it. */
export type Permission =
  | 'accounts_kyc_basic_read'
  | 'balance_read'
  | 'balance_transaction_source_read'
  | 'charge_read'
  | 'charge_write'
  | 'checkout_session_read'
  | 'checkout_session_write'
  | 'customer_read'
  | 'customer_write'
  | 'dispute_read'
  | 'event_read'
  | 'payment_intent_read'
  | 'payment_intent_write'
  | 'payment_method_read'
  | 'payment_method_write'
  | 'payout_read'
  | 'setup_intent_read'
  | 'webhook_read'
  | 'webhook_write';

export type Call = {
  readonly books: Books;
  readonly id: string;
  readonly form: Map<string, Raw>;
  /** The effect stays, and its answer does not arrive. */
  loseAnswer(): void;
};

export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: RegExp;
  readonly permission: Permission;
  /** Throws where the parameters are not valid. What it returns executes the call. */
  read(call: Call): () => Answer;
};

type Given<S extends Shape> = {
  readonly books: Books;
  readonly params: Read<S>;
  readonly id: string;
  readonly call: Call;
};

/** `path`: `:id` stands for an id. */
function at(
  method: Route['method'],
  path: string,
  permission: Permission,
): Pick<Route, 'method' | 'path' | 'permission'> {
  return { method, path: new RegExp(`^${path.replace(':id', '([^/]+)')}$`), permission };
}

/** Reads the parameters that a shape names, and leaves the others to be read by another. */
function taken<S extends Shape>(shape: S, call: Call): { own: Read<S>; others: Call } {
  const [own, others] = [new Map<string, Raw>(), new Map<string, Raw>()];
  for (const [key, value] of call.form) {
    (Object.hasOwn(shape, key) ? own : others).set(key, value);
  }
  return { own: readShape(shape, own), others: { ...call, form: others } };
}

const EXPAND = { expand: list(text) };

/** A call that answers one object, which may be expanded. */
export function answers<T extends One, S extends Shape>(
  method: 'GET' | 'POST',
  path: string,
  permission: Permission,
  shape: S,
  expand: Expand<T>,
  run: (given: Given<S>) => T,
): Route {
  return {
    ...at(method, path, permission),
    read(call) {
      const { own, others } = taken(EXPAND, call);
      const params = readShape(shape, others.form);
      return () => expand(call.books, run({ ...call, params, call }), own.expand ?? []);
    },
  };
}

/** A call that answers a list, whose objects may be expanded. */
export function lists<T extends One & { readonly id: string }, S extends Shape>(
  path: string,
  permission: Permission,
  shape: S,
  expand: Expand<T>,
  run: (given: Given<S>) => Iterable<T>,
): Route {
  return {
    ...at('GET', path, permission),
    read(call) {
      const { own, others } = taken(PAGING, call);
      const params = readShape(shape, others.form);
      const paths = (own.expand ?? []).map((one) => one.replace(/^data\./, ''));
      return () => {
        const found = page(run({ ...call, params, call }), path, own);
        return { ...found, data: found.data.map((one) => expand(call.books, one, paths)) };
      };
    },
  };
}

/** A call that answers something without an id to expand. */
export function tells<S extends Shape>(
  method: Route['method'],
  path: string,
  permission: Permission,
  shape: S,
  run: (given: Given<S>) => Answer,
): Route {
  return {
    ...at(method, path, permission),
    read(call) {
      const params = readShape(shape, call.form);
      return () => run({ ...call, params, call });
    },
  };
}
