// Charges: each attempt of an intent is one, a declined one too.
import type Stripe from 'stripe';
import { chargeFee, DAY_S, move } from './balance.ts';
import { type Books, found, newId } from './books.ts';
import type { Decline } from './cards.ts';
import type { Charge, Intent, Method } from './types.ts';

/** How long an authorisation holds. */
export const HOLD_S = 7 * DAY_S;

type State =
  | { readonly kind: 'captured' | 'authorised' | 'pending' }
  | { readonly kind: 'failed'; readonly decline: Decline };

export function createCharge(books: Books, intent: Intent, method: Method, state: State): Charge {
  const failure = state.kind === 'failed' ? state.decline : null;
  const charge: Charge = {
    id: newId('ch'),
    object: 'charge',
    amount: intent.amount,
    amount_captured: 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: method.billing_details,
    calculated_statement_descriptor: 'FAKE',
    captured: false,
    created: books.now(),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: failure?.decline_code ?? failure?.code ?? null,
    failure_message: failure?.message ?? null,
    fraud_details: {},
    livemode: books.livemode,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: outcomeOf(failure),
    paid: state.kind === 'captured' || state.kind === 'authorised',
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: detailsOf(books, method, state.kind === 'authorised'),
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: failure !== null ? 'failed' : state.kind === 'pending' ? 'pending' : 'succeeded',
    transfer_data: null,
    transfer_group: null,
  };
  books.charges.set(charge.id, charge);
  intent.latest_charge = charge.id;
  if (state.kind === 'captured') collect(books, charge, charge.amount);
  if (state.kind === 'pending') books.emit('charge.pending', charge);
  else if (state.kind === 'failed') books.emit('charge.failed', charge);
  else books.emit('charge.succeeded', charge);
  return charge;
}

/** The money of a charge arrives. */
export function collect(books: Books, charge: Charge, amount: number): void {
  const isCard = charge.payment_method_details?.type === 'card';
  charge.captured = true;
  charge.paid = true;
  charge.status = 'succeeded';
  charge.amount_captured = amount;
  charge.balance_transaction = move(books, {
    type: isCard ? 'charge' : 'payment',
    category: 'charge',
    amount,
    currency: charge.currency,
    fee: chargeFee(books, amount, charge.currency, isCard),
    source: charge.id,
  }).id;
}

/** The charge that an intent's money came by. */
export function chargeOf(books: Books, intent: Intent): Charge | null {
  const { latest_charge: latest } = intent;
  if (latest === null) return null;
  return found(books.charges, typeof latest === 'string' ? latest : latest.id, 'charge');
}

function outcomeOf(failure: Decline | null): Stripe.Charge.Outcome {
  return {
    advice_code: null,
    network_advice_code: null,
    network_decline_code: null,
    network_status: failure === null ? 'approved_by_network' : 'declined_by_network',
    reason: failure?.decline_code ?? failure?.code ?? null,
    risk_level: 'normal',
    seller_message: failure?.message ?? 'Payment complete.',
    type: failure === null ? 'authorized' : 'issuer_declined',
  };
}

function detailsOf(
  books: Books,
  method: Method,
  isHeld: boolean,
): Stripe.Charge.PaymentMethodDetails {
  const { card, sepa_debit: sepa, us_bank_account: account } = method;
  if (card !== undefined) {
    return {
      type: 'card',
      card: {
        amount_authorized: null,
        authorization_code: '123456',
        brand: card.brand,
        ...(isHeld ? { capture_before: books.now() + HOLD_S } : {}),
        checks: card.checks,
        country: card.country,
        electronic_commerce_indicator: null,
        exp_month: card.exp_month,
        exp_year: card.exp_year,
        ...(card.fingerprint === undefined ? {} : { fingerprint: card.fingerprint }),
        funding: card.funding,
        installments: null,
        last4: card.last4,
        mandate: null,
        network: card.brand,
        network_transaction_id: '100000000000000',
        regulated_status: card.regulated_status,
        three_d_secure: null,
        transaction_link_id: null,
        wallet: null,
      },
    };
  }
  if (sepa !== undefined) {
    const { generated_from: _, ...shown } = sepa;
    return { type: 'sepa_debit', sepa_debit: { ...shown, mandate: newId('mandate') } };
  }
  if (account === undefined) throw new Error(`no details of a ${method.type}`);
  return {
    type: 'us_bank_account',
    us_bank_account: {
      account_holder_type: account.account_holder_type,
      account_type: account.account_type,
      bank_name: account.bank_name,
      fingerprint: account.fingerprint,
      last4: account.last4,
      mandate: newId('mandate'),
      payment_reference: null,
      routing_number: account.routing_number,
    },
  };
}
