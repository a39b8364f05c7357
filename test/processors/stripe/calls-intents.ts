// The calls of payment intents.
import type Stripe from 'stripe';
import { type Books, found, given } from './books.ts';
import { answers, lists, type Route } from './call.ts';
import { checkAmount, checkCurrency } from './currencies.ts';
import { invalid, Lost, refused, unexpectedState } from './errors.ts';
import { expandIntent } from './expand.ts';
import { attempt, cancelByCall, capture, createIntent, declined, instrumentOf } from './intents.ts';
import { isAsked, isWithin } from './list.ts';
import { debitIn, usable } from './methods.ts';
import {
  bool,
  email,
  integer,
  metadata,
  object,
  oneOf,
  range,
  required,
  shape,
  text,
  url,
} from './params.ts';
import { afterwards, sessionOf } from './sessions.ts';
import type { Intent } from './types.ts';

const CREATE = shape<Stripe.PaymentIntentCreateParams>()({
  amount: required(integer(1)),
  automatic_payment_methods: object(
    shape<Stripe.PaymentIntentCreateParams.AutomaticPaymentMethods>()({
      allow_redirects: oneOf('always', 'never'),
      enabled: required(bool),
    }),
  ),
  capture_method: oneOf('automatic', 'automatic_async', 'manual'),
  confirm: bool,
  currency: required(text),
  customer: text,
  description: text,
  metadata,
  off_session: bool,
  payment_method: text,
  receipt_email: email,
  return_url: url,
  setup_future_usage: oneOf('off_session', 'on_session'),
  statement_descriptor_suffix: text,
});

const CONFIRM = shape<Stripe.PaymentIntentConfirmParams>()({
  off_session: bool,
  payment_method: text,
  return_url: url,
});

type Confirm = {
  readonly off_session?: boolean;
  readonly payment_method?: string;
  readonly return_url?: string;
};

function confirm(books: Books, intent: Intent, asked: Confirm, loseAnswer: () => void): Intent {
  if (sessionOf(books, intent.id) !== null) {
    throw refused('You cannot confirm a PaymentIntent that was created by a Checkout Session.');
  }
  if (intent.status !== 'requires_confirmation' && intent.status !== 'requires_payment_method') {
    const why =
      intent.status === 'succeeded'
        ? 'it has already succeeded after being previously confirmed'
        : `it has a status of ${intent.status}`;
    throw unexpectedState(`You cannot confirm this PaymentIntent because ${why}.`, intent);
  }
  const id = asked.payment_method ?? intent.payment_method;
  if (typeof id !== 'string') {
    throw unexpectedState(
      "You cannot confirm this PaymentIntent because it's missing a payment method.",
      intent,
    );
  }
  const customer = typeof intent.customer === 'string' ? intent.customer : null;
  const method = usable(books, id, customer);
  const instrument = instrumentOf(books, method);
  const isPresent = asked.off_session !== true;
  const loses = instrument.type === 'card' && !isPresent ? instrument.loses : null;
  if (loses === 'request') throw new Lost();
  if (loses === 'answer') loseAnswer();
  const facts = books.facts.get(intent.id)!;
  books.facts.set(intent.id, { ...facts, returnUrl: asked.return_url ?? facts.returnUrl });
  if (attempt(books, intent, method, { isPresent }) === 'declined') throw declined(books, intent);
  return intent;
}

function checkNew(books: Books, amount: number, asked: string): string {
  const currency = checkCurrency(asked, 'currency');
  if (!books.anyAmount) checkAmount(amount, currency, 'amount');
  return currency;
}

export const INTENT_CALLS: readonly Route[] = [
  answers(
    'POST',
    '/v1/payment_intents',
    'payment_intent_write',
    CREATE,
    expandIntent,
    ({ books, params, call }) => {
      const currency = checkNew(books, params.amount, params.currency);
      if (params.off_session === true && params.confirm !== true) {
        throw invalid('`off_session` is for an intent that is confirmed.', {
          param: 'off_session',
        });
      }
      if (params.customer !== undefined) {
        given(books.customers, params.customer, 'customer');
      }
      if (params.payment_method !== undefined) {
        usable(books, params.payment_method, params.customer ?? null);
      }
      const debit = params.capture_method === 'manual' ? null : debitIn(currency);
      const intent = createIntent(
        books,
        {
          amount: params.amount,
          currency,
          automatic_payment_methods: params.automatic_payment_methods ?? null,
          capture_method: params.capture_method ?? 'automatic_async',
          customer: params.customer ?? null,
          description: params.description ?? null,
          metadata: params.metadata ?? {},
          payment_method: params.payment_method ?? null,
          payment_method_types: debit === null ? ['card'] : ['card', debit],
          receipt_email: params.receipt_email ?? null,
          setup_future_usage: params.setup_future_usage ?? null,
          statement_descriptor_suffix: params.statement_descriptor_suffix ?? null,
        },
        params.return_url === undefined ? {} : { returnUrl: params.return_url },
      );
      const { off_session = false } = params;
      return params.confirm === true
        ? confirm(books, intent, { off_session }, () => call.loseAnswer())
        : intent;
    },
  ),
  answers(
    'GET',
    '/v1/payment_intents/:id',
    'payment_intent_read',
    {},
    expandIntent,
    ({ books, id }) => found(books.intents, id, 'payment_intent', 'intent'),
  ),
  answers(
    'POST',
    '/v1/payment_intents/:id/confirm',
    'payment_intent_write',
    CONFIRM,
    expandIntent,
    ({ books, params, id, call }) =>
      confirm(books, found(books.intents, id, 'payment_intent'), params, () => call.loseAnswer()),
  ),
  answers(
    'POST',
    '/v1/payment_intents/:id/capture',
    'payment_intent_write',
    shape<Stripe.PaymentIntentCaptureParams>()({ amount_to_capture: integer(1), metadata }),
    expandIntent,
    ({ books, params, id }) => {
      const intent = capture(
        books,
        found(books.intents, id, 'payment_intent'),
        params.amount_to_capture,
      );
      intent.metadata = { ...intent.metadata, ...params.metadata };
      afterwards(books, intent);
      return intent;
    },
  ),
  answers(
    'POST',
    '/v1/payment_intents/:id/cancel',
    'payment_intent_write',
    shape<Stripe.PaymentIntentCancelParams>()({
      cancellation_reason: oneOf('abandoned', 'duplicate', 'fraudulent', 'requested_by_customer'),
    }),
    expandIntent,
    ({ books, params, id }) => {
      const { cancellation_reason: reason } = params;
      const intent = found(books.intents, id, 'payment_intent');
      // `fraudulent` may be sent, but is no reason that Stripe answers.
      return cancelByCall(books, intent, reason === 'fraudulent' ? null : (reason ?? null));
    },
  ),
  lists(
    '/v1/payment_intents',
    'payment_intent_read',
    shape<Stripe.PaymentIntentListParams>()({ created: range, customer: text }),
    expandIntent,
    ({ books, params }) =>
      [...books.intents.values()].filter(
        (one) => isWithin(one.created, params.created) && isAsked(one.customer, params.customer),
      ),
  ),
];
