import { type Static, Type } from '@sinclair/typebox';
import type { OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { type CheckoutRefusal, discountOfCode } from '../../payments/open-checkout.ts';
import type { Openings } from '../../payments/openings.ts';
import type { Executor, Sql } from '../../platform/postgres/postgres.ts';
import {
  type CheckoutRecord,
  expireCheckout,
  findCheckout,
  listCheckouts,
} from '../../records/checkouts.ts';
import { findProduct } from '../../records/products.ts';
import { ofScope } from '../../records/page.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid, Unavailable } from '../edge/errors.ts';
import {
  type Answer,
  answer,
  answeredBefore,
  keyedAnswer,
  onceRefused,
  refusal,
  refusedField,
  respond,
} from '../idempotency/idempotency.ts';
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

export type CheckoutRoutesDeps = {
  readonly edge: Edge;
  readonly openings: Openings;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly orgClock: OrgClock;
  readonly settings: Settings;
};

const tag = 'Checkouts';
const params = { id: 'The id of the checkout.' };

const CREATE = {
  operationId: 'createCheckout',
  method: 'POST',
  path: '/checkouts',
  client: 'checkouts.create',
  summary: 'Create a hosted checkout',
  description:
    'Send the buyer to its `url`. It can be paid once, within 24 hours. The same Idempotency-Key ' +
    'returns the earlier checkout, whatever the body. The event `payment.succeeded` says that it ' +
    'is paid.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'checkout', isRoutine: true },
  body: CheckoutCreate,
  idempotent: 'any_body',
  answers: { 201: Checkout },
  refusals: ['not_found', 'conflict', 'checkout_create_failed'],
} as const;

const LIST = {
  operationId: 'listCheckouts',
  method: 'GET',
  path: '/checkouts',
  client: 'checkouts.list',
  summary: 'List checkouts, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body({ ...PAGE, status: Type.Optional(CheckoutStatus) }),
  answers: { 200: ListOf(Checkout) },
} as const;

const READ = {
  operationId: 'getCheckout',
  method: 'GET',
  path: '/checkouts/{id}',
  client: 'checkouts.retrieve',
  summary: 'Get a checkout',
  description:
    'For dashboards and backfills. Do not poll it: the event `payment.succeeded` says that it is ' +
    'paid.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Checkout },
  refusals: ['not_found'],
} as const;

const EXPIRE = {
  operationId: 'expireCheckout',
  method: 'POST',
  path: '/checkouts/{id}/expire',
  client: 'checkouts.expire',
  summary: 'Expire a checkout',
  description: 'It can no longer be paid. Repeating the call gives the same answer.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'checkout', before: READ, isRoutine: true },
  params,
  answers: { 200: Checkout },
  refusals: ['not_found', 'invalid_state'],
} as const;

const notFound = () => refuse('not_found', 'no such checkout');

export function checkoutRoutes(deps: CheckoutRoutesDeps): Route[] {
  return [createCheckout(deps), readCheckouts(deps), readCheckout(deps), endCheckout(deps)];
}

function createCheckout(deps: CheckoutRoutesDeps): Route {
  const { edge, sql, openings, orgClock, settings } = deps;
  return edge.organisation(CREATE, async ({ principal, body, idempotencyKey: key }) => {
    const loopback = settings.allowLoopbackUrls && principal.mode === 'test';
    const issues = urlIssues(body, { loopback });
    if (issues.length > 0) return refuseInvalid(issues);
    const now = orgClock.now(principal);
    const attempt = { sql, principal, operation: CREATE, key, body, now };
    const refused = await refusedCustomer(sql, principal, body);
    if (refused !== null) {
      const product = await findProduct(sql, principal, body.product_id);
      return onceRefused(attempt, product === null ? NO_PRODUCT : refused);
    }
    const discount = await discountOfCode(sql, principal, body.discount_code);
    const made = (checkout: CheckoutRecord): Answer =>
      answer(201, fromCheckout(checkout, settings.checkoutUrl));
    const opened = await openings.open({
      scope: principal,
      input: toCheckoutInput(body, discount),
      now,
      keyed: (checkout) => keyedAnswer(attempt, () => made(checkout)),
    });
    if (opened.kind === 'opened') return respond(made(opened.checkout));
    if (opened.kind === 'key_taken') return answeredBefore(attempt);
    if (opened.kind === 'no_place') {
      throw new Unavailable('too many writes of this caller at once');
    }
    return onceRefused(attempt, refusalOf(opened));
  });
}

const NO_PRODUCT = refusal('not_found', 'no such product');

function refusalOf(refused: CheckoutRefusal): Answer {
  if (refused.kind === 'no_product') return NO_PRODUCT;
  return refused.kind === 'full'
    ? refusal('conflict', refused.full.message)
    : refusal('checkout_create_failed', refusalText(refused));
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
