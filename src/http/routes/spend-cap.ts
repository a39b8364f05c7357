import { must } from '../../../ledger/kernel/assert.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { fromSpendCap, SpendCap, SpendCapPut, toSpendCap } from '../wire/spend-cap.ts';
import { findByReference } from './metering.ts';

type SpendCapDeps = { readonly edge: Edge; readonly ledger: Ledger };

const tag = 'Customers';
const params = { id: "The id of the customer, or the merchant's own (external_customer_id)." };

const READ = {
  operationId: 'getSpendCap',
  method: 'GET',
  path: '/customers/{id}/spend-cap',
  client: 'customers.retrieveSpendCap',
  summary: 'Get the spend cap of a customer',
  description: 'With what is spent of it. 404 without a cap.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: SpendCap },
  refusals: ['not_found'],
} as const;

const PUT = {
  operationId: 'putSpendCap',
  method: 'PUT',
  path: '/customers/{id}/spend-cap',
  client: 'customers.putSpendCap',
  summary: 'Set the spend cap of a customer',
  description:
    "The most that unbilled usage of the customer's subscriptions in this currency may cost, " +
    'each in its current period: exact, before rounding and minimums. `/check` denies with ' +
    '`reason: "spend_cap"` where `value` more units would cost more than is left. What is ' +
    'included stays allowed. `/check` with `consume`, and `/track` with `overage: "reject"` ' +
    '(402), refuse it as well. Other usage is recorded and may pass the cap. A customer has one ' +
    'cap: another one, also in another currency, replaces it and arms ' +
    '`customer.spend_cap_reached` again. Setting the same cap changes nothing.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'spend_cap', id: 'path', before: READ },
  params,
  body: SpendCapPut,
  answers: { 200: SpendCap },
  refusals: ['not_found'],
} as const;

const REMOVE = {
  operationId: 'deleteSpendCap',
  method: 'DELETE',
  path: '/customers/{id}/spend-cap',
  client: 'customers.delSpendCap',
  summary: 'Remove the spend cap of a customer',
  description: '204 also where there is no cap.',
  tag,
  roles: ['owner', 'admin', 'support'],
  scopes: ['all'],
  audit: { object: 'spend_cap', id: 'path', before: READ },
  params,
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

export function spendCapRoutes(deps: SpendCapDeps): Route[] {
  return [putRoute(deps), readRoute(deps), removeRoute(deps)];
}

const noCustomer = () => refuse('not_found', 'no such customer');
const noCap = () => refuse('not_found', 'the customer has no spend cap');

function putRoute({ edge, ledger }: SpendCapDeps): Route {
  return edge.organisation(PUT, async ({ principal, params: { id }, body }) => {
    const cap = toSpendCap(body);
    if (!('amount' in cap)) return refuseInvalid([cap]);
    const customer = await findByReference(ledger, principal, id);
    if (customer === null) return noCustomer();
    const set = await ledger.subscriptions.setSpendCap(customer.id, cap);
    return Response.json(fromSpendCap(must(set, 'what was set'), customer.customer));
  });
}

function readRoute({ edge, ledger }: SpendCapDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const customer = await findByReference(ledger, principal, id);
    if (customer === null) return noCustomer();
    const cap = await ledger.subscriptions.spendCap(customer.id);
    return cap === null ? noCap() : Response.json(fromSpendCap(cap, customer.customer));
  });
}

function removeRoute({ edge, ledger }: SpendCapDeps): Route {
  return edge.organisation(REMOVE, async ({ principal, params: { id } }) => {
    const customer = await findByReference(ledger, principal, id);
    if (customer === null) return noCustomer();
    await ledger.subscriptions.setSpendCap(customer.id, null);
    return new Response(null, { status: 204 });
  });
}
