import { type Static, Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import type { OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { openCheckout, type OpenCheckoutDeps } from '../../payments/open-checkout.ts';
import type { Executor, Sql } from '../../platform/postgres/postgres.ts';
import { expireCheckout, findCheckout, listCheckouts } from '../../records/checkouts.ts';
import { findProduct } from '../../records/products.ts';
import { ofScope } from '../../records/page.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { type Answer, answer, once, refusal, refusedField } from '../idempotency/idempotency.ts';
import { findNamedCustomer } from '../named-customer.ts';
import { answerList, PAGE } from '../list.ts';
import {
  Checkout,
  CheckoutCreate,
  CheckoutStatus,
  fromCheckout,
  refusalText,
  toCheckoutInput,
  urlIssues,
} from '../wire/checkouts.ts';
import { Body, ListOf } from '../wire/values.ts';

export type CheckoutRoutesDeps = OpenCheckoutDeps & {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly orgClock: OrgClock;
  readonly settings: Settings;
};

const tag = 'Checkouts';
const params = { id: 'The id of the checkout.' };

const CREATE = {
  operationId: 'createCheckout',
  summary: 'Create a hosted checkout',
  description:
    'Send the buyer to its `url`. It can be paid once, within 24 hours. The same Idempotency-Key returns the earlier checkout, ' +
    'whatever the body. `payment.succeeded` says that it was paid.',
  tag,
  body: CheckoutCreate,
  idempotent: 'any_body',
  answers: { 201: Checkout },
  refusals: ['not_found', 'conflict', 'checkout_create_failed'],
} as const;

const LIST = {
  operationId: 'listCheckouts',
  summary: 'List checkouts, newest first',
  tag,
  query: Body({ ...PAGE, status: Type.Optional(CheckoutStatus) }),
  answers: { 200: ListOf(Checkout) },
} as const;

const READ = {
  operationId: 'getCheckout',
  summary: 'Get a checkout',
  description:
    'For dashboards and backfills. Do not poll it: `payment.succeeded` says that it was paid.',
  tag,
  params,
  answers: { 200: Checkout },
  refusals: ['not_found'],
} as const;

const EXPIRE = {
  operationId: 'expireCheckout',
  summary: 'Expire a checkout',
  description: 'It cannot be paid any more. Again is the same answer.',
  tag,
  params,
  answers: { 200: Checkout },
  refusals: ['not_found', 'invalid_state'],
} as const;

const notFound = () => refuse('not_found', 'no such checkout');

export function checkoutRoutes(deps: CheckoutRoutesDeps) {
  return new Elysia()
    .post('/checkouts', ...createCheckout(deps))
    .get('/checkouts', ...readCheckouts(deps))
    .get('/checkouts/:id', ...readCheckout(deps))
    .post('/checkouts/:id/expire', ...endCheckout(deps));
}

function createCheckout(deps: CheckoutRoutesDeps): Route {
  const { edge, sql, orgClock, settings } = deps;
  return edge.organisation(CREATE, ({ principal, body, idempotencyKey: key }) => {
    const loopback = settings.allowLoopbackUrls && principal.mode === 'test';
    const issues = urlIssues(body, { loopback });
    if (issues.length > 0) return refuseInvalid(issues);
    const now = orgClock.now(principal);
    const operation = 'POST /checkouts';
    return once(
      { sql, principal, operation, key, body, anyBody: true, now },
      async (transaction) => {
        const product = await findProduct(transaction, principal, body.product_id);
        if (product === null) return refusal('not_found', 'no such product');
        const refused = await refusedCustomer(transaction, principal, body);
        if (refused !== null) return refused;
        const wish = toCheckoutInput(body, product);
        const opened = await openCheckout(transaction, deps, { scope: principal, wish, now });
        if (opened.kind === 'full') return refusal('conflict', opened.full.message);
        return opened.kind === 'opened'
          ? answer(201, fromCheckout(opened.checkout, settings.checkoutUrl))
          : refusal('checkout_create_failed', refusalText(opened));
      },
    );
  });
}

/** A customer that both ids name has to have both. */
async function refusedCustomer(
  sql: Executor,
  scope: Tenant,
  { customer_id: id, external_customer_id: externalId }: Static<typeof CheckoutCreate>,
): Promise<Answer | null> {
  if (id === undefined) return null;
  const customer = await findNamedCustomer(sql, scope, { customer_id: id });
  if (customer === null) return refusal('not_found', 'no such customer');
  return externalId === undefined || externalId === customer.externalCustomerId
    ? null
    : refusedField('external_customer_id', 'must be that of the customer with this customer_id');
}

function readCheckouts({ edge, lists, orgClock, settings }: CheckoutRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) => {
    const filter = { status: query.status, now: orgClock.now(principal) };
    return answerList(
      lists,
      { principal, query },
      {
        name: 'checkouts',
        whose: ofScope(principal),
        rows: (sql, page) => listCheckouts(sql, principal, { ...page, ...filter }),
        show: (checkout) => fromCheckout(checkout, settings.checkoutUrl),
      },
    );
  });
}

function readCheckout({ edge, sql, orgClock, settings }: CheckoutRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const checkout = await findCheckout(sql, principal, { id, now: orgClock.now(principal) });
    return checkout === null
      ? notFound()
      : Response.json(fromCheckout(checkout, settings.checkoutUrl));
  });
}

function endCheckout({ edge, sql, orgClock, settings }: CheckoutRoutesDeps): Route {
  return edge.organisation(EXPIRE, async ({ principal, params: { id } }) => {
    const now = orgClock.now(principal);
    const ended = await sql.begin((transaction) =>
      expireCheckout(transaction, principal, { id, now }),
    );
    if (ended === 'not_found') return notFound();
    if (ended === 'not_active') {
      return refuse('invalid_state', 'only an active checkout can be expired');
    }
    return Response.json(fromCheckout(ended, settings.checkoutUrl));
  });
}
