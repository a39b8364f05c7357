// Setup intents: an instrument is verified and kept, and no money moves.
import { type Books, newId } from './books.ts';
import type { Decline } from './cards.ts';
import { instrumentOf, type Outcome, takeChallenged } from './intents.ts';
import { attach } from './methods.ts';
import type { ErrorBody, Method, Setup } from './types.ts';

type Made = Pick<Setup, 'payment_method_types'> & Partial<Setup>;

export function createSetup(books: Books, data: Made, sessionId: string): Setup {
  const id = newId('seti');
  const setup: Setup = {
    id,
    object: 'setup_intent',
    allowed_payment_method_types: null,
    application: null,
    automatic_payment_methods: null,
    cancellation_reason: null,
    client_secret: `${id}_${newId('secret')}`,
    created: books.now(),
    customer: null,
    description: null,
    excluded_payment_method_types: null,
    last_setup_error: null,
    latest_attempt: null,
    livemode: books.livemode,
    mandate: null,
    metadata: {},
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    single_use_mandate: null,
    status: 'requires_payment_method',
    usage: 'off_session',
    ...data,
  };
  books.setups.set(id, setup);
  books.facts.set(id, { sessionId, returnUrl: null, challenged: null });
  books.emit('setup_intent.created', setup);
  return setup;
}

export function attemptSetup(books: Books, setup: Setup, method: Method): Outcome {
  const instrument = instrumentOf(books, method);
  setup.payment_method = method.id;
  setup.last_setup_error = null;
  setup.latest_attempt = newId('setatt');
  if (instrument.type === 'debit') return succeed(books, setup, method, true);
  if (instrument.challenge === 'never') return end(books, setup, method, instrument.setup);
  const facts = books.facts.get(setup.id)!;
  books.facts.set(setup.id, { ...facts, challenged: { methodId: method.id } });
  setup.status = 'requires_action';
  setup.next_action = { type: 'use_stripe_sdk', use_stripe_sdk: {} };
  books.emit('setup_intent.requires_action', setup);
  return 'challenge';
}

/** The bank's answer to a challenge. Only the first counts. */
export function answerSetupChallenge(
  books: Books,
  setup: Setup,
  isPassed: boolean,
): Outcome | null {
  if (setup.status !== 'requires_action') return null;
  const method = takeChallenged(books, setup.id);
  setup.next_action = null;
  const instrument = instrumentOf(books, method);
  if (isPassed) {
    return end(books, setup, method, instrument.type === 'card' ? instrument.setup : true);
  }
  return fail(books, setup, method, {
    type: 'invalid_request_error',
    code: 'setup_intent_authentication_failure',
    message: 'We are unable to authenticate your payment method. Choose another one and try again.',
  });
}

function end(books: Books, setup: Setup, method: Method, ending: true | Decline): Outcome {
  return ending === true
    ? succeed(books, setup, method, false)
    : fail(books, setup, method, { type: 'card_error', ...ending });
}

function succeed(books: Books, setup: Setup, method: Method, hasMandate: boolean): Outcome {
  setup.status = 'succeeded';
  if (hasMandate) setup.mandate = newId('mandate');
  if (typeof setup.customer === 'string') attach(books, method, setup.customer);
  books.emit('setup_intent.succeeded', setup);
  return 'done';
}

function fail(books: Books, setup: Setup, method: Method, error: ErrorBody): Outcome {
  setup.status = 'requires_payment_method';
  setup.payment_method = null;
  setup.last_setup_error = { ...error, payment_method: structuredClone(method) };
  books.emit('setup_intent.setup_failed', setup);
  return 'declined';
}

export function cancelSetup(books: Books, setup: Setup): void {
  setup.status = 'canceled';
  setup.cancellation_reason = 'abandoned';
  setup.next_action = null;
  books.emit('setup_intent.canceled', setup);
}
