// A batch of follow-ups takes the invoice numbers of its organisations together, in one order: two
// batches that have them in two orders wait for each other, and never deadlock.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { Followups } from '../../src/payments/followups.ts';
import { until } from '../support/until.ts';
import { made, PATIENCE_MS, Shop } from './shop.ts';

setDefaultTimeout(2 * PATIENCE_MS);

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

type Sale = { readonly organisationId: string; readonly id: string };

let shop: Shop;
let followups: Followups;
let keys: [string, string];
const products = new Map<string, string>();

beforeAll(async () => {
  shop = await Shop.open();
  const { sql, organisation, other } = shop.server;
  keys = [organisation.testKey, other.testKey];
  for (const key of keys) {
    const body = { name: 'Lamp', prices: [{ amount: '100', currency: 'USD' }] };
    products.set(key, made(await shop.server.call('POST', '/products', { body, key })).id);
  }
  followups = new Followups({
    sql,
    ids,
    orgClock: { now: () => Date.now() },
    timers,
    log: SILENT,
    sendsMail: false,
    onSubscriptionPayment: () => Promise.resolve(),
    onUsageGivenBack: () => Promise.resolve(),
    onTopUpPayment: () => Promise.resolve(),
  });
});
afterAll(async () => {
  await followups.close();
  await shop.close();
});

/** A sale of each organisation. */
async function sellEach(): Promise<[Sale, Sale]> {
  const [first, second] = [await sellAs(keys[0]), await sellAs(keys[1])];
  return first.organisationId < second.organisationId ? [first, second] : [second, first];
}

async function sellAs(key: string): Promise<Sale> {
  const session = await shop.checkout({ product_id: products.get(key) }, { key });
  expect(await shop.pay(session)).toEqual({ kind: 'attempted' });
  const [sale] = await shop.server.sql<Sale[]>`
    select id, organisation_id as "organisationId" from payments where checkout_id = ${session.id}`;
  return sale!;
}

const invoicesOf = ({ id }: Sale) => shop.server.sql`select from invoices where payment_id = ${id}`;

test("an organisation's invoice numbers are not held while those of another are waited for", async () => {
  const { sql } = shop.server;
  // Each has a counter then.
  for (const sale of await sellEach()) {
    await until('it is invoiced', async () => (await invoicesOf(sale)).length === 1);
  }
  await sql`alter table invoices rename to invoices_gone`;
  const [low, high] = await sellEach();
  const owing = [low.id, high.id];
  await until('both were tried and put off', async () => {
    const tried = await sql`select from followups where payment_id = any(${owing}) and tries > 0`;
    return tried.length === 2;
  });
  // Only this test does them, and the one of the other order first.
  await sql`
    update followups set next_at = now() + interval '1 h', at = at - (payment_id = ${high.id})::int * interval '1 min'
    where payment_id = any(${owing})`;
  await sql`alter table invoices_gone rename to invoices`;

  const counterOf = ({ organisationId }: Sale, held = sql) => held`
    select from invoice_counters where organisation_id = ${organisationId} and mode = 'test' for update skip locked`;
  let done: Promise<unknown> = Promise.resolve();
  await sql.begin(async (held) => {
    expect(await counterOf(low, held as never)).toHaveLength(1);
    done = Promise.all(
      [high, low].map((sale) =>
        followups.now({ ...sale, mode: 'test', subscriptionId: null, meterId: null }),
      ),
    );
    await until('the batch waits for its counter', async () => {
      const waiting = await sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and query like '%invoice_counters%'
          and datname = current_database() and pid <> pg_backend_pid()`;
      return waiting.length > 0;
    });
    expect(await counterOf(high)).toHaveLength(1);
  });
  await done;
  for (const sale of [low, high]) expect(await invoicesOf(sale)).toHaveLength(1);
});
