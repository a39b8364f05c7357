// The largest things that the bounds allow: one of each is made through the API, and copied in the
// database as often as a page has rows. Copies are older than what was made.
import { TRACK_BATCH_MAX } from '../../../ledger/limits.ts';
import { must } from '../../../ledger/kernel/assert.ts';
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import { Shop } from '../../payments/shop.ts';

export const BIG = 'big';
const COPIES = 199;
const METERS = 10;
const GRANTS = 1000;
const AT_ONCE = 32;

export const many = <T>(count: number, one: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => one(n));

const metadata = Object.fromEntries(many(50, (n) => [`key-${n}`.padEnd(40, 'k'), 'x'.repeat(500)]));
const month = { type: 'recurring', interval: 'month' };

/** What the walk needs to know of it. */
export type Largest = { readonly shop: Shop; readonly portal: string };

export async function makeLargest(): Promise<Largest> {
  const shop = await Shop.open({ own: true, alone: true });
  const { sql } = shop.server;
  const make = async (path: string, body: object) => {
    const { status, json, text } = await shop.server.call('POST', path, { body });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return json;
  };
  const slugs = many(METERS, (n) => `${BIG}-${n}`);
  for (const slug of slugs) await make('/meters', { slug, metadata });
  const meter = (await shop.server.call('GET', `/meters/${BIG}-0`)).json.id as string;
  await copy(sql, 'meters', meter, (n) => ({ slug: `copy-${n}`, event_name: `copy-${n}` }));

  const customer = await make('/customers', { external_customer_id: BIG, metadata });
  await copy(sql, 'customers', customer.id, (n) => ({ external_customer_id: `copy-${n}` }));
  for (let n = 0; n < 50; n += 1) {
    const object = { object_type: 'customer', object_id: customer.id };
    await make('/tags', { ...object, name: `tag-${n}` });
    await make('/custom-fields', { ...object, name: `field-${n}`, value: 'x'.repeat(500) });
  }

  const checkout = { external_customer_id: BIG, metadata };
  const payment = await shop.buy({ checkout });
  await copy(sql, 'payments', payment.id, () => ({}));
  const paid = await sql<{ id: string }[]>`
    select id from events where type = 'payment.succeeded' order by at desc limit 1`;
  await copy(sql, 'events', must(paid[0], 'an event').id, (n) => ({ object_id: older(n) }));
  await copy(sql, 'checkouts', payment.checkout_id, (n) => ({ token: `copy-${n}` }));

  // What is made last is what the walk takes.
  await subscribe(sql, make);
  await sellMuch(shop, make);
  await billMuch(shop, make);

  const [feature_key] = slugs;
  await make('/alerts', { feature_key, type: 'usage', threshold: 1 });
  const [alert] = await sql<{ id: string }[]>`select id from alerts`;
  const others = await sql<{ id: string }[]>`select id from meters where slug like 'copy-%'`;
  const own = (n: number) => ({
    customer_id: customer.id,
    meter_id: others[n % others.length]!.id,
    threshold: n,
  });
  await copy(sql, 'alerts', must(alert, 'an alert').id, own, 1000);
  await make('/discounts', { code: 'BIG', percent_off: 10 });
  const [log] = await sql<{ id: string }[]>`select id from audit_log limit 1`;
  const fields = { field: 'x'.repeat(60_000) };
  await copy(sql, 'audit_log', must(log, 'a row').id, () => ({ before: fields, after: fields }));

  await deliver(sql, make);
  await grantMuch(make, slugs);
  const { url } = await make(`/customers/${BIG}/portal-tokens`, {});
  const use = { feature_key, external_customer_id: BIG };
  // Its metadata is that of a page of events.
  for (let n = 0; n < 2; n += 1) {
    const few = Object.fromEntries(Object.entries(metadata).slice(0, 4));
    await make('/track/batch', {
      tracks: many(TRACK_BATCH_MAX, () => ({ ...use, metadata: few })),
    });
  }
  return { shop, portal: new URL(url).pathname };
}

type Make = (path: string, body: object) => Promise<ReturnType<typeof JSON.parse>>;

/**
 * A product with all its prices, features and usage prices, and as many such products as a page
 * has.
 */
async function sellMuch({ server: { sql } }: Shop, make: Make): Promise<void> {
  const tiers = many(50, (n) => ({
    up_to: n === 49 ? null : n + 1,
    unit_amount: '0.000000000001',
  }));
  const prices = many(200, () => ({ amount: '1', currency: 'USD', ...month }));
  const product = await make('/products', { name: 'Big', metadata, prices });
  await make(`/products/${product.id}/entitlements`, { feature_key: `${BIG}-0`, limit: 1 });
  const sold = { currency: 'USD', model: 'graduated', tiers };
  const priced = await make(`/products/${product.id}/usage-prices`, {
    feature_key: `${BIG}-0`,
    ...sold,
  });
  await copy(sql, 'usage_prices', priced.id, () => ({ status: 'archived' }));
  const meters = await sql<
    { id: string }[]
  >`select id from meters where slug like 'copy-%' limit 99`;
  const [given] = await sql<{ id: string }[]>`
    select id from entitlements where product_id = ${product.id}`;
  await copy(sql, 'entitlements', given!.id, (n) => ({ meter_id: meters[n]!.id }), meters.length);
  await copy(sql, 'products', product.id, (n) => ({ slug: `copy-${n}` }));
  await sql`
    insert into prices select r.* from prices p join products q on q.slug like 'copy-%',
      jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'product_id', q.id)) r
    where p.product_id = ${product.id}`;
}

/** An invoice with more lines than it shows, each with all the tiers that a price may have. */
async function billMuch({ server: { sql } }: Shop, make: Make): Promise<void> {
  const line = { description: 'x'.repeat(500), unit_amount: '1.00' };
  const bill = { external_customer_id: BIG, currency: 'USD', lines: many(100, () => line) };
  const { id } = await make('/invoices', { ...bill, draft: true });
  const tier = {
    quantity: '1.5',
    unitAmount: '0.000000000001',
    flatAmount: '1.00',
    amount: '1.000',
  };
  const period = { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' };
  const lines = many(150, (n) => ({
    id: `${id}-${n + 1}`,
    type: 'usage',
    description: 'x'.repeat(255),
    featureKey: BIG,
    usagePriceId: id,
    usageId: older(n),
    quantity: '1.5',
    amount: '100',
    billed: '0',
    tiers: many(50, () => tier),
    period,
  }));
  await sql`update invoices set lines = ${sql.json(lines)} where id = ${id}`;
  await copy(sql, 'invoices', id, () => ({}));
}

/** An endpoint with deliveries that were tried as often as they can be. */
async function deliver(sql: Sql, make: Make): Promise<void> {
  const { id } = await make('/webhook-endpoints', {
    url: 'http://localhost:65000/',
    event_types: ['*'],
  });
  const now = new Date();
  await sql`
    insert into deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    select e.id, ${id}, e.id, e.type, 'delivered', ${now}, ${now} from events e
    where e.type = 'payment.succeeded'`;
  await sql`
    insert into delivery_attempts (delivery_id, at, status_code, duration_ms, response_head)
    select d.id, ${now}::timestamptz - n * interval '1 s', 500, 1, repeat('x', 1024)
    from deliveries d, generate_series(1, 20) n where d.endpoint_id = ${id}`;
}

async function subscribe(sql: Sql, make: Make): Promise<void> {
  const prices = [{ amount: '1', currency: 'USD', ...month }];
  const { id } = await make('/products', { name: 'Plan', prices });
  const subscription = await make('/subscriptions', {
    external_customer_id: BIG,
    product_id: id,
    metadata,
  });
  const others = await sql<
    { id: string }[]
  >`select id from customers where external_customer_id like 'copy-%'`;
  const ended = { live: false, status: 'canceled', ended_at: new Date(), created_at: new Date(0) };
  await copy(sql, 'subscriptions', subscription.id, (n) => ({
    customer_id: others[n]!.id,
    ...ended,
  }));
}

async function grantMuch(make: Make, slugs: readonly string[]): Promise<void> {
  const grants = slugs.flatMap((slug) => many(GRANTS, () => slug)).values();
  const giver = async (): Promise<void> => {
    for (const feature_key of grants) {
      await make(`/customers/${BIG}/grants`, { feature_key, amount: 5, reason: 'x'.repeat(200) });
    }
  };
  await Promise.all(many(AT_ONCE, giver));
}

/** Older than any id that is made. */
const older = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** The row again and again, with other fields. */
async function copy(
  sql: Sql,
  table: string,
  id: string,
  fields: (n: number) => object,
  count = COPIES,
): Promise<void> {
  const rows = many(count, (n) => ({ id: older(n), ...fields(n) }));
  await sql`
    insert into ${sql(table)} select r.* from ${sql(table)} t, jsonb_array_elements(${sql.json(rows)}) c,
      jsonb_populate_record(t, c) r where t.id = ${id}`;
}
