// The calls of checkout sessions, and of what they leave behind to be charged again.
import type Stripe from 'stripe';
import { found } from './books.ts';
import { answers, lists, type Route } from './call.ts';
import { expandNothing, expandSession, expandSetup } from './expand.ts';
import { isAsked, isWithin } from './list.ts';
import { attachNamed, createCustomer, detach } from './methods.ts';
import { email, metadata, oneOf, range, required, shape, text } from './params.ts';
import { SESSION } from './session-params.ts';
import { createSession, expireByCall } from './sessions.ts';

export const SESSION_CALLS: readonly Route[] = [
  answers(
    'POST',
    '/v1/checkout/sessions',
    'checkout_session_write',
    SESSION,
    expandSession,
    ({ books, params }) => createSession(books, params),
  ),
  answers(
    'GET',
    '/v1/checkout/sessions/:id',
    'checkout_session_read',
    {},
    expandSession,
    ({ books, id }) => found(books.sessions, id, 'checkout.session', 'session'),
  ),
  answers(
    'POST',
    '/v1/checkout/sessions/:id/expire',
    'checkout_session_write',
    {},
    expandSession,
    ({ books, id }) => expireByCall(books, found(books.sessions, id, 'checkout.session')),
  ),
  lists(
    '/v1/checkout/sessions',
    'checkout_session_read',
    shape<Stripe.Checkout.SessionListParams>()({
      created: range,
      customer: text,
      payment_intent: text,
      status: oneOf('complete', 'expired', 'open'),
    }),
    expandSession,
    ({ books, params }) =>
      [...books.sessions.values()].filter(
        (one) =>
          isWithin(one.created, params.created) &&
          isAsked(one.customer, params.customer) &&
          isAsked(one.payment_intent, params.payment_intent) &&
          isAsked(one.status, params.status),
      ),
  ),
  answers('GET', '/v1/setup_intents/:id', 'setup_intent_read', {}, expandSetup, ({ books, id }) =>
    found(books.setups, id, 'setupintent', 'intent'),
  ),
  answers(
    'POST',
    '/v1/customers',
    'customer_write',
    shape<Stripe.CustomerCreateParams>()({
      description: text,
      email,
      metadata,
      name: text,
    }),
    expandNothing,
    ({ books, params }) => createCustomer(books, params),
  ),
  answers('GET', '/v1/customers/:id', 'customer_read', {}, expandNothing, ({ books, id }) =>
    found(books.customers, id, 'customer'),
  ),
  answers(
    'GET',
    '/v1/payment_methods/:id',
    'payment_method_read',
    {},
    expandNothing,
    ({ books, id }) => found(books.methods, id, 'PaymentMethod', 'payment_method'),
  ),
  answers(
    'POST',
    '/v1/payment_methods/:id/attach',
    'payment_method_write',
    shape<Stripe.PaymentMethodAttachParams>()({ customer: required(text) }),
    expandNothing,
    ({ books, id, params }) => attachNamed(books, id, params.customer),
  ),
  answers(
    'POST',
    '/v1/payment_methods/:id/detach',
    'payment_method_write',
    {},
    expandNothing,
    ({ books, id }) => detach(books, id),
  ),
];
