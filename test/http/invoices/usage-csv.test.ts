// The events behind the lines of usage of an invoice.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { retain } from '../../../src/database/retention.ts';
import { FairSql } from '../../../src/http/edge/fair-sql.ts';
import { CsvDownloads } from '../../../src/http/csv-downloads.ts';
import { UsageCsv } from '../../../src/http/usage-csv.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { findInvoice, type InvoiceRecord } from '../../../src/records/invoices.ts';
import { ids } from '../../../src/platform/ids.ts';
import { undocumented } from '../../support/documented.ts';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { Club, DAY_MS, type Json, type Plan, UNKNOWN } from '../subscriptions/subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

const HEAD = 'line_id,feature_key,event_id,event_time,recorded_time,value,metadata';

/** A plan that includes 10 units and sells more, and who has it. */
async function sold(plan?: Plan): Promise<{ plan: Plan; id: string; customer: string }> {
  const of = plan ?? (await club.plan({ limit: 10 }));
  if (plan === undefined) {
    const price = {
      feature_key: of.feature,
      currency: 'USD',
      model: 'per_unit',
      unit_amount: '0.01',
    };
    made(await club.post(`/products/${of.productId}/usage-prices`, price));
  }
  const { id, customer_id: customer } = await club.signUp(of);
  return { plan: of, id, customer };
}

async function ingest(events: readonly object[]): Promise<string[]> {
  const { status, json } = await club.post('/events/ingest', { events });
  expect(status).toBe(200);
  return json.events.map(({ id }: Json) => id);
}

/** The invoice of the renewal. */
async function renewed(id: string): Promise<Json> {
  await club.advanceTo((await club.subscription(id)).current_period_end);
  return (await club.invoices(id)).at(-1);
}

const download = (invoice: string, key?: string) =>
  club.shop.server.call('GET', `/invoices/${invoice}/usage.csv`, key === undefined ? {} : { key });

type Row = Readonly<Record<string, string>>;

/** The rows of a CSV, quoted or not. */
function rowsOf(csv: string): Row[] {
  expect(csv.endsWith('\r\n')).toBe(true);
  const [head = [], ...rows] = csv
    .slice(0, -2)
    .split(/\r\n(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    .map((line) =>
      line
        .split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
        .map((value) => value.replace(/^"([\s\S]*)"$/, '$1').replaceAll('""', '"')),
    );
  expect(head.join(',')).toBe(HEAD);
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index]!])));
}

test("an invoice's usage CSV has a row for each event of the period, in order of time", async () => {
  const { plan, id, customer } = await sold();
  const at = await club.now();
  const metadata = { note: 'a,"b"\n=1', ok: true, n: 2 };
  const of = { customer_id: customer, name: plan.feature };
  const [second, first] = await ingest([
    { ...of, value: 30, timestamp: new Date(at + 1000).toISOString(), metadata },
    { ...of, value: -2, timestamp: new Date(at).toISOString() },
  ]);
  // In the period before the subscription: nobody sold it.
  await ingest([{ ...of, value: 5, timestamp: new Date(at - DAY_MS).toISOString() }]);
  const invoice = await renewed(id);
  await club.track({ customer_id: customer }, plan, 7);
  const reply = await download(invoice.id);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const name = `usage-${invoice.number}.csv`;
  expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
  const line = invoice.lines.find(({ type }: Json) => type === 'usage');
  const common = { line_id: line.id, feature_key: plan.feature };
  const [early, late] = [new Date(at).toISOString(), new Date(at + 1000).toISOString()];
  const recorded = expect.any(String);
  expect(rowsOf(reply.text)).toEqual([
    {
      ...common,
      event_id: first!,
      event_time: early,
      recorded_time: recorded,
      value: '-2',
      metadata: '',
    },
    {
      ...common,
      event_id: second!,
      event_time: late,
      recorded_time: recorded,
      value: '30',
      metadata: expect.any(String),
    },
  ]);
  expect(JSON.parse(rowsOf(reply.text)[1]!['metadata']!)).toEqual(metadata);
  expect(line.quantity).toBe(18);
});

test('behind an adjustment the usage CSV has all events of the period that it adjusts', async () => {
  const { plan, id, customer } = await sold();
  const at = (await club.now()) + 1000;
  const of = { customer_id: customer, name: plan.feature, timestamp: new Date(at).toISOString() };
  const before = await ingest([{ ...of, value: 30 }]);
  const first = await renewed(id);
  const late = await ingest([{ ...of, value: 4 }]);
  const second = await renewed(id);
  const adjustment = second.lines.find(({ type }: Json) => type === 'usage_adjustment');
  const idsIn = async (invoice: Json) =>
    rowsOf((await download(invoice.id)).text).map((row) => [row['line_id'], row['event_id']]);
  const both = [...before, ...late].toSorted();
  expect(await idsIn(second)).toEqual(both.map((event) => [adjustment.id, event]));
  // It was recorded since, in the time that the line bills.
  expect((await idsIn(first)).map(([, event]) => event!)).toEqual(both);
});

test('a change of plan parts the events of the usage CSV: each is behind one line', async () => {
  const { plan, id, customer } = await sold();
  const dearer = await club.price(plan, { amount: '60.00' });
  await club.track({ customer_id: customer }, plan, 30);
  await club.act(id, 'change', { price_id: dearer });
  const early = new Date((await club.now()) + 60_000).toISOString();
  await club.track({ customer_id: customer }, plan, 20);
  await ingest([{ customer_id: customer, name: plan.feature, value: 5, timestamp: early }]);
  const last = await renewed(id);
  const change = (await club.invoices(id)).at(-2);
  const valuesIn = async ({ id: of }: Json) =>
    rowsOf((await download(of)).text).map(({ value }) => value);
  expect([change.billing_reason, await valuesIn(change)]).toEqual(['subscription_update', ['30']]);
  expect(await valuesIn(last)).toEqual(['20', '5']);
});

test('a usage CSV of many pages has each event once, while events are written and archived', async () => {
  const { plan, id, customer } = await sold();
  const at = await club.now();
  const of = { customer_id: customer, name: plan.feature };
  // Many of one time: pages end within it.
  const event = (n: number) => ({ ...of, timestamp: new Date(at + (n % 7)).toISOString() });
  const known: string[] = [];
  for (let page = 0; page < 4; page += 1) {
    known.push(...(await ingest(Array.from({ length: 450 }, (_, n) => event(n)))));
  }
  const invoice = await renewed(id);
  const { sql } = club.shop.server;
  const record = await recordOf(invoice.id);
  const { body } = await downloadsOf().send(merchant(), new Request('http://localhost'), record);
  // A page is read when it is taken.
  let text = '';
  let parts = 0;
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    parts += 1;
    if (parts === 1) await ingest(Array.from({ length: 50 }, (_, n) => event(n)));
    if (parts === 2) await archive(sql);
  }
  expect(parts).toBeGreaterThan(3);
  const found = rowsOf(text).map((row) => row['event_id']!);
  expect(new Set(found).size).toBe(found.length);
  expect(known.filter((one) => !found.includes(one))).toEqual([]);
  const [left] = await sql`select count(*) filter (where sold) as rows from transfers`;
  expect(left!['rows']).toBe(0n);
  // From the archive alone.
  const again = rowsOf((await download(invoice.id)).text);
  expect(again).toHaveLength(1850);
});

const merchant = () => {
  const { id: organisationId } = club.shop.server.organisation;
  const scope = { organisationId, mode: 'test' } as const;
  return {
    kind: 'organisation',
    ...scope,
    actor: { kind: 'key', id: ids.next() },
    scope: 'all',
  } as const;
};

async function recordOf(id: string): Promise<InvoiceRecord> {
  return (await findInvoice(club.shop.server.sql, merchant(), id))!;
}

function downloadsOf(monotonic: () => number = () => 0): UsageCsv {
  const lane = { places: 1, perTenant: 1, waitingMax: 4, waitMs: 1000, timers };
  const lists = new FairSql(club.shop.server.sql, 'lists', lane);
  const downloads = new CsvDownloads({ clock: { monotonic }, idleAtMost: () => undefined });
  return new UsageCsv({ lists, downloads });
}

/** Moves all usage to the archive. */
async function archive(sql: typeof club.shop.server.sql): Promise<void> {
  const later = { ...clock, now: () => clock.now() + 3650 * DAY_MS };
  const policy = {
    keysMs: 40 * DAY_MS,
    eventsMs: 3650 * DAY_MS,
    denialsMs: 30 * DAY_MS,
    usageMonths: null,
  };
  const done = await retain({ sql, clock: later, timers, ids, dryRun: false }, policy);
  expect(done?.rows['transfers']).toBeGreaterThan(1000);
}

test('the usage CSV of an invoice without usage has the header row alone', async () => {
  const { id } = await club.signUp(await club.plan());
  const [invoice] = await club.invoices(id);
  expect((await download(invoice.id)).text).toBe(`${HEAD}\r\n`);
});

test('the usage CSV of an invoice that is unknown, or of another organisation, is 404', async () => {
  const { id } = await club.signUp(await club.plan());
  const [invoice] = await club.invoices(id);
  const { organisation, other } = club.shop.server;
  for (const key of [other.testKey, organisation.liveKey]) {
    expect((await download(invoice.id, key)).status).toBe(404);
  }
  expect((await download(UNKNOWN)).status).toBe(404);
  expect((await download('x')).status).toBe(404);
});

test('the portal links a customer to the usage CSV of its own invoices alone', async () => {
  const { plan, id, customer } = await sold();
  await club.track({ customer_id: customer }, plan, 30);
  const invoice = await renewed(id);
  const stranger = (await sold(plan)).customer;
  const portal = async (of: string, rest: string) => {
    const { url } = made(await club.post(`/customers/${of}/portal-tokens`, {}));
    const path = `${new URL(url).pathname}/invoices/${invoice.id}${rest}`;
    return club.shop.server.call('GET', path, { key: null });
  };
  const page = await portal(customer, '');
  expect(page.text).toContain(`href="${invoice.id}/usage.csv"`);
  const own = await portal(customer, '/usage.csv');
  expect([own.status, rowsOf(own.text).length]).toEqual([200, 1]);
  expect(own.text).toBe((await download(invoice.id)).text);
  expect((await portal(stranger, '/usage.csv')).status).toBe(404);
  // Whoever has a key or a mail cannot follow a link of the portal.
  const printed = await club.shop.server.call('GET', `/api/invoices/${invoice.id}/pdf`);
  expect(printed.text).not.toContain('usage.csv');
});

/** Refused as the caller's own doing, with the limit that is reached, and as it is documented. */
async function expectTooMany(path: string, reply: Response, limit: number): Promise<void> {
  const { status, headers } = reply;
  expect([status, headers.get('retry-after')]).toEqual([429, '1']);
  expect(headers.get('ratelimit-limit')).toBe(String(limit));
  expect([headers.get('ratelimit-remaining'), headers.get('ratelimit-reset')]).toEqual(['0', '1']);
  const isPage = path.startsWith('/portal/');
  const text = await reply.text();
  const json = isPage ? undefined : JSON.parse(text);
  const url = `http://localhost${path}`;
  expect(undocumented('GET', url, { status, headers, text, json })).toBeNull();
  expect(headers.get('content-type')).toContain(isPage ? 'text/html' : 'application/json');
  if (isPage) return expect(text).toContain('You can have one download at a time');
  const message = `at most ${limit} downloads at a time; try again when one has ended`;
  expect(json).toEqual({ error: { type: 'rate_limited', message } });
}

test('usage CSV downloads at once are bounded for a tenant and a customer, and they end', async () => {
  const { id } = await club.signUp(await club.plan());
  const invoice = await recordOf((await club.invoices(id))[0].id);
  let now = 0;
  const downloads = downloadsOf(() => now);
  const key = merchant();
  const { organisationId, mode } = key;
  const portal = { kind: 'portal', organisationId, mode, tokenId: ids.next(), page: null } as const;
  const open = (caller: Parameters<UsageCsv['send']>[0]): Promise<Response> =>
    downloads.send(caller, new Request('http://localhost'), invoice);
  const four = await Promise.all([open(key), open(key), open(key), open(key)]);
  const path = `/invoices/${invoice.id}/usage.csv`;
  await expectTooMany(path, await open(key), 4);
  // Those of the portals are apart.
  const customers = Array.from({ length: 4 }, () => ({ ...portal, customerId: ids.next() }));
  const theirs = await Promise.all(customers.map(open));
  const another = await open({ ...portal, customerId: ids.next() });
  await expectTooMany(`/portal/x${path}`, another, 4);
  await theirs[0]!.body!.cancel();
  await expectTooMany(`/portal/x${path}`, await open(customers[1]!), 1);
  await (await open(customers[0]!)).body!.cancel();
  // What is taken makes room.
  expect(await four[0].text()).toBe(`${HEAD}\r\n`);
  await (await open(key)).body!.cancel();
  // What takes too long is cut off, and does not look complete.
  now = 600_001;
  const failure = await four[1].text().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  await (await open(key)).body!.cancel();
});
