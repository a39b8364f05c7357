// Checkout sessions: what they are made of, and how they end.
import type Stripe from 'stripe';
import { type Books, type IntentData, newId } from './books.ts';
import { createSetup, cancelSetup } from './setups.ts';
import { cancel } from './intents.ts';
import { invalid, refused } from './errors.ts';
import { checkAmount, checkCurrency } from './currencies.ts';
import { debitIn } from './methods.ts';
import type { Read } from './params.ts';
import type { SESSION } from './session-params.ts';
import type { Intent, Session, Setup } from './types.ts';

type Asked = Read<typeof SESSION>;

const LIFE_MIN_S = 30 * 60;
const LIFE_MAX_S = 24 * 60 * 60;

export function createSession(books: Books, asked: Asked): Session {
  const mode = asked.mode ?? 'payment';
  check(books, asked, mode);
  const { amount, currency } = totalOf(books, asked);
  const id = newId(`cs_${books.mode}`, 58);
  const types = typesOf(asked, currency);
  const session: Session = {
    ...blankSession(books, id),
    amount_subtotal: mode === 'payment' ? amount : null,
    amount_total: mode === 'payment' ? amount : null,
    cancel_url: asked.cancel_url ?? null,
    client_reference_id: asked.client_reference_id ?? null,
    currency,
    customer: asked.customer ?? null,
    customer_creation:
      asked.customer === undefined ? (asked.customer_creation ?? 'if_required') : null,
    customer_email: asked.customer_email ?? null,
    expires_at: asked.expires_at ?? books.now() + LIFE_MAX_S,
    locale: asked.locale ?? null,
    metadata: asked.metadata ?? {},
    mode,
    payment_method_options: { card: cardOptionsOf(asked) },
    payment_method_types: types,
    payment_status: mode === 'setup' ? 'no_payment_required' : 'unpaid',
    submit_type: asked.submit_type ?? null,
    success_url: asked.success_url ?? null,
  };
  books.sessions.set(id, session);
  if (mode === 'setup') {
    session.setup_intent = createSetup(
      books,
      {
        customer: session.customer,
        metadata: asked.setup_intent_data?.metadata ?? {},
        description: asked.setup_intent_data?.description ?? null,
        payment_method_types: types,
      },
      id,
    ).id;
  } else {
    books.intentData.set(id, intentDataOf(asked, amount, currency, types));
  }
  return session;
}

function check(books: Books, asked: Asked, mode: 'payment' | 'setup'): void {
  const now = books.now();
  if (asked.success_url === undefined) {
    throw invalid('Missing required param: success_url.', {
      code: 'parameter_missing',
      param: 'success_url',
    });
  }
  if (asked.expires_at !== undefined && asked.expires_at < now + LIFE_MIN_S) {
    throw invalid(
      'The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.',
      { param: 'expires_at' },
    );
  }
  if (asked.expires_at !== undefined && asked.expires_at > now + LIFE_MAX_S) {
    throw invalid(
      'The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.',
      { param: 'expires_at' },
    );
  }
  if (asked.customer !== undefined && asked.customer_creation !== undefined) {
    throw invalid('You may only specify one of these parameters: customer, customer_creation.', {
      code: 'parameters_exclusive',
      param: 'customer_creation',
    });
  }
  const foreign = mode === 'payment' ? 'setup_intent_data' : 'payment_intent_data';
  if (asked[foreign] !== undefined) {
    throw invalid(`You can not pass \`${foreign}\` in \`${mode}\` mode.`, { param: foreign });
  }
  if (mode === 'setup' && asked.line_items !== undefined) {
    throw invalid('You can not pass `line_items` in `setup` mode.', { param: 'line_items' });
  }
  if (asked.customer !== undefined && !books.customers.has(asked.customer)) {
    throw refused(`No such customer: '${asked.customer}'`, {
      code: 'resource_missing',
      param: 'customer',
    });
  }
}

function totalOf(books: Books, asked: Asked): { amount: number; currency: string } {
  if (asked.mode === 'setup') {
    if (asked.currency === undefined && asked.allowed_payment_method_types === undefined) {
      throw invalid('Missing required param: currency.', {
        code: 'parameter_missing',
        param: 'currency',
      });
    }
    return { amount: 0, currency: checkCurrency(asked.currency ?? 'usd', 'currency') };
  }
  const [first, ...others] = asked.line_items ?? [];
  if (first === undefined) {
    throw invalid('Missing required param: line_items.', {
      code: 'parameter_missing',
      param: 'line_items',
    });
  }
  const currency = checkCurrency(first.price_data.currency, 'line_items[0][price_data][currency]');
  if (others.some(({ price_data: price }) => price.currency.toLowerCase() !== currency)) {
    throw invalid('All line items must have the same currency.', { param: 'line_items' });
  }
  const amount = [first, ...others].reduce(
    (sum, { price_data: price, quantity = 1 }) => sum + price.unit_amount * quantity,
    0,
  );
  if (!books.anyAmount) checkAmount(amount, currency, 'line_items');
  return { amount, currency };
}

/** What the buyer is offered. A payment that must wait excludes what cannot. */
function typesOf(asked: Asked, currency: string): string[] {
  const waits = asked.payment_intent_data?.capture_method === 'manual';
  const debit = waits ? null : debitIn(currency);
  const offered = debit === null ? ['card'] : ['card', debit];
  const allowed = asked.allowed_payment_method_types ?? offered;
  const types = offered.filter(
    (one) =>
      allowed.some((type) => type === one) &&
      !(asked.excluded_payment_method_types ?? []).some((type) => type === one),
  );
  if (types.length === 0) {
    throw refused('No valid payment method types for this Checkout Session.', {
      param: 'allowed_payment_method_types',
    });
  }
  return types;
}

function cardOptionsOf(asked: Asked): Stripe.Checkout.Session.PaymentMethodOptions.Card {
  const card = asked.payment_method_options?.card;
  return {
    ...(card?.capture_method === undefined ? {} : { capture_method: card.capture_method }),
    request_three_d_secure: card?.request_three_d_secure ?? 'automatic',
  };
}

function intentDataOf(asked: Asked, amount: number, currency: string, types: string[]): IntentData {
  const { payment_intent_data: data, payment_method_options: options } = asked;
  return {
    amount,
    currency,
    payment_method_types: types,
    capture_method: data?.capture_method ?? 'automatic_async',
    customer: asked.customer ?? null,
    description: data?.description ?? null,
    metadata: data?.metadata ?? {},
    receipt_email: data?.receipt_email ?? null,
    setup_future_usage: data?.setup_future_usage ?? null,
    statement_descriptor_suffix: data?.statement_descriptor_suffix ?? null,
    payment_method_options: {
      card: {
        ...(options?.card?.capture_method === undefined ? {} : { capture_method: 'manual' }),
        installments: null,
        mandate_options: null,
        network: null,
        request_three_d_secure: options?.card?.request_three_d_secure ?? 'automatic',
      },
    },
  };
}

/** The session that made this intent, where one did. */
export function sessionOf(books: Books, id: string): Session | null {
  const sessionId = books.facts.get(id)?.sessionId ?? null;
  return sessionId === null ? null : (books.sessions.get(sessionId) ?? null);
}

export function intentOf(books: Books, session: Session): Intent | null {
  const { payment_intent: id } = session;
  return typeof id === 'string' ? (books.intents.get(id) ?? null) : null;
}

export function setupOf(books: Books, session: Session): Setup | null {
  const { setup_intent: id } = session;
  return typeof id === 'string' ? (books.setups.get(id) ?? null) : null;
}

export function complete(books: Books, session: Session): void {
  const intent = intentOf(books, session);
  session.status = 'complete';
  session.url = null;
  if (intent?.status === 'succeeded') session.payment_status = 'paid';
  session.customer = intent?.customer ?? setupOf(books, session)?.customer ?? session.customer;
  session.customer_details = {
    address: null,
    business_name: null,
    email: session.customer_email ?? 'buyer@example.com',
    individual_name: null,
    name: 'Test Buyer',
    phone: null,
    tax_exempt: 'none',
    tax_ids: [],
  };
  books.emit('checkout.session.completed', session);
}

/** The money of a session has come, or will not, after its buyer had left. */
export function afterwards(books: Books, intent: Intent): void {
  const session = sessionOf(books, intent.id);
  if (session === null || session.status !== 'complete') return;
  if (intent.status === 'succeeded') session.payment_status = 'paid';
}

/** A debit has settled: who waits for it is told. */
export function debitSettled(books: Books, intent: Intent): void {
  afterwards(books, intent);
  const session = sessionOf(books, intent.id);
  if (session === null) return;
  if (intent.status === 'succeeded') {
    books.emit('checkout.session.async_payment_succeeded', session);
  } else {
    books.emit('checkout.session.async_payment_failed', session);
  }
}

export function expireByCall(books: Books, session: Session): Session {
  if (session.status !== 'open') {
    throw refused(
      'Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has ' +
        `a status of \`${session.status}\`.`,
    );
  }
  expire(books, session);
  return session;
}

export function expire(books: Books, session: Session): void {
  session.status = 'expired';
  session.url = null;
  const intent = intentOf(books, session);
  if (intent !== null) cancel(books, intent, 'expired');
  const setup = setupOf(books, session);
  if (setup !== null) cancelSetup(books, setup);
  books.emit('checkout.session.expired', session);
}

const NO_TEXTS: Stripe.Checkout.Session.CustomText = {
  after_submit: null,
  shipping_address: null,
  submit: null,
  terms_of_service_acceptance: null,
};

function blankSession(books: Books, id: string): Session {
  return {
    id,
    object: 'checkout.session',
    adaptive_pricing: { enabled: false },
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: null,
    amount_subtotal: null,
    amount_total: null,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: null,
    client_reference_id: null,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: books.now(),
    currency: null,
    currency_conversion: null,
    custom_fields: [],
    custom_text: NO_TEXTS,
    customer: null,
    customer_account: null,
    customer_creation: null,
    customer_details: null,
    customer_email: null,
    discounts: [],
    expires_at: 0,
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    livemode: books.livemode,
    locale: null,
    managed_payments: null,
    metadata: {},
    mode: 'payment',
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: 'if_required',
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: [],
    payment_status: 'unpaid',
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open',
    submit_type: null,
    subscription: null,
    success_url: null,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${books.url()}/c/pay/${id}`,
    wallet_options: null,
  };
}
