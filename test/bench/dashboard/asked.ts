// What is asked: every page, lists with each filter and deep inside, and the calls behind them.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import { CHECKOUT_STATUSES } from '../../../src/dashboard/checkouts.ts';
import { DELIVERY_STATUSES } from '../../../src/records/deliveries.ts';
import { EVENT_TYPES } from '../../../src/records/events.ts';
import { PAYMENT_STATUSES } from '../../../src/dashboard/payments.ts';
import { INVOICE_STATUSES } from '../../../src/dashboard/invoices.ts';
import { PRODUCT_STATUSES } from '../../../src/dashboard/products.ts';
import { SUBSCRIPTION_STATUSES } from '../../../src/dashboard/subscriptions.ts';
import { FILES, SHOWN_PATHS } from '../../dashboard/book.ts';
import type { World } from './world.ts';

/** A page below the organisation and its mode, or a call of the API. */
export type Asked = { readonly kind: 'page' | 'call'; readonly path: string };

/** Rows of lists in the middle of them. */
type Middle = Readonly<Record<keyof typeof TABLES, string>>;

/** By the order in which a list shows them. */
const TABLES = {
  customers: 'id',
  payments: 'created_at, id',
  checkouts: 'id',
  subscriptions: 'created_at, id',
  invoices: 'created_at, id',
  events: 'at, id',
  products: 'id',
  meters: 'id',
  discounts: 'id',
  audit_log: 'at, id',
} as const;

export async function everythingAsked({ book, sql, organisation }: World): Promise<Asked[]> {
  const middle = await middleOf(sql, organisation.id);
  const pages = [...SHOWN_PATHS, ...FILES].map((path) => book.addressOf(path));
  const [customer = ''] = book.addressOf('/customers/:id').split('/').slice(-1);
  const [endpoint = ''] = book.addressOf('/webhooks/:id').split('/').slice(-1);
  const [subscription = ''] = book.addressOf('/subscriptions/:id').split('/').slice(-1);
  return [
    ...[...pages, ...(await othersOf(sql, organisation.id)), ...filtered(middle, customer)].map(
      (path) => ({ kind: 'page', path }) as const,
    ),
    ...(await deliveriesOf(sql, endpoint)).map((path) => ({ kind: 'page', path }) as const),
    ...calls(middle, { customer, subscription }).map((path) => ({ kind: 'call', path }) as const),
  ];
}

async function middleOf(sql: Sql, organisationId: string): Promise<Middle> {
  const middle: Record<string, string> = {};
  for (const [table, order] of Object.entries(TABLES)) {
    const rows = await sql.unsafe<{ id: string }[]>(
      `select id from ${table} where organisation_id = $1 order by ${order}
       offset (select count(*) / 2 from ${table} where organisation_id = $1) limit 1`,
      [organisationId],
    );
    middle[table] = rows[0]?.id ?? '';
  }
  return middle as Middle;
}

/** Of a customer like most others. */
async function othersOf(sql: Sql, organisationId: string): Promise<string[]> {
  const [row] = await sql<{ customer: string; subscription: string }[]>`
    select c.id as customer, s.id as subscription
    from customers c join subscriptions s on s.customer_id = c.id and s.status = 'active' and s.overdue = 'warning'
    where c.organisation_id = ${organisationId} and c.name = 'Customer 81'`;
  const { customer, subscription } = row ?? { customer: '', subscription: '' };
  return [`/customers/${customer}`, `/subscriptions/${subscription}`];
}

function filtered(middle: Middle, customer: string): string[] {
  const after = (list: string, table: keyof Middle, more = '') =>
    `${list}?after=${middle[table]}${more}`;
  const each = (list: string, name: string, values: readonly string[]) =>
    values.map((value) => `${list}?${name}=${value}`);
  const whose = (list: string) => [
    `${list}?customer=${customer}`,
    `${list}?customer=user-81`,
    `${list}?customer=user-81@example.com`,
    `${list}?customer=nobody@example.com`,
  ];
  return [
    after('/customers', 'customers'),
    ...each('/customers', 'search', ['u', 'user-5', 'user-81@example.com', 'USER-81', 'nobody']),
    after('/customers', 'customers', '&search=user'),
    after('/payments', 'payments'),
    ...each('/payments', 'status', PAYMENT_STATUSES),
    after('/payments', 'payments', '&status=failed'),
    ...whose('/payments'),
    `/payments?customer=${customer}&status=failed`,
    `/payments?customer=${customer}&status=canceled`,
    after('/checkouts', 'checkouts'),
    ...each('/checkouts', 'status', CHECKOUT_STATUSES),
    after('/subscriptions', 'subscriptions'),
    ...each('/subscriptions', 'status', SUBSCRIPTION_STATUSES),
    after('/subscriptions', 'subscriptions', '&status=canceled'),
    ...whose('/subscriptions'),
    `/subscriptions?customer=${customer}&status=paused`,
    after('/dunning', 'invoices'),
    after('/invoices', 'invoices'),
    ...each('/invoices', 'status', INVOICE_STATUSES),
    after('/invoices', 'invoices', '&status=open'),
    ...whose('/invoices'),
    `/invoices?customer=${customer}&status=void`,
    after('/events', 'events'),
    ...each('/events', 'type', [
      'payment.succeeded',
      'refund.succeeded',
      'meter.created',
      ...EVENT_TYPES.slice(0, 1),
    ]),
    after('/events', 'events', '&type=payment.failed'),
    after('/products', 'products'),
    ...each('/products', 'status', PRODUCT_STATUSES),
    after('/meters', 'meters'),
    after('/discounts', 'discounts'),
    after('/audit-log', 'audit_log'),
    ...each('/audit-log', 'operation', ['refundPayment', 'createMeter', 'nothing']),
    ...each('/audit-log', 'actor_kind', ['user', 'key', 'command_line']),
    ...each('/audit-log', 'actor', ['a-7@example.com', 'nobody@example.com']),
    `/audit-log?object_id=${customer}`,
    `/audit-log?operation=refundPayment&actor_kind=command_line`,
    `/why?customer=${customer}`,
    '/why?customer=user-81',
    '/why?search=a-500',
    `/why?search=${middle.payments}`,
    '/why?search=nothing',
    `/why?search=order-17&customer=${customer}`,
    `/why?customer=${customer}&at=2026-01-01T10:00`,
  ];
}

/** Of an endpoint with a quarter of all. */
async function deliveriesOf(sql: Sql, of: string): Promise<string[]> {
  const [row] = await sql<{ id: string; endpoint: string }[]>`
    select d.id, d.endpoint_id as endpoint from deliveries d
    join webhook_endpoints e on e.id = d.endpoint_id
    where e.organisation_id = (select organisation_id from webhook_endpoints where id = ${of})
    order by d.id offset 100 limit 1`;
  const list = `/deliveries?endpoint=${row?.endpoint}`;
  return [
    list,
    `${list}&after=${row?.id}`,
    ...DELIVERY_STATUSES.map((status) => `${list}&status=${status}`),
    `${list}&event_type=payment.failed`,
    `${list}&event_type=customer.created`,
    `${list}&event_type=customer.created&status=exhausted`,
    `/webhooks/${row?.endpoint}`,
  ];
}

function calls(
  middle: Middle,
  { customer, subscription }: { readonly customer: string; readonly subscription: string },
): string[] {
  const usage = (query: string) => `/usage?feature_key=api-calls&${query}`;
  const month = `from=${daysAgo(29)}`;
  return [
    usage('bin=hour'),
    usage('bin=day'),
    usage('bin=month'),
    usage(`bin=hour&${month}`),
    usage(`bin=day&customer_id=${customer}`),
    usage(`bin=hour&${month}&customer_id=${customer}`),
    usage('bin=day&external_customer_id=user-81'),
    usage(`bin=day&from=${daysAgo(1)}&group_by=metadata.region`),
    usage(`bin=day&from=${daysAgo(7)}&group_by=metadata.region`),
    usage(`bin=day&${month}&group_by=metadata.region&customer_id=${customer}`),
    '/usage?feature_key=feature-a-7&bin=hour&from=' + daysAgo(29),
    '/usage/events',
    '/usage/events?limit=200',
    '/usage/events?feature_key=api-calls',
    '/usage/events?feature_key=feature-a-7',
    `/usage/events?customer_id=${customer}`,
    '/usage/events?external_customer_id=user-81',
    `/usage/events?from=${daysAgo(20)}&to=${daysAgo(19)}`,
    `/decisions?customer_id=${customer}&at=${daysAgo(3)}`,
    `/decisions?customer_id=${customer}&at=${daysAgo(3)}&feature_key=api-calls&limit=50`,
    '/decisions?request_id=a-500',
    `/decisions?event_id=${middle.payments}`,
    '/audit-log?limit=200',
    `/audit-log?limit=200&after=${middle.audit_log}`,
    '/reports/overview',
    '/reports/webhooks',
    '/customers?limit=200',
    `/customers/${customer}/balances`,
    `/customers/${customer}/grants`,
    `/events?object_id=${subscription}`,
    `/subscriptions/${subscription}/upcoming-invoice`,
    `/invoices?customer_id=${customer}&limit=200`,
  ];
}

const DAY_MS = 86_400_000;
/** A midnight: what is read is whole quarters. */
const daysAgo = (days: number): string =>
  new Date((Math.floor(Date.now() / DAY_MS) - days) * DAY_MS).toISOString();
