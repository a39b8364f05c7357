// Payment intents: what may be done in which state, and what an attempt comes to.
import { type Books, found, type IntentData, newId } from './books.ts';
import { absentEnding, ASKS_BUYER, type Card, type Decline, type Instrument } from './cards.ts';
import { chargeOf, collect, createCharge } from './charges.ts';
import { disputeByCard } from './disputes.ts';
import { Refusal, refused, unexpectedState } from './errors.ts';
import { attach } from './methods.ts';
import type { ErrorBody, Intent, Known, Method } from './types.ts';

export function createIntent(
  books: Books,
  data: IntentData,
  facts: { sessionId?: string; returnUrl?: string },
): Intent {
  const id = newId('pi');
  const hasMethod = typeof data.payment_method === 'string';
  const intent: Intent = {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_${newId('secret')}`,
    confirmation_method: 'automatic',
    created: books.now(),
    customer: null,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: books.livemode,
    managed_payments: null,
    metadata: {},
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: hasMethod ? 'requires_confirmation' : 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
    ...data,
  };
  books.intents.set(id, intent);
  books.facts.set(id, {
    sessionId: facts.sessionId ?? null,
    returnUrl: facts.returnUrl ?? null,
    challenged: null,
  });
  books.emit('payment_intent.created', intent);
  return intent;
}

export type Outcome = 'done' | 'processing' | 'challenge' | 'declined';

/** Tries to take the money of a method. A decline is in `last_payment_error`. */
export function attempt(
  books: Books,
  intent: Intent,
  method: Method,
  by: { readonly isPresent: boolean },
): Outcome {
  const instrument = instrumentOf(books, method);
  intent.payment_method = method.id;
  intent.last_payment_error = null;
  if (instrument.type === 'debit') return startDebit(books, intent, method);
  if (!by.isPresent) {
    const ending = absentEnding(instrument, books.nowMs());
    return ending === 'asks'
      ? decline(books, intent, method, ASKS_BUYER)
      : end(books, intent, method, ending);
  }
  return instrument.challenge === 'always'
    ? challenge(books, intent, method)
    : end(books, intent, method, instrument.present);
}

/** The bank's answer to a challenge. Only the first counts. */
export function answerChallenge(books: Books, intent: Intent, isPassed: boolean): Outcome | null {
  if (intent.status !== 'requires_action') return null;
  const method = takeChallenged(books, intent.id);
  intent.next_action = null;
  if (isPassed) return end(books, intent, method, cardOf(books, method).present);
  return fail(books, intent, method, AUTHENTICATION_FAILED);
}

/** The method that the bank was asked about; it is asked no more. */
export function takeChallenged(books: Books, id: string): Method {
  const facts = books.facts.get(id)!;
  books.facts.set(id, { ...facts, challenged: null });
  return found(books.methods, facts.challenged?.methodId ?? '', 'PaymentMethod');
}

const AUTHENTICATION_FAILED: ErrorBody = {
  type: 'invalid_request_error',
  code: 'payment_intent_authentication_failure',
  message: 'We are unable to authenticate your payment method. Choose another one and try again.',
};

function end(books: Books, intent: Intent, method: Method, ending: true | Decline): Outcome {
  return ending === true
    ? authorise(books, intent, method)
    : decline(books, intent, method, ending);
}

function authorise(books: Books, intent: Intent, method: Method): Outcome {
  const waits =
    intent.capture_method === 'manual' ||
    intent.payment_method_options?.card?.capture_method === 'manual';
  const charge = createCharge(books, intent, method, { kind: waits ? 'authorised' : 'captured' });
  keep(books, intent, method);
  if (waits) {
    intent.status = 'requires_capture';
    intent.amount_capturable = intent.amount;
    books.emit('payment_intent.amount_capturable_updated', intent);
    return 'done';
  }
  succeed(books, intent, charge.amount);
  return 'done';
}

function succeed(books: Books, intent: Intent, amount: number): void {
  intent.status = 'succeeded';
  intent.amount_received = amount;
  intent.amount_capturable = 0;
  books.emit('payment_intent.succeeded', intent);
  disputeByCard(books, intent);
}

/** A method that is to be charged again belongs to the customer; any other is used up. */
function keep(books: Books, intent: Intent, method: Method): void {
  const { customer } = intent;
  if (typeof customer === 'string' && intent.setup_future_usage === 'off_session') {
    attach(books, method, customer);
  } else if (method.customer === null) {
    books.usedUp.add(method.id);
  }
}

function startDebit(books: Books, intent: Intent, method: Method): Outcome {
  createCharge(books, intent, method, { kind: 'pending' });
  keep(books, intent, method);
  intent.status = 'processing';
  books.emit('payment_intent.processing', intent);
  return 'processing';
}

/** A debit has settled, one way or the other. */
export function settleDebit(books: Books, intent: Intent): void {
  const charge = chargeOf(books, intent);
  const method =
    typeof intent.payment_method === 'string' && books.methods.get(intent.payment_method);
  if (intent.status !== 'processing' || charge === null || !method) return;
  const instrument = instrumentOf(books, method);
  const ending = instrument.type === 'debit' ? instrument.settles : true;
  if (ending === true) {
    collect(books, charge, charge.amount);
    books.emit('charge.succeeded', charge);
    succeed(books, intent, charge.amount);
    return;
  }
  charge.status = 'failed';
  charge.failure_code = ending.code ?? null;
  charge.failure_message = ending.message;
  books.emit('charge.failed', charge);
  fail(books, intent, method, { type: 'invalid_request_error', ...ending, charge: charge.id });
}

function challenge(books: Books, intent: Intent, method: Method): Outcome {
  const facts = books.facts.get(intent.id)!;
  books.facts.set(intent.id, { ...facts, challenged: { methodId: method.id } });
  intent.status = 'requires_action';
  intent.next_action =
    facts.returnUrl === null
      ? { type: 'use_stripe_sdk', use_stripe_sdk: {} }
      : {
          type: 'redirect_to_url',
          redirect_to_url: {
            url: `${books.url()}/3ds/${intent.id}`,
            return_url: facts.returnUrl,
          },
        };
  books.emit('payment_intent.requires_action', intent);
  return 'challenge';
}

function decline(books: Books, intent: Intent, method: Method, because: Decline): Outcome {
  const charge = createCharge(books, intent, method, { kind: 'failed', decline: because });
  return fail(books, intent, method, { type: 'card_error', ...because, charge: charge.id });
}

function fail(books: Books, intent: Intent, method: Method, because: ErrorBody): Outcome {
  intent.status = 'requires_payment_method';
  intent.payment_method = null;
  const error: ErrorBody = { ...because, payment_method: structuredClone(method) };
  books.errors.set(intent.id, error);
  intent.last_payment_error = error;
  books.emit('payment_intent.payment_failed', intent);
  return 'declined';
}

/** The refusal that tells of a decline. */
export function declined(books: Books, intent: Intent): Refusal {
  const error = books.errors.get(intent.id);
  if (error === undefined) throw new Error('there was no decline');
  return new Refusal(402, { ...error, payment_intent: structuredClone(intent) }, true);
}

export function capture(books: Books, intent: Intent, amount: number | undefined): Intent {
  if (intent.status !== 'requires_capture') {
    throw unexpectedState(
      `This PaymentIntent could not be captured because it has a status of ${intent.status}. ` +
        'Only a PaymentIntent with one of the following statuses may be captured: requires_capture.',
      intent,
    );
  }
  const taken = amount ?? intent.amount_capturable;
  if (taken > intent.amount_capturable) {
    throw refused('The amount to capture is greater than the amount that can be captured.', {
      code: 'amount_too_large',
      param: 'amount_to_capture',
    });
  }
  const charge = chargeOf(books, intent)!;
  collect(books, charge, taken);
  charge.amount_refunded = charge.amount - taken;
  books.emit('charge.captured', charge);
  succeed(books, intent, taken);
  return intent;
}

const CANCELABLE = [
  'requires_payment_method',
  'requires_capture',
  'requires_confirmation',
  'requires_action',
];

/** By its merchant's call. */
export function cancelByCall(
  books: Books,
  intent: Intent,
  reason: Known<NonNullable<Intent['cancellation_reason']>> | null,
): Intent {
  const fromSession = (books.facts.get(intent.id)?.sessionId ?? null) !== null;
  if (!CANCELABLE.includes(intent.status)) {
    throw unexpectedState(
      `You cannot cancel this PaymentIntent because it has a status of ${intent.status}. Only a ` +
        `PaymentIntent with one of the following statuses may be canceled: ${CANCELABLE.join(', ')}.`,
      intent,
    );
  }
  if (fromSession && intent.status !== 'requires_capture') {
    throw refused(
      'You cannot cancel PaymentIntents created by a Checkout Session. Expire the session instead.',
    );
  }
  cancel(books, intent, reason);
  return intent;
}

export function cancel(
  books: Books,
  intent: Intent,
  reason: Known<NonNullable<Intent['cancellation_reason']>> | null,
): void {
  const charge = intent.status === 'requires_capture' ? chargeOf(books, intent) : null;
  intent.status = 'canceled';
  intent.canceled_at = books.now();
  intent.cancellation_reason = reason;
  intent.amount_capturable = 0;
  intent.next_action = null;
  if (charge !== null) {
    // The hold is released. Stripe calls the charge refunded, and makes no refund of it.
    charge.refunded = true;
    charge.amount_refunded = charge.amount;
    if (reason === 'automatic') books.emit('charge.expired', charge);
    else books.emit('charge.refunded', charge);
  }
  books.emit('payment_intent.canceled', intent);
}

export function instrumentOf(books: Books, method: Method): Instrument {
  const instrument = books.instruments.get(method.id);
  if (instrument === undefined) throw new Error(`no instrument of ${method.id}`);
  return instrument;
}

function cardOf(books: Books, method: Method): Card {
  const instrument = instrumentOf(books, method);
  if (instrument.type !== 'card') throw new Error('only cards are challenged');
  return instrument;
}
