// Lists read only as much of a table as they show: the database reads the order from an index, for
// each filter and from any row, however large the table is.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { ids } from '../../src/platform/ids.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { listAnnotations } from '../../src/records/annotations.ts';
import { listAuditRecords } from '../../src/records/audit-log.ts';
import { listCheckouts } from '../../src/records/checkouts.ts';
import { listCustomers } from '../../src/records/customers.ts';
import { listDeliveries } from '../../src/records/deliveries.ts';
import { listDiscounts } from '../../src/records/discounts.ts';
import { listEvents } from '../../src/records/events.ts';
import { listInvoices } from '../../src/records/invoices.ts';
import { listMeters } from '../../src/records/meters.ts';
import { listInvitations } from '../../src/records/invitations.ts';
import { listMembers } from '../../src/records/members.ts';
import type { Page } from '../../src/records/page.ts';
import { listPayments, listRefunds } from '../../src/records/payments.ts';
import { listPayouts } from '../../src/records/payouts.ts';
import { listProducts } from '../../src/records/products.ts';
import { listSubscriptions } from '../../src/records/subscriptions.ts';
import { freshDatabase } from '../support/database.ts';

const scope = { organisationId: ids.next(), mode: 'live' } as const;
const one = ids.next();
const now = Date.UTC(2026, 0, 1);

const asked: string[] = [];
let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  await fill(database.url);
  sql = postgres(database.url, {
    max: 1,
    types: { bigint: postgres.BigInt },
    // The tables are empty here, so PostgreSQL would rather read and sort them whole.
    connection: { enable_seqscan: false, enable_bitmapscan: false, enable_sort: false },
    debug: (_connection, query) => asked.push(query),
  });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

/**
 * Customers have an index for their order and one for their e-mail, the audit log has several; the
 * statistics decide which is best.
 */
async function fill(url: string): Promise<void> {
  const rows = postgres(url, { max: 1 });
  await rows`insert into organisations (id, name, created_at) select uuidv7(), 'x', now() from generate_series(1, 20)`;
  await rows`
    insert into customers (id, organisation_id, mode, email, metadata, event_sequence, created_at, updated_at)
    select uuidv7(), o.id, ${scope.mode}, n || '@b.example', '{}', 1, now(), now()
    from generate_series(1, 200) n, organisations o`;
  await rows`analyze customers`;
  await rows`
    insert into audit_log (id, organisation_id, mode, at, actor_kind, actor_id, actor_label, operation, object_type, object_id)
    select uuidv7(), o.id, ${scope.mode}, now(), 'key', uuidv7(), '', 'o' || n, 'product', uuidv7()
    from generate_series(1, 200) n, organisations o`;
  await rows`analyze audit_log`;
  await rows.end();
}

type List = (page: Page) => Promise<unknown>;
const time = { at: '2026-01-01 00:00:00+00' };
const byId = { at: null };

const ALL = {
  actorId: undefined,
  actorKind: undefined,
  operation: undefined,
  objectId: undefined,
  from: null,
  to: null,
};

/** With the index for each filter. */
const LISTS: [string, index: string, place: { at: string | null }, List][] = [
  ['meters', 'meters_listed', byId, (page) => listMeters(sql, scope, page)],
  ['customers', 'customers_listed', byId, (page) => listCustomers(sql, scope, page)],
  [
    'customers by e-mail',
    'customers_listed_by_email',
    byId,
    (page) => listCustomers(sql, scope, { ...page, email: 'A@b.example' }),
  ],
  ['products', 'products_listed', byId, (page) => listProducts(sql, scope, page)],
  [
    'products by status',
    'products_by_status',
    byId,
    (page) => listProducts(sql, scope, { ...page, status: 'active' }),
  ],
  ['discounts', 'discounts_listed', byId, (page) => listDiscounts(sql, scope, page)],
  ['checkouts', 'checkouts_listed', byId, (page) => listCheckouts(sql, scope, { ...page, now })],
  [
    'checkouts that are paid',
    'checkouts_by_status',
    byId,
    (page) => listCheckouts(sql, scope, { ...page, now, status: 'paid' }),
  ],
  [
    'checkouts that are expired',
    'checkouts_by_status',
    byId,
    (page) => listCheckouts(sql, scope, { ...page, now, status: 'expired' }),
  ],
  ['payments', 'payments_listed', time, (page) => listPayments(sql, scope, page)],
  [
    'payments by customer',
    'payments_of_customer',
    time,
    (page) => listPayments(sql, scope, { ...page, customerId: one }),
  ],
  [
    'payments by external customer',
    'payments_of_external',
    time,
    (page) => listPayments(sql, scope, { ...page, externalCustomerId: 'x' }),
  ],
  [
    'payments by subscription',
    'payments_of_subscription',
    time,
    (page) => listPayments(sql, scope, { ...page, subscriptionId: one }),
  ],
  [
    'payments by checkout',
    'payments_of_checkout',
    time,
    (page) => listPayments(sql, scope, { ...page, checkoutId: one }),
  ],
  [
    'payments by status',
    'payments_by_status',
    time,
    (page) => listPayments(sql, scope, { ...page, status: 'failed' }),
  ],
  [
    'audit log',
    'audit_log_live',
    time,
    (page) => listAuditRecords(sql, scope, { ...page, ...ALL }),
  ],
  [
    'audit log of an actor',
    'audit_log_of_actor_live',
    time,
    (page) => listAuditRecords(sql, scope, { ...page, ...ALL, actorId: one }),
  ],
  [
    'audit log of a kind of actor',
    'audit_log_of_actor_kind_live',
    time,
    (page) => listAuditRecords(sql, scope, { ...page, ...ALL, actorKind: 'command_line' }),
  ],
  [
    'audit log of an operation',
    'audit_log_of_operation_live',
    time,
    (page) => listAuditRecords(sql, scope, { ...page, ...ALL, operation: 'createProduct' }),
  ],
  [
    'audit log of an object',
    'audit_log_of_object',
    time,
    (page) => listAuditRecords(sql, scope, { ...page, ...ALL, objectId: one }),
  ],
  [
    'payouts',
    'payouts_listed',
    time,
    (page) => listPayouts(sql, scope, { ...page, from: null, to: null }),
  ],
  [
    'payouts of a month',
    'payouts_listed',
    time,
    (page) => listPayouts(sql, scope, { ...page, from: new Date(now), to: new Date(now + 1) }),
  ],
  [
    'members',
    'organisation_members_listed',
    byId,
    (page) => listMembers(sql, scope.organisationId, page),
  ],
  [
    'invitations',
    'invitations_listed',
    byId,
    (page) => listInvitations(sql, scope.organisationId, page),
  ],
  ['refunds', 'refunds_listed', time, (page) => listRefunds(sql, { slot: 1, id: one }, page)],
  ['subscriptions', 'subscriptions_listed', time, (page) => listSubscriptions(sql, scope, page)],
  [
    'subscriptions by customer',
    'subscriptions_of_customer',
    time,
    (page) => listSubscriptions(sql, scope, { ...page, customerId: one }),
  ],
  [
    'subscriptions by product',
    'subscriptions_of_product',
    time,
    (page) => listSubscriptions(sql, scope, { ...page, productId: one }),
  ],
  [
    'subscriptions by status',
    'subscriptions_by_status',
    time,
    (page) => listSubscriptions(sql, scope, { ...page, status: 'active' }),
  ],
  ['invoices', 'invoices_listed', time, (page) => listInvoices(sql, scope, page)],
  [
    'invoices by customer',
    'invoices_listed_of_customer',
    time,
    (page) => listInvoices(sql, scope, { ...page, customerId: one }),
  ],
  [
    'invoices by subscription',
    'invoices_listed_of_subscription',
    time,
    (page) => listInvoices(sql, scope, { ...page, subscriptionId: one }),
  ],
  [
    'invoices by status',
    'invoices_by_status',
    time,
    (page) => listInvoices(sql, scope, { ...page, status: 'open' }),
  ],
  ['deliveries', 'deliveries_listed', byId, (page) => listDeliveries(sql, one, page)],
  [
    'deliveries that are held',
    'deliveries_not_sent',
    byId,
    (page) => listDeliveries(sql, one, { ...page, status: 'held' }),
  ],
  [
    'tags',
    'annotations_listed',
    byId,
    (page) => listAnnotations(sql, scope, { ...page, kind: 'tag' }),
  ],
  [
    'tags by name',
    'annotations_by_name',
    byId,
    (page) => listAnnotations(sql, scope, { ...page, kind: 'tag', name: 'vip' }),
  ],
  [
    'tags by type',
    'annotations_by_type',
    byId,
    (page) => listAnnotations(sql, scope, { ...page, kind: 'tag', objectType: 'invoice' }),
  ],
  ['events', 'events_listed', time, (page) => listEvents(sql, scope, page)],
  [
    'events of a time',
    'events_listed',
    time,
    (page) => listEvents(sql, scope, { ...page, since: new Date(now), until: new Date(now) }),
  ],
  [
    'events by type',
    'events_by_type',
    time,
    (page) => listEvents(sql, scope, { ...page, type: 'payment.succeeded' }),
  ],
  [
    'events by object',
    'events_sequence_once',
    { at: '7' },
    (page) => listEvents(sql, scope, { ...page, objectId: one }),
  ],
];

const CASES = LISTS.flatMap(([name, index, place, list]) => [
  { name, index, list: () => list({ limit: 50, offset: 0 }) },
  {
    name: `${name}, further on`,
    index,
    list: () => list({ limit: 50, offset: 0, after: { ...place, id: one } }),
  },
]);

test.each(CASES)('the query of a list uses its index: $name', async ({ index, list }) => {
  asked.length = 0;
  await list();
  const [query = ''] = asked.filter((text) => /order by .* limit/s.test(text));
  const plan = await sql.unsafe(`explain (generic_plan, costs off) ${query}`);
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toMatch(new RegExp(`Index (?:Only )?Scan.* using ${index} `));
  // At most a few rows of the same time are sorted. A subplan sorts what one row has: its disputes.
  const [ofList = ''] = text.split(/^\s*SubPlan/m);
  expect(ofList).not.toMatch(/^\s*(?:->\s+)?Sort$/m);
});

const BEGINNINGS: [string, string, (page: Page) => Promise<unknown>][] = [
  [
    'customers',
    'customers_listed_by_email',
    (page) => listCustomers(sql, scope, { ...page, emailPrefix: 'A' }),
  ],
  ['products', 'products_named', (page) => listProducts(sql, scope, { ...page, namePrefix: 'A' })],
];

test.each(BEGINNINGS)(
  'a search for %s by its beginning looks at a bounded number, and sorts them alone',
  async (table, index, list) => {
    asked.length = 0;
    await list({ limit: 50, offset: 0 });
    const plan = await sql.unsafe(`explain (generic_plan, costs off) ${asked[0]}`);
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toMatch(
      new RegExp(`InitPlan 1\\s+->\\s+Limit\\s+->\\s+Index (?:Only )?Scan using ${index} `),
    );
    expect(text).toMatch(new RegExp(`Index Scan.* using ${table}_pkey `));
  },
);

test('a search for an invoice by its number is fast however many there are', async () => {
  asked.length = 0;
  await listInvoices(sql, scope, { limit: 50, offset: 0, number: 'INV-2026-000001' });
  const [query = ''] = asked;
  // The statistics decide here, too; and sorting one row is no harm.
  const rows = postgres(database.url, { max: 1 });
  await rows`
    insert into invoices (id, organisation_id, mode, number, status, currency, subtotal, discount_total, tax_total, total, amount_paid,
      amount_refunded, billing_reason, issued_at, lines, seller, buyer, event_sequence, created_at, updated_at)
    select uuidv7(), o.id, ${scope.mode}, 'INV-' || n, 'open', 'USD', 0, 0, 0, 0, 0, 0, 'manual', now(), '[]', '{}', '{}', 1, now(), now()
    from generate_series(1, 200) n, organisations o`;
  await rows`analyze invoices`;
  const plan = await rows.unsafe(`explain (generic_plan, costs off) ${query}`);
  await rows.end();
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toMatch(/Index Scan.* using invoices_number_once /);
});
