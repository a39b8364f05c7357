// Customers, and the payment methods that they keep.
import type Stripe from 'stripe';
import { type Books, found, given, newId } from './books.ts';
import { type Card, type Debit, type Instrument, instrumentOf } from './cards.ts';
import { refused } from './errors.ts';
import type { Customer, Method } from './types.ts';

const NO_DETAILS: Stripe.PaymentMethod.BillingDetails = {
  address: null,
  email: null,
  name: null,
  phone: null,
  tax_id: null,
};

type CustomerData = Pick<Stripe.CustomerCreateParams, 'email' | 'name' | 'description'> & {
  readonly metadata?: Stripe.Metadata;
};

export function createCustomer(books: Books, data: CustomerData = {}): Customer {
  const customer: Customer = {
    id: newId('cus', 14),
    object: 'customer',
    address: null,
    balance: 0,
    created: books.now(),
    currency: null,
    default_source: null,
    delinquent: false,
    description: data.description ?? null,
    discount: null,
    email: data.email ?? null,
    invoice_prefix: null,
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: books.livemode,
    metadata: data.metadata ?? {},
    name: data.name ?? null,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  };
  books.customers.set(customer.id, customer);
  books.emit('customer.created', customer);
  return customer;
}

/** A bank account is debited by SEPA in euros and by ACH in dollars; else it cannot be. */
export function debitIn(currency: string): 'sepa_debit' | 'us_bank_account' | null {
  if (currency === 'eur') return 'sepa_debit';
  return currency === 'usd' ? 'us_bank_account' : null;
}

export function createMethod(books: Books, instrument: Instrument, currency: string): Method {
  const common = {
    id: newId('pm'),
    object: 'payment_method',
    allow_redisplay: 'limited',
    billing_details: NO_DETAILS,
    created: books.now(),
    customer: null,
    customer_account: null,
    livemode: books.livemode,
    metadata: {},
  } as const;
  const method: Method =
    instrument.type === 'card'
      ? { ...common, type: 'card', card: shownCard(instrument) }
      : debitIn(currency) === 'us_bank_account'
        ? { ...common, type: 'us_bank_account', us_bank_account: shownAccount(instrument) }
        : { ...common, type: 'sepa_debit', sepa_debit: shownDebit(instrument) };
  books.methods.set(method.id, method);
  books.instruments.set(method.id, instrument);
  return method;
}

function shownCard(card: Card): Stripe.PaymentMethod.Card {
  return {
    brand: card.brand,
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
    country: 'US',
    display_brand: card.brand,
    exp_month: card.month,
    exp_year: card.year,
    fingerprint: fingerprintOf(card.number),
    funding: 'credit',
    generated_from: null,
    last4: card.number.slice(-4),
    networks: { available: [card.brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null,
  };
}

function shownDebit(debit: Debit): Stripe.PaymentMethod.SepaDebit {
  return {
    bank_code: debit.iban.slice(4, 12),
    branch_code: null,
    country: debit.iban.slice(0, 2),
    fingerprint: fingerprintOf(debit.iban),
    generated_from: { charge: null, setup_attempt: null },
    last4: debit.iban.slice(-4),
  };
}

function shownAccount(debit: Debit): Stripe.PaymentMethod.UsBankAccount {
  return {
    account_holder_type: 'individual',
    account_type: 'checking',
    bank_name: 'STRIPE TEST BANK',
    financial_connections_account: null,
    fingerprint: fingerprintOf(debit.iban),
    last4: debit.iban.slice(-4),
    networks: { preferred: 'ach', supported: ['ach'] },
    routing_number: '110000000',
    status_details: {},
  };
}

/** The same for the same number, and no way back to it. */
function fingerprintOf(number: string): string {
  return Bun.hash(number).toString(36).padStart(16, '0').slice(0, 16);
}

/** Keeps a method for a customer, so that it can be charged again. */
export function attach(books: Books, method: Method, customerId: string): void {
  if (method.customer === customerId) return;
  method.customer = customerId;
  books.emit('payment_method.attached', method);
}

export function detach(books: Books, id: string): Method {
  const method = found(books.methods, id, 'PaymentMethod', 'payment_method');
  if (method.customer === null) {
    throw refused(
      'The payment method you provided is not attached to a customer so detachment is impossible.',
    );
  }
  method.customer = null;
  books.usedUp.add(method.id);
  books.emit('payment_method.detached', method);
  return method;
}

/** Stripe's names of test cards, each a new method when it is attached. */
const NAMED: Readonly<Record<string, string>> = {
  pm_card_visa: '4242424242424242',
  pm_card_chargeCustomerFail: '4000000000000341',
  pm_card_authenticationRequired: '4000002760003184',
};

/** Attaches a method by its id, or by the name of a test card. */
export function attachNamed(books: Books, id: string, customerId: string): Method {
  found(books.customers, customerId, 'customer');
  const number = NAMED[id];
  const typed =
    number === undefined
      ? null
      : instrumentOf({ number, expiry: '12/34', cvc: '123' }, books.nowMs());
  const method =
    typed === null || typeof typed === 'string'
      ? found(books.methods, id, 'PaymentMethod', 'payment_method')
      : createMethod(books, typed, 'usd');
  attach(books, method, customerId);
  return method;
}

/** A method that may be charged for this customer; refused as Stripe does otherwise. */
export function usable(books: Books, id: string, customer: string | null): Method {
  const method = given(books.methods, id, 'payment_method');
  if (books.usedUp.has(id)) {
    throw refused(
      'The provided PaymentMethod was previously used with a PaymentIntent without Customer ' +
        'attachment, or was detached from a Customer. It may not be used again.',
      { param: 'payment_method' },
    );
  }
  if (method.customer !== null && method.customer !== customer) {
    throw refused(
      `The provided PaymentMethod cannot be attached. The customer does not have a payment method with the ID ${id}.`,
      { param: 'payment_method' },
    );
  }
  return method;
}
