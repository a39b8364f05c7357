// The calls of charges, refunds, disputes and the balance.
import type Stripe from 'stripe';
import { balanceOf } from './balance.ts';
import { found, given } from './books.ts';
import { answers, lists, type Route, tells } from './call.ts';
import { invalid } from './errors.ts';
import {
  expandCharge,
  expandDispute,
  expandPayout,
  expandRefund,
  expandTransaction,
} from './expand.ts';
import { isAsked, isWithin } from './list.ts';
import { integer, metadata, oneOf, range, shape, text } from './params.ts';
import { createRefund } from './refunds.ts';

export const MONEY_CALLS: readonly Route[] = [
  answers('GET', '/v1/charges/:id', 'charge_read', {}, expandCharge, ({ books, id }) =>
    found(books.charges, id, 'charge'),
  ),
  lists(
    '/v1/charges',
    'charge_read',
    shape<Stripe.ChargeListParams>()({ created: range, customer: text, payment_intent: text }),
    expandCharge,
    ({ books, params }) =>
      [...books.charges.values()].filter(
        (one) =>
          isWithin(one.created, params.created) &&
          isAsked(one.customer, params.customer) &&
          isAsked(one.payment_intent, params.payment_intent),
      ),
  ),
  answers(
    'POST',
    '/v1/refunds',
    'charge_write',
    shape<Stripe.RefundCreateParams>()({
      amount: integer(1),
      charge: text,
      metadata,
      payment_intent: text,
      reason: oneOf('duplicate', 'fraudulent', 'requested_by_customer'),
    }),
    expandRefund,
    ({ books, params }) => {
      if ((params.charge === undefined) === (params.payment_intent === undefined)) {
        throw invalid('One of the following params should be provided: charge, payment_intent.', {
          code: 'parameter_missing',
        });
      }
      return createRefund(books, params);
    },
  ),
  answers('GET', '/v1/refunds/:id', 'charge_read', {}, expandRefund, ({ books, id }) =>
    found(books.refunds, id, 'refund'),
  ),
  lists(
    '/v1/refunds',
    'charge_read',
    shape<Stripe.RefundListParams>()({ charge: text, created: range, payment_intent: text }),
    expandRefund,
    ({ books, params }) =>
      [...books.refunds.values()].filter(
        (one) =>
          isWithin(one.created, params.created) &&
          isAsked(one.charge, params.charge) &&
          isAsked(one.payment_intent, params.payment_intent),
      ),
  ),
  answers('GET', '/v1/disputes/:id', 'dispute_read', {}, expandDispute, ({ books, id }) =>
    found(books.disputes, id, 'dispute'),
  ),
  lists(
    '/v1/disputes',
    'dispute_read',
    shape<Stripe.DisputeListParams>()({ charge: text, created: range, payment_intent: text }),
    expandDispute,
    ({ books, params }) =>
      [...books.disputes.values()].filter(
        (one) =>
          isWithin(one.created, params.created) &&
          isAsked(one.charge, params.charge) &&
          isAsked(one.payment_intent, params.payment_intent),
      ),
  ),
  answers(
    'GET',
    '/v1/balance_transactions/:id',
    'balance_transaction_source_read',
    {},
    expandTransaction,
    ({ books, id }) => found(books.transactions, id, 'balance_transaction'),
  ),
  lists(
    '/v1/balance_transactions',
    'balance_transaction_source_read',
    shape<Stripe.BalanceTransactionListParams>()({
      created: range,
      currency: text,
      payout: text,
      source: text,
      type: text,
    }),
    expandTransaction,
    ({ books, params }) => {
      if (params.payout !== undefined) given(books.payouts, params.payout, 'payout');
      return [...books.transactions.values()].filter(
        (one) =>
          isWithin(one.created, params.created) &&
          isAsked(one.currency, params.currency) &&
          isAsked(books.paidOut.get(one.id), params.payout) &&
          isAsked<unknown>(one.source, params.source) &&
          isAsked<string>(one.type, params.type),
      );
    },
  ),
  answers('GET', '/v1/payouts/:id', 'payout_read', {}, expandPayout, ({ books, id }) =>
    found(books.payouts, id, 'payout'),
  ),
  lists(
    '/v1/payouts',
    'payout_read',
    shape<Stripe.PayoutListParams>()({ arrival_date: range, created: range, status: text }),
    expandPayout,
    ({ books, params }) =>
      [...books.payouts.values()].filter(
        (one) =>
          isWithin(one.created, params.created) &&
          isWithin(one.arrival_date, params.arrival_date) &&
          isAsked(one.status, params.status),
      ),
  ),
  tells('GET', '/v1/balance', 'balance_read', {}, ({ books }) => balanceOf(books)),
];
