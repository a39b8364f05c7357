import type { Ledger } from '../../../ledger/ledger.ts';
import { type Ids, LedgerUnavailable, type OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { Changes } from '../../platform/postgres/changes.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { noteLook } from '../../records/alert-looks.ts';
import {
  type AlertRecord,
  deleteAlert,
  findAlert,
  insertAlert,
  listAlerts,
  listAlertsOf,
} from '../../records/alerts.ts';
import { findActiveMeter } from '../../records/meters.ts';
import { ofScope } from '../../records/page.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { answer, once, refusal, refusedField } from '../idempotency/idempotency.ts';
import { answerList, ofCustomer, PAGE } from '../list.ts';
import { findNamedCustomer } from '../named-customer.ts';
import {
  Alert,
  ALERT_FILTERS,
  AlertCreate,
  CustomerAlerts,
  fromAlert,
  namesTwo,
  thresholdOf,
} from '../wire/alerts.ts';
import { Body, ListOf } from '../wire/values.ts';
import { findByReference } from './metering.ts';

export type AlertRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly changes: Changes;
  readonly ledger: Ledger;
  readonly settings: Settings;
};

const tag = 'Alerts';
const params = { id: 'The id of the alert.' };

const CREATE = {
  operationId: 'createAlert',
  method: 'POST',
  path: '/alerts',
  client: 'alerts.create',
  summary: 'Create an alert on a usage threshold',
  description: [
    'For one customer or, without one, for each customer, also later ones. `alert.triggered` ' +
      'is written with the usage or the reservation that reaches the threshold: once for each ' +
      'crossing, and one for each threshold that a call passes. When a grant or a new period ' +
      'leads back, `alert.recovered` is written and the alert is armed again. A correction does ' +
      'neither, and neither does late usage of an ended period. A customer who is already past ' +
      'the threshold gets one event with `initial: true`: before this answer if the alert is for ' +
      'one customer, else within a minute. Both events are written only if a webhook endpoint ' +
      'names them or has `*`.',
    'An alert cannot be changed: delete it and create another. A second alert with the same ' +
      'type, threshold and customer is 409 `conflict`. The number of alerts of a feature, an ' +
      'organization and a customer is bounded (`LIMIT_ALERTS_…`, 409 `conflict`). An alert is ' +
      'deleted with its meter. A boolean feature has no alerts (400).',
  ].join('\n\n'),
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'alert' },
  body: AlertCreate,
  idempotent: true,
  answers: { 201: Alert },
  refusals: ['not_found', 'conflict'],
} as const;

const LIST = {
  operationId: 'listAlerts',
  method: 'GET',
  path: '/alerts',
  client: 'alerts.list',
  summary: 'List alerts, newest first',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: Body({ ...PAGE, ...ALERT_FILTERS }),
  answers: { 200: ListOf(Alert) },
} as const;

const READ = {
  operationId: 'getAlert',
  method: 'GET',
  path: '/alerts/{id}',
  client: 'alerts.retrieve',
  summary: 'Get an alert',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params,
  answers: { 200: Alert },
  refusals: ['not_found'],
} as const;

const OF_CUSTOMER = {
  operationId: 'listCustomerAlerts',
  method: 'GET',
  path: '/customers/{id}/alerts',
  client: 'alerts.listOfCustomer',
  summary: 'List the alerts of a customer, and which have fired',
  description:
    "The customer's own alerts, and those for each customer of its features. By feature, then in " +
    'the order in which usage reaches them.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  params: { id: "The id of the customer, or the merchant's own (external_customer_id)." },
  query: Body({ feature_key: ALERT_FILTERS.feature_key }),
  answers: { 200: CustomerAlerts },
  refusals: ['not_found'],
} as const;

const REMOVE = {
  operationId: 'deleteAlert',
  method: 'DELETE',
  path: '/alerts/{id}',
  client: 'alerts.del',
  summary: 'Delete an alert',
  description: 'It no longer fires, and does not recover.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'alert', before: READ },
  params,
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

export function alertRoutes(deps: AlertRoutesDeps): Route[] {
  return [
    createRoute(deps),
    listRoute(deps),
    readRoute(deps),
    removeRoute(deps),
    ofCustomerRoute(deps),
  ];
}

const notFound = (what = 'alert') => refuse('not_found', `no such ${what}`);

function createRoute(deps: AlertRoutesDeps): Route {
  const { edge, sql, ids, orgClock } = deps;
  const { bounds } = deps.settings;
  return edge.organisation(CREATE, async ({ principal, body, idempotencyKey: key }) => {
    const issue = namesTwo(body);
    if (issue !== null) return refuseInvalid([issue]);
    const isForAll = body.customer_id === undefined && body.external_customer_id === undefined;
    const customer = isForAll ? null : await findNamedCustomer(sql, principal, body);
    if (customer === null && !isForAll) return notFound('customer');
    const meter = await findActiveMeter(sql, principal, body.feature_key);
    if (meter === null) return notFound('feature');
    const threshold = thresholdOf(body, meter);
    if (typeof threshold !== 'bigint') return refuseInvalid([threshold]);
    const now = orgClock.now(principal);
    const alert = {
      id: ids.next(),
      type: body.type,
      threshold,
      meter,
      customerId: customer?.id ?? null,
      externalCustomerId: customer?.externalCustomerId ?? null,
    };
    let made: AlertRecord | null = null;
    const attempt = { sql, principal, operation: CREATE, key, body, now };
    const response = await once(attempt, async (transaction) => {
      const outcome = await insertAlert(transaction, principal, { alert, bounds, now });
      if (outcome === 'meter_deleted') return refusal('not_found', 'no such feature');
      if (outcome === 'boolean') return refusedField('feature_key', 'is a boolean feature');
      if (outcome === 'taken') return refusal('conflict', 'there is such an alert already');
      if (outcome instanceof Full) return refusal('conflict', outcome.message);
      made = outcome;
      return answer(201, fromAlert(outcome));
    });
    if (made !== null) await tell(deps, made);
    return response;
  });
}

function listRoute({ edge, lists }: AlertRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) =>
    answerList(
      lists,
      { principal, query },
      {
        name: 'alerts',
        whose: ofScope(principal),
        rows: ofCustomer(principal, query, (own, page, customerId) =>
          listAlerts(own, principal, { ...page, customerId, slug: query.feature_key }),
        ),
        show: fromAlert,
      },
    ),
  );
}

function readRoute({ edge, sql }: AlertRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal, params: { id } }) => {
    const alert = await findAlert(sql, principal, id);
    return alert === null ? notFound() : Response.json(fromAlert(alert));
  });
}

function removeRoute(deps: AlertRoutesDeps): Route {
  const { edge, sql, orgClock } = deps;
  return edge.organisation(REMOVE, async ({ principal, params: { id } }) => {
    const now = orgClock.now(principal);
    const gone = await sql.begin((transaction) => deleteAlert(transaction, principal, { id, now }));
    if (gone === null) return notFound();
    await tell(deps, gone);
    return new Response(null, { status: 204 });
  });
}

function ofCustomerRoute({ edge, sql, ledger }: AlertRoutesDeps): Route {
  return edge.organisation(OF_CUSTOMER, async ({ principal, params: { id }, query }) => {
    const customer = await findByReference(ledger, principal, id);
    if (customer === null) return notFound('customer');
    const balances = await ledger.allBalances(customer);
    const fired = new Set(balances.flatMap((one) => one.fired));
    const alerts = await listAlertsOf(sql, principal, {
      customerId: customer.id,
      meterIds: balances.map(({ meter }) => meter.id),
      slug: query.feature_key,
    });
    const data = alerts.map((alert) => ({ ...fromAlert(alert), triggered: fired.has(alert.id) }));
    return Response.json({ data });
  });
}

/**
 * The next usage, on any node, has to see the change. The actor of one customer looks whether it is
 * past the alert; where it cannot now, that is owed (`src/metering/alert-looks.ts`).
 */
async function tell(
  { changes, ledger, sql }: AlertRoutesDeps,
  { id, meter, customerId }: AlertRecord,
): Promise<void> {
  if (customerId === null) return changes.publish('alert', meter.organisationId);
  try {
    await ledger.lookAtAlert(customerId, { alertId: id, meter, isOwn: true });
    await noteLook(sql, id, null);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
  }
}
