import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  findDiscount,
  findDiscountByCode,
  redeemDiscount,
  releaseDiscount,
} from '../../../src/records/discounts.ts';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const post = (body: object, headers: Record<string, string> = {}) =>
  server.call('POST', '/discounts', { body, headers });
const create = async (body: object) => (await post(body)).json;
const scope = () => ({ organisationId: server.organisation.id, mode: 'test' }) as const;

test('POST of a discount by percentage answers 201 with every field', async () => {
  const reply = await post({ code: 'Spring_25', percent_off: 25 });
  expect(reply.status).toBe(201);
  expect(reply.json).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    code: 'Spring_25',
    percent_off: 25,
    amount_off: null,
    currency: null,
    max_redemptions: null,
    redemptions: 0,
    expires_at: null,
    created_at: expect.stringMatching(ISO),
  });
});

test('POST of a discount by amount answers 201 with every field', async () => {
  const body = {
    code: 'LAUNCH',
    amount_off: '1.5',
    currency: 'KWD',
    max_redemptions: 100,
    expires_at: '2099-01-01T02:00:00+02:00',
  };
  expect(await create(body)).toMatchObject({
    code: 'LAUNCH',
    percent_off: null,
    amount_off: '1.500',
    currency: 'KWD',
    max_redemptions: 100,
    expires_at: '2099-01-01T00:00:00.000Z',
  });
});

test.each([['100'], ['33.3333'], ['0.0001'], ['12.5'], ['99.9999'], ['0.1']])(
  'a discount of %s percent is answered as it was sent',
  async (percent) => {
    const raw = `{"code":"P${percent.replace('.', '_')}","percent_off":${percent}}`;
    const reply = await server.call('POST', '/discounts', {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect(reply.text).toContain(`"percent_off":${percent},`);
    const { text } = await server.call('GET', '/discounts?limit=1');
    expect(text).toContain(`"percent_off":${percent},`);
  },
);

test('GET /discounts lists newest first, in pages, without the deleted ones', async () => {
  const key = server.other.testKey;
  const made: { id: string }[] = [];
  for (const code of ['a', 'b', 'c', 'd']) {
    const { json } = await server.call('POST', '/discounts', {
      key,
      body: { code, percent_off: 1 },
    });
    made.push(json);
  }
  const gone = await server.call('DELETE', `/discounts/${made[2]!.id}`, { key });
  expect([gone.status, gone.text]).toEqual([204, '']);
  const list = async (query: string) => {
    const { json } = await server.call('GET', `/discounts${query}`, { key });
    return [json.data.map(({ code }: { code: string }) => code).join(''), json.has_more];
  };
  expect(await list('')).toEqual(['dba', false]);
  expect(await list('?limit=2')).toEqual(['db', true]);
  expect(await list('?limit=2&offset=2')).toEqual(['a', false]);
});

test('a discount code is found whatever its case until it is deleted; then it is free', async () => {
  const made = await create({ code: 'Welcome', percent_off: 10 });
  const find = async (code: string) => (await findDiscountByCode(server.sql, scope(), code))?.id;
  for (const code of ['Welcome', 'WELCOME', 'welcome']) expect(await find(code)).toBe(made.id);
  // The kelvin sign becomes a k in lower case, but is not a letter of a code.
  for (const code of ['Welcom', 'Welcome ', '', 'a\0', '\u212A']) {
    expect(await find(code)).toBeUndefined();
  }
  expect((await findDiscount(server.sql, made.id))?.code).toBe('Welcome');
  await server.call('DELETE', `/discounts/${made.id}`);
  expect(await find('Welcome')).toBeUndefined();
  expect(await findDiscount(server.sql, made.id)).toBeNull();
  const again = await create({ code: 'WELCOME', percent_off: 10 });
  expect(await find('welcome')).toBe(again.id);
});

test('a discount code belongs to one organisation and mode', async () => {
  const { organisation, other, sql } = server;
  await create({ code: 'private', percent_off: 10 });
  for (const elsewhere of [
    { organisationId: organisation.id, mode: 'live' },
    { organisationId: other.id, mode: 'test' },
  ] as const) {
    expect(await findDiscountByCode(sql, elsewhere, 'private')).toBeNull();
  }
});

test('an Idempotency-Key creates one discount, and replays it after it expired', async () => {
  const headers = { 'idempotency-key': 'discount-1' };
  const soon = new Date(Date.now() + 2000).toISOString();
  const body = { code: 'brief', percent_off: 10, expires_at: soon };
  const first = await post(body, headers);
  expect(first.status).toBe(201);
  while (Date.now() <= Date.parse(soon)) await server.call('GET', '/health');
  const again = await post(body, headers);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const late = await post({ ...body, code: 'late' });
  expect(late.json.error.issues).toEqual([
    { path: ['expires_at'], message: 'must be in the future' },
  ]);
});

test('a discount has no more redemptions than its limit, also at once; released ones are free again', async () => {
  const { id } = await create({ code: 'first-three', percent_off: 10, max_redemptions: 3 });
  const { sql } = server;
  const redeem = () => sql.begin((transaction) => redeemDiscount(transaction, id, Date.now()));
  const taken = await Promise.all(Array.from({ length: 20 }, redeem));
  expect(taken.filter(Boolean)).toHaveLength(3);
  const redemptions = async () => (await findDiscount(sql, id))?.redemptions;
  expect(await redemptions()).toBe(3);
  await sql.begin((transaction) => releaseDiscount(transaction, id));
  expect(await redemptions()).toBe(2);
  expect([await redeem(), await redeem()]).toEqual([true, false]);
});

test('an expired or deleted discount is not redeemed, but what was taken of it is given back', async () => {
  const { sql } = server;
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  const { id } = await create({ code: 'ending', amount_off: '1', currency: 'USD', expires_at });
  const redeem = (at: number) => sql.begin((transaction) => redeemDiscount(transaction, id, at));
  const end = Date.parse(expires_at);
  expect([await redeem(end - 1), await redeem(end), await redeem(end + 1)]).toEqual([
    true,
    false,
    false,
  ]);
  await server.call('DELETE', `/discounts/${id}`);
  expect(await redeem(end - 1)).toBe(false);
  await sql.begin((transaction) => releaseDiscount(transaction, id));
  const [row] = await sql<{ redemptions: number }[]>`
    select redemptions from discounts where id = ${id}`;
  expect(row?.redemptions).toBe(0);
});
