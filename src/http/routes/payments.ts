import { Type } from '@sinclair/typebox';
import { unreachable } from '../../../ledger/kernel/assert.ts';
import type { RefundRefusal } from '../../../ledger/payments/payment.ts';
import { slotOf } from '../../../ledger/kernel/slot.ts';
import type { Payments, RefundReply } from '../../payments/payments.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findPayment, findRefund, listPayments, listRefunds } from '../../records/payments.ts';
import { ofScope } from '../../records/page.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
import { answerList, PAGE } from '../list.ts';
import { refuseRate } from '../edge/rate-limit.ts';
import { moneyOf } from '../wire/money.ts';
import {
  fromPayment,
  fromRefund,
  Payment,
  PaymentStatus,
  Refund,
  RefundCreate,
} from '../wire/payments.ts';
import { Body, ExternalCustomerId, ListOf, Uuid } from '../wire/values.ts';

export type PaymentRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly payments: Payments;
};

const tag = 'Payments';
const params = { id: 'The id of the payment.' };

const LIST = {
  operationId: 'listPayments',
  method: 'GET',
  path: '/payments',
  client: 'payments.list',
  summary: 'List payments, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body({
    ...PAGE,
    customer_id: Type.Optional(Uuid),
    subscription_id: Type.Optional(Uuid),
    checkout_id: Type.Optional(Uuid),
    external_customer_id: Type.Optional(ExternalCustomerId),
    status: Type.Optional(PaymentStatus),
  }),
  answers: { 200: ListOf(Payment) },
} as const;

const READ = {
  operationId: 'getPayment',
  method: 'GET',
  path: '/payments/{id}',
  client: 'payments.retrieve',
  summary: 'Get a payment',
  description:
    'A pending refund counts in `amount_refund_pending` and does not change `status`. A dispute ' +
    'does not change it either: it is in `disputes`.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Payment },
  refusals: ['not_found'],
} as const;

const REFUND = {
  operationId: 'refundPayment',
  method: 'POST',
  path: '/payments/{id}/refund',
  client: 'payments.refund',
  summary: 'Refund a payment, in full or in part',
  description:
    'Without an `amount` all that is left is refunded. Pending refunds count as refunded, so ' +
    'concurrent calls never refund more than was captured. With an `Idempotency-Key` a retry ' +
    'gets the original refund.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'payment', id: 'path' },
  params,
  body: RefundCreate,
  bodyOptional: true,
  idempotent: true,
  answers: { 200: Refund },
  refusals: ['not_found', 'validation_error', 'rate_limited'],
} as const;

const REFUNDS = {
  operationId: 'listRefunds',
  method: 'GET',
  path: '/payments/{id}/refunds',
  client: 'payments.listRefunds',
  summary: "List a payment's refunds, newest first",
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  query: Body(PAGE),
  answers: { 200: ListOf(Refund) },
  refusals: ['not_found'],
} as const;

const READ_REFUND = {
  operationId: 'getRefund',
  method: 'GET',
  path: '/refunds/{id}',
  client: 'refunds.retrieve',
  summary: 'Get a refund',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: { id: 'The id of the refund.' },
  answers: { 200: Refund },
  refusals: ['not_found'],
} as const;

const noPayment = () => refuse('not_found', 'no such payment');

export function paymentRoutes(deps: PaymentRoutesDeps): Route[] {
  return [
    readPayments(deps),
    readPayment(deps),
    refundPayment(deps),
    readRefunds(deps),
    readRefund(deps),
  ];
}

function readPayments({ edge, lists }: PaymentRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) => {
    const filter = {
      customerId: query.customer_id,
      externalCustomerId: query.external_customer_id,
      subscriptionId: query.subscription_id,
      checkoutId: query.checkout_id,
      status: query.status,
    };
    return answerList(
      lists,
      { principal, query },
      {
        name: 'payments',
        whose: ofScope(principal),
        rows: (sql, page) => listPayments(sql, principal, { ...page, ...filter }),
        show: fromPayment,
      },
    );
  });
}

function readPayment({ edge, sql }: PaymentRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const payment = await findPayment(sql, principal, id);
    return payment === null ? noPayment() : Response.json(fromPayment(payment));
  });
}

function refundPayment({ edge, payments }: PaymentRoutesDeps): Route {
  return edge.organisation(REFUND, async ({ principal, params: { id }, body, idempotencyKey }) => {
    const reply = await payments.refund(principal, {
      paymentId: id.toLowerCase(),
      amount: body?.amount ?? null,
      reason: body?.reason ?? 'requested_by_customer',
      idempotencyKey,
    });
    return respond(reply, body?.amount ?? '');
  });
}

const REFUSALS: Record<RefundRefusal, string> = {
  no_charge: 'the payment has no linked charge to reverse',
  nothing_left: 'nothing is left to refund: pending refunds count as refunded',
  exceeds_refundable:
    'the amount exceeds what is left to refund: pending refunds count as refunded',
  disputed:
    'the amount is disputed: it is held while the dispute is open, and gone once that is lost',
};

function respond(reply: RefundReply, amount: string): Response {
  switch (reply.kind) {
    case 'refund':
      return Response.json(fromRefund(reply.refund), replayed(reply));
    case 'refused':
      return refuse('validation_error', REFUSALS[reply.refusal], replayed(reply));
    case 'not_found':
      return noPayment();
    case 'invalid_amount': {
      const issue = moneyOf(amount, reply.currency, ['amount']);
      const zero = { path: ['amount'], message: 'must be more than zero' };
      return refuseInvalid([typeof issue === 'bigint' ? zero : issue]);
    }
    case 'key_reused':
      return refuse('idempotency_key_reused', 'this key was used for another refund');
    case 'in_progress':
      return refuse('idempotency_in_progress', 'a refund with this key is being executed');
    case 'rate_limited':
      return refuseRate(reply.taken);
    default:
      return unreachable(reply);
  }
}

function replayed(reply: { readonly replayed: boolean }) {
  return reply.replayed ? REPLAYED : {};
}

function readRefunds({ edge, sql, lists }: PaymentRoutesDeps): Route {
  return edge.organisation(REFUNDS, async ({ principal, params: { id }, query }) => {
    const payment = await findPayment(sql, principal, id);
    if (payment === null) return noPayment();
    const of = { slot: slotOf(payment.id), id: payment.id };
    return answerList(
      lists,
      { principal, query },
      {
        name: 'refunds',
        whose: { slot: of.slot, payment_id: of.id },
        rows: (own, page) => listRefunds(own, of, page),
        show: fromRefund,
      },
    );
  });
}

function readRefund({ edge, sql }: PaymentRoutesDeps): Route {
  return edge.organisation(READ_REFUND, async ({ principal, params: { id } }) => {
    const refund = await findRefund(sql, principal, id);
    return refund === null
      ? refuse('not_found', 'no such refund')
      : Response.json(fromRefund(refund));
  });
}
