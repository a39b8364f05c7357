import { Type } from '@sinclair/typebox';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Changes } from '../../platform/postgres/changes.ts';
import type { Executor, Sql } from '../../platform/postgres/postgres.ts';
import {
  type CustomerRecord,
  findCustomer,
  insertCustomer,
  listCustomers,
  updateCustomer,
} from '../../records/customers.ts';
import { putCustomer } from '../../accounts/put-customer.ts';
import { ofScope } from '../../records/page.ts';
import { PREFIXED_MAX } from '../../records/prefixed.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { answer, once, refusal } from '../idempotency/idempotency.ts';
import { isStorableText } from '../edge/json.ts';
import { answerList, PAGE } from '../list.ts';
import {
  Customer,
  CustomerChange,
  CustomerCreate,
  fromCustomer,
  toCustomerPatch,
  externalIdFault,
  toNewCustomer,
  toPutCustomer,
} from '../wire/customers.ts';
import { Body, ListOf } from '../wire/values.ts';

export type CustomerRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly changes: Changes;
};

const tag = 'Customers';
const params = { id: "The id of the customer, or the merchant's own (external_customer_id)." };

const CREATE = {
  operationId: 'createCustomer',
  method: 'POST',
  path: '/customers',
  client: 'customers.create',
  summary: 'Create a customer',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'customer', isRoutine: true },
  body: CustomerCreate,
  idempotent: true,
  answers: { 201: Customer },
  refusals: ['conflict'],
} as const;

const LIST = {
  operationId: 'listCustomers',
  method: 'GET',
  path: '/customers',
  client: 'customers.list',
  summary: 'List customers, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body({
    ...PAGE,
    external_customer_id: Type.Optional(Type.String()),
    email: Type.Optional(Type.String()),
    email_prefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 254,
        description: `The beginning of the address, in any case. The first ${PREFIXED_MAX} in alphabetical order are listed.`,
      }),
    ),
  }),
  answers: { 200: ListOf(Customer) },
} as const;

const READ = {
  operationId: 'getCustomer',
  method: 'GET',
  path: '/customers/{id}',
  client: 'customers.retrieve',
  summary: 'Get a customer',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Customer },
  refusals: ['not_found'],
} as const;

const CHANGE = {
  operationId: 'updateCustomer',
  method: 'PATCH',
  path: '/customers/{id}',
  client: 'customers.update',
  summary: 'Update a customer',
  description: 'Metadata is replaced as a whole. `null` clears a field.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'customer', before: READ, isRoutine: true },
  params,
  body: CustomerChange,
  answers: { 200: Customer },
  refusals: ['not_found', 'conflict'],
} as const;

const PUT = {
  operationId: 'putCustomer',
  method: 'PUT',
  path: '/customers/{id}',
  client: 'customers.put',
  summary: 'Create or update a customer',
  description:
    'The `external_customer_id` in the path names the customer, also where it looks like a UUID. ' +
    'The call may be repeated, also concurrently: the first answers 201, the others 200. An ' +
    'omitted field keeps its value, `null` clears it, and metadata is replaced as a whole. A ' +
    'call that changes nothing sends no event. An `external_customer_id` in the body must be ' +
    'that of the path.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'customer', before: READ, isRoutine: true },
  params: { id: "The merchant's own id of the customer (external_customer_id), percent-encoded." },
  body: CustomerChange,
  answers: { 200: Customer, 201: Customer },
  refusals: ['conflict'],
} as const;

const TAKEN = 'another customer has this external_customer_id';
const notFound = () => refuse('not_found', 'no such customer');

export function customerRoutes(deps: CustomerRoutesDeps): Route[] {
  return [
    createCustomer(deps),
    readCustomers(deps),
    readCustomer(deps),
    putOneCustomer(deps),
    changeCustomer(deps),
  ];
}

function createCustomer({ edge, sql, ids, orgClock }: CustomerRoutesDeps): Route {
  return edge.organisation(CREATE, ({ principal, body, idempotencyKey: key }) => {
    const now = orgClock.now(principal);
    const attempt = { sql, principal, operation: CREATE, key, body, now };
    return once(attempt, async (transaction) => {
      const customer = toNewCustomer(body, ids.next());
      const creation = { customer, eventId: ids.next(), now };
      const made = await insertCustomer(transaction, principal, creation);
      if (made === 'external_id_taken') return refusal('conflict', TAKEN);
      return answer(201, fromCustomer(made));
    });
  });
}

function readCustomers({ edge, lists }: CustomerRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) => {
    const filter = {
      externalCustomerId: query.external_customer_id,
      email: query.email,
      emailPrefix: query.email_prefix,
    };
    return answerList(
      lists,
      { principal, query },
      {
        name: 'customers',
        whose: ofScope(principal),
        rows: (sql, page) => listCustomers(sql, principal, { ...page, ...filter }),
        show: fromCustomer,
      },
    );
  });
}

function readCustomer({ edge, sql }: CustomerRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const customer = await find(sql, principal, id);
    return customer === null ? notFound() : Response.json(fromCustomer(customer));
  });
}

function changeCustomer({ edge, sql, ids, orgClock, changes }: CustomerRoutesDeps): Route {
  return edge.organisation(CHANGE, async ({ principal, params: { id }, body }) => {
    const changed = await sql.begin(async (transaction) => {
      const customer = await find(transaction, principal, id);
      if (customer === null) return 'not_found';
      return updateCustomer(transaction, principal, {
        id: customer.id,
        patch: toCustomerPatch(body),
        eventId: ids.next(),
        now: orgClock.now(principal),
      });
    });
    if (changed === 'not_found') return notFound();
    if (changed === 'external_id_taken') return refuse('conflict', TAKEN);
    await changes.publish('customer', changed.id);
    return Response.json(fromCustomer(changed));
  });
}

function putOneCustomer({ edge, sql, ids, orgClock, changes }: CustomerRoutesDeps): Route {
  return edge.organisation(PUT, async ({ principal, params: { id: name }, body }) => {
    const fault = externalIdFault(name);
    if (fault !== null) return refuseInvalid([{ path: ['external_customer_id'], message: fault }]);
    const { externalCustomerId: said, ...patch } = toCustomerPatch(body);
    if (said !== undefined && said !== name) {
      return refuseInvalid([
        { path: ['external_customer_id'], message: 'is not that of the path' },
      ]);
    }
    const customer = toPutCustomer(patch, { id: ids.next(), externalCustomerId: name });
    const now = orgClock.now(principal);
    const put = await sql.begin((transaction) =>
      putCustomer(transaction, principal, { customer, patch, eventId: ids.next(), now }),
    );
    if (put === 'renamed')
      return refuse('conflict', 'other calls are renaming this customer: retry');
    if (!put.isNew) await changes.publish('customer', put.customer.id);
    return Response.json(fromCustomer(put.customer), { status: put.isNew ? 201 : 200 });
  });
}

/** A reference that PostgreSQL cannot store names nobody. */
async function find(
  sql: Executor,
  scope: Tenant,
  reference: string,
): Promise<CustomerRecord | null> {
  return isStorableText(reference) ? findCustomer(sql, scope, reference) : null;
}
