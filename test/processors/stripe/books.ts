// What Stripe keeps of one account in one mode.
import type Stripe from 'stripe';
import type { Instrument } from './cards.ts';
import { missing } from './errors.ts';
import type {
  Account,
  Charge,
  Customer,
  Dispute,
  Endpoint,
  ErrorBody,
  Intent,
  Method,
  Mode,
  Payout,
  Refund,
  Session,
  Setup,
  Transaction,
} from './types.ts';

/** What Stripe knows of an intent and does not show. */
export type IntentFacts = {
  readonly sessionId: string | null;
  readonly returnUrl: string | null;
  /** What waits for the bank's answer; null where nothing does. */
  readonly challenged: { readonly methodId: string } | null;
};

/** What an intent is made of. */
export type IntentData = Pick<Intent, 'amount' | 'currency' | 'payment_method_types'> &
  Partial<Intent>;

export type EventType = Stripe.Event['type'];
export type EventObject<T extends EventType> = Extract<
  Stripe.Event,
  { readonly type: T }
>['data']['object'];

export type Books = {
  readonly account: Account;
  readonly mode: Mode;
  readonly livemode: boolean;
  /** Where its hosted pages are. */
  readonly url: () => string;
  /** What all money is converted to; null where each currency has its own balance. */
  readonly settlement: { readonly currency: string; readonly rate: number } | null;
  /** Whether an amount may be outside of Stripe's bounds. */
  readonly anyAmount: boolean;
  /** Its time in milliseconds, and in seconds as its objects have it. */
  readonly nowMs: () => number;
  readonly now: () => number;
  readonly customers: Map<string, Customer>;
  readonly methods: Map<string, Method>;
  readonly intents: Map<string, Intent>;
  readonly setups: Map<string, Setup>;
  readonly sessions: Map<string, Session>;
  readonly charges: Map<string, Charge>;
  readonly refunds: Map<string, Refund>;
  readonly disputes: Map<string, Dispute>;
  readonly transactions: Map<string, Transaction>;
  readonly payouts: Map<string, Payout>;
  readonly endpoints: Map<string, Endpoint>;
  readonly events: Map<string, Stripe.EventBase>;
  /** By the id of the payment method. */
  readonly instruments: Map<string, Instrument>;
  /** Methods that were detached, or used without a customer: they are used up. */
  readonly usedUp: Set<string>;
  /** By the id of the intent or setup. */
  readonly facts: Map<string, IntentFacts>;
  /** Why an intent was declined the last time. */
  readonly errors: Map<string, ErrorBody>;
  /** What a session makes its intent of. */
  readonly intentData: Map<string, IntentData>;
  /** By the id of the transaction: the payout that took it. */
  readonly paidOut: Map<string, string>;
  /** The secret of each webhook endpoint, which is shown once. */
  readonly secrets: Map<string, string>;
  /** Tells those who listen, with the object as it is now. */
  readonly emit: <T extends EventType>(type: T, object: EventObject<T>) => void;
};

export function openBooks(
  of: Pick<Books, 'account' | 'mode' | 'url' | 'anyAmount' | 'settlement' | 'nowMs'>,
  tell: (books: Books, event: Stripe.EventBase) => void,
  apiVersion: string,
): Books {
  const books: Books = {
    ...of,
    livemode: of.mode === 'live',
    now: () => Math.floor(of.nowMs() / 1000),
    customers: new Map(),
    methods: new Map(),
    intents: new Map(),
    setups: new Map(),
    sessions: new Map(),
    charges: new Map(),
    refunds: new Map(),
    disputes: new Map(),
    transactions: new Map(),
    payouts: new Map(),
    endpoints: new Map(),
    events: new Map(),
    instruments: new Map(),
    usedUp: new Set(),
    facts: new Map(),
    errors: new Map(),
    intentData: new Map(),
    paidOut: new Map(),
    secrets: new Map(),
    emit(type, object) {
      const event: Stripe.EventBase = {
        id: newId('evt'),
        object: 'event',
        api_version: apiVersion,
        created: books.now(),
        data: { object: structuredClone(object) },
        livemode: books.livemode,
        pending_webhooks: books.endpoints.size,
        request: { id: null, idempotency_key: null },
        type,
      };
      books.events.set(event.id, event);
      tell(books, event);
    },
  };
  return books;
}

const ID_LENGTH = 24;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function newId(prefix: string, length = ID_LENGTH): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return `${prefix}_${[...bytes].map((byte) => DIGITS[byte % DIGITS.length]).join('')}`;
}

/** The id in a field that may hold the object itself; '' where it holds none. */
export function idOf(field: string | { readonly id: string } | null): string {
  return typeof field === 'string' ? field : (field?.id ?? '');
}

/** The object of this id in a path, or Stripe's refusal. */
export function found<T>(all: ReadonlyMap<string, T>, id: string, what: string, param = 'id'): T {
  const one = all.get(id);
  if (one === undefined) throw missing(what, id, param);
  return one;
}

/** The object of this id in a parameter, or Stripe's refusal. */
export function given<T>(all: ReadonlyMap<string, T>, id: string, what: string): T {
  const one = all.get(id);
  if (one === undefined) throw missing(what, id, what, 400);
  return one;
}
