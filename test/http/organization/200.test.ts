import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { clock } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { createOrganisation, type FirstKeys } from '../../../src/accounts/onboarding.ts';
import { billingPolicyOf } from '../../../src/records/organisations.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { memberOf } from '../../dashboard/member.ts';
import { misfitsOf } from '../../support/catalogue.ts';
import { startServer, type TestServer } from '../../support/server.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let server: TestServer;
/** A new organisation for each test. */
let mine: FirstKeys;
beforeAll(async () => {
  server = await startServer();
});
beforeEach(async () => {
  const setting = { sql: server.sql, ids, now: clock.now() };
  mine = (await createOrganisation(setting, { name: 'Mine', groupId: null })) as FirstKeys;
});
afterAll(async () => {
  expect(await misfitsOf(server.sql)).toEqual([]);
  expect(await audit(server.sql)).toEqual([]);
  await server.stop();
});

const read = async (key = mine.testKey) =>
  (await server.call('GET', '/organization', { key })).json;
const patch = (body: object, key = mine.testKey) =>
  server.call('PATCH', '/organization', { body, key });
const test_ = (): Tenant => ({ organisationId: mine.id, mode: 'test' });

/** The seller, as an invoice issued now stores it. */
async function sellerOnInvoice(key = mine.testKey) {
  const { json: customer } = await server.call('POST', '/customers', { body: {}, key });
  const lines = [{ description: 'A day', unit_amount: '1.00' }];
  const body = { customer_id: customer.id, currency: 'EUR', lines };
  const { json: invoice } = await server.call('POST', '/invoices', { body, key });
  const [row] = await server.sql`select seller from invoices where id = ${invoice.id}`;
  return row?.['seller'];
}

type Told = { sequence: number; timestamp: string; key: string; changes: string[]; actor: string };

/** In order. */
async function told(key = mine.testKey): Promise<Told[]> {
  const path = `/events?type=organization.config_changed&object_id=${mine.id}&limit=200`;
  const { json } = await server.call('GET', path, { key });
  return json.data.map((event: { data: Told }) => event.data).toReversed();
}
const named = (events: readonly Told[]) =>
  events.map(({ sequence, key, changes }) => [sequence, key, changes.join(' ')]);

const NOBODY = {
  name: null,
  address_line1: null,
  address_line2: null,
  city: null,
  state: null,
  postal_code: null,
  country: null,
  tax_id: null,
  email: null,
  phone: null,
};

const FULL = {
  name: 'Müller & Söhne <GmbH>',
  address_line1: 'Hauptstraße 1',
  address_line2: 'Hof 2',
  city: 'Köln',
  state: 'NRW',
  postal_code: '50667',
  country: 'DE',
  tax_id: 'DE123456789',
  email: 'rechnung@example.com',
  phone: '+49 221 1',
};

test('GET /organization answers the defaults', async () => {
  expect(await read()).toEqual({
    id: mine.id,
    mode: 'test',
    name: 'Mine',
    timezone: 'UTC',
    seller: NOBODY,
    dunning: { retry_days: [1, 3, 7, 13, 20], block_after_days: 14, expire_after_days: 21 },
    branding: { color: null, logo_url: null, support_email: null, support_url: null },
    created_at: expect.stringMatching(ISO),
    updated_at: expect.stringMatching(ISO),
  });
  expect(await billingPolicyOf(server.sql, test_())).toEqual({
    zone: 'UTC',
    dunning: { retryDays: [1, 3, 7, 13, 20], blockAfterDays: 14, expireAfterDays: 21 },
  });
  expect(await sellerOnInvoice()).toEqual({ name: 'Mine' });
});

test('PATCH /organization changes every field, and GET shows it', async () => {
  const body = {
    name: 'Renamed',
    timezone: 'Europe/Berlin',
    seller: FULL,
    dunning: { retry_days: [2, 60], block_after_days: 61, expire_after_days: 61 },
  };
  const reply = await patch(body);
  expect(reply.status).toBe(200);
  expect(reply.json).toMatchObject({ id: mine.id, mode: 'test', ...body });
  expect(await read()).toEqual(reply.json);
  expect(await billingPolicyOf(server.sql, test_())).toEqual({
    zone: 'Europe/Berlin',
    dunning: { retryDays: [2, 60], blockAfterDays: 61, expireAfterDays: 61 },
  });
  expect(await sellerOnInvoice()).toEqual({
    name: FULL.name,
    addressLine1: FULL.address_line1,
    addressLine2: FULL.address_line2,
    city: FULL.city,
    state: FULL.state,
    postalCode: FULL.postal_code,
    country: FULL.country,
    taxId: FULL.tax_id,
    email: FULL.email,
    phone: FULL.phone,
  });
});

test('PATCH of the seller and of dunning keeps what is left out; null clears a field of the seller', async () => {
  await patch({ seller: FULL, dunning: { retry_days: [] } });
  await patch({ seller: { tax_id: 'X', phone: null }, dunning: { expire_after_days: 30 } });
  const { seller, dunning } = await read();
  expect(seller).toEqual({ ...FULL, tax_id: 'X', phone: null });
  expect(dunning).toEqual({ retry_days: [], block_after_days: 14, expire_after_days: 30 });
  await patch({ name: 'Trading', seller: { name: null } });
  expect((await sellerOnInvoice()).name).toBe('Trading');
});

// prettier-ignore
const ZONES: [given: string, kept: string][] = [
  ['UTC',                            'UTC'],
  ['utc',                            'UTC'],
  ['europe/berlin',                  'Europe/Berlin'],
  ['Asia/Kathmandu',                 'Asia/Kathmandu'],
  ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['Etc/GMT+12',                     'Etc/GMT+12'],
];
test.each(ZONES)('PATCH of the time zone %s keeps %s', async (timezone, kept) => {
  await patch({ timezone: 'Pacific/Chatham' });
  expect((await patch({ timezone })).json.timezone).toBe(kept);
  expect((await billingPolicyOf(server.sql, test_())).zone).toBe(kept);
});

test('PATCH of settings writes one event for each part, with the names of its changed fields alone', async () => {
  await patch({
    name: 'Secret Ltd',
    timezone: 'Asia/Tokyo',
    seller: { tax_id: 'secret-1', address_line1: 'secret 2', city: null },
    dunning: { retry_days: [1, 3, 7, 13, 20], block_after_days: 7 },
  });
  await patch({ seller: { tax_id: 'secret-3' } });
  const events = await told();
  expect(named(events)).toEqual([
    [1, 'name', 'name'],
    [2, 'timezone', 'timezone'],
    [3, 'seller', 'addressLine1 taxId'],
    [4, 'dunning', 'blockAfterDays'],
    [5, 'seller', 'taxId'],
  ]);
  expect(JSON.stringify(events).toLowerCase()).not.toContain('secret');
  const [key] = await server.sql`
    select id from api_keys where organisation_id = ${mine.id} and mode = 'test'`;
  expect(events[0]).toMatchObject({
    eventType: 'organization.config_changed',
    objectType: 'ORGANIZATION',
    objectId: mine.id,
    organizationId: mine.id,
    accountId: null,
    mode: 'test',
    actor: key!['id'],
  });
  expect((await read()).updated_at).toBe(events.at(-1)!.timestamp);
});

// prettier-ignore
const NOTHING: [string, object][] = [
  ['nothing',             {}],
  ['an empty seller',     { seller: {} }],
  ['an empty dunning',    { dunning: {} }],
  ['the same name',       { name: 'Mine' }],
  ['the same zone',       { timezone: 'Utc' }],
  ['the same of nobody',  { seller: NOBODY }],
  ['empty branding',      { branding: {} }],
  ['the same branding',   { branding: { color: null, support_email: null, support_url: null } }],
  ['the same dunning',    { dunning: { retry_days: [1, 3, 7, 13, 20], block_after_days: 14, expire_after_days: 21 } }],
];
test.each(NOTHING)(
  'PATCH /organization with %s changes nothing and writes no event',
  async (_what, body) => {
    const before = await read();
    const reply = await patch(body);
    expect([reply.status, reply.json]).toEqual([200, before]);
    expect(await told()).toEqual([]);
  },
);

test('each mode has its own settings: a test key reaches nothing of live', async () => {
  const live = await read(mine.liveKey);
  const body = { name: 'Test', timezone: 'Asia/Tokyo', seller: { tax_id: 'T' } };
  await patch({ ...body, dunning: { retry_days: [] } });
  expect(await read(mine.liveKey)).toEqual(live);
  expect(await told(mine.liveKey)).toEqual([]);
  await patch({ timezone: 'Europe/Paris' }, mine.liveKey);
  expect(named(await told(mine.liveKey))).toEqual([[1, 'timezone', 'timezone']]);
  expect((await read()).timezone).toBe('Asia/Tokyo');
  expect(await told()).toHaveLength(4);
  const scope = { organisationId: mine.id, mode: 'live' } as const;
  expect((await billingPolicyOf(server.sql, scope)).zone).toBe('Europe/Paris');
  expect((await sellerOnInvoice(mine.liveKey)).name).toBe('Mine');
});

test('a new name by a live key is that of both modes; other settings stay', async () => {
  const renamed = { name: 'Renamed', timezone: 'Asia/Tokyo' };
  for (const _ of [1, 2]) {
    expect((await patch(renamed, mine.liveKey)).json).toMatchObject(renamed);
    expect(await read()).toMatchObject({ mode: 'test', name: 'Renamed', timezone: 'UTC' });
  }
  expect(named(await told())).toEqual([[1, 'name', 'name']]);
  expect(named(await told(mine.liveKey))).toEqual([
    [1, 'name', 'name'],
    [2, 'timezone', 'timezone'],
  ]);
  // What does not fit changes neither.
  const refused = { name: 'Never', dunning: { block_after_days: 300 } };
  expect((await patch(refused, mine.liveKey)).status).toBe(400);
  expect([(await read()).name, (await read(mine.liveKey)).name]).toEqual(['Renamed', 'Renamed']);
  // Who is invited reads it.
  const body = { email: 'guest@example.com', role: 'support' };
  const { json } = await server.call('POST', '/invitations', { body, key: mine.liveKey });
  const page = await fetch(server.url + new URL(json.url).pathname);
  expect(await page.text()).toContain('Renamed');
});

test('a member renames both modes in either; a form that keeps the name of test mode leaves that of live', async () => {
  const member = await memberOf(server, { organisationId: mine.id });
  const fields = { name: 'By a member', timezone: 'Asia/Tokyo' };
  await member.act('/settings/organization', fields);
  expect(await read(mine.liveKey)).toMatchObject({ name: 'By a member', timezone: 'UTC' });
  await patch({ name: 'Of tests' });
  await member.act('/settings/organization', { name: 'Of tests', timezone: 'UTC' });
  expect(await read(mine.liveKey)).toMatchObject({ name: 'By a member', timezone: 'UTC' });
});

test('of new names in both modes at once all are taken, and one is left', async () => {
  const member = await memberOf(server, { organisationId: mine.id });
  await member.read('/settings/organization');
  const path = `${member.base}/settings/organization`;
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) => [
      patch({ name: `Live ${n}` }, mine.liveKey),
      member.tab.post(path, { name: `Test ${n}`, timezone: 'UTC' }),
    ]).flat(),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 303]));
  expect((await read()).name).toBe((await read(mine.liveKey)).name);
});

test('another organisation sees and changes its own settings', async () => {
  await patch({ name: 'Changed' });
  const other = await read(server.other.testKey);
  expect([other.id, other.name]).toEqual([server.other.id, 'Other']);
});

test('PATCHes of settings at once lose no change, and their events are numbered and timed in one order', async () => {
  const fields = Object.keys(FULL).filter((name) => name !== 'email' && name !== 'country');
  const replies = await Promise.all(
    fields.flatMap((name) => [
      patch({ seller: { [name]: `${name} 1` } }),
      patch({ dunning: { block_after_days: fields.indexOf(name) + 1 } }),
    ]),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  const { seller } = await read();
  for (const name of fields) expect(seller[name]).toBe(`${name} 1`);
  const events = await told();
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const times = events.map(({ timestamp }) => timestamp);
  expect(times).toEqual([...new Set(times)].toSorted());
});

test("the hosted page shows the organisation's own display name", async () => {
  const post = async (path: string, body: object) =>
    (await server.call('POST', path, { body, key: mine.testKey })).json;
  const product = await post('/products', {
    name: 'Widget',
    prices: [{ amount: '1', currency: 'USD' }],
  });
  const { url } = await post('/checkouts', { product_id: product.id, customer_email: 'a@b.co' });
  await patch({ name: 'As it is called now' });
  const page = await fetch(`${server.url}/pay/${url.split('/').at(-1)}`);
  expect(await page.text()).toContain('As it is called now');
});
