// What GET /usage and GET /usage/events refuse, and what keys may.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { invalidAt, NOT_FOUND, refusal, Setting } from '../metering/setting.ts';

const ID = '01976c2e-5f00-7a10-8000-000000000001';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('most', { aggregation: 'max' });
  await setting.meter('newest', { aggregation: 'last' });
  await setting.meter('users', { aggregation: 'unique', unique_property: 'user' });
  customer = await setting.customer({ external_customer_id: 'mine' });
});
afterAll(() => setting.stop());

const get = (path: string, key?: string) =>
  setting.server.call('GET', path, key === undefined ? {} : { key });

const encoded = (text: string) => encodeURIComponent(text);

test.each([
  ['', ['feature_key']],
  ['feature_key=', ['feature_key']],
  [`feature_key=${'a'.repeat(65)}`, ['feature_key']],
  ['feature_key=api&feature_key=api', ['feature_key']],
  ['feature_key=a%00b', ['feature_key']],
  ['feature_key=most', ['feature_key']],
  ['feature_key=newest', ['feature_key']],
  ['feature_key=users', ['feature_key']],
  ['feature_key=api&customer_id=mine', ['customer_id']],
  ['feature_key=api&external_customer_id=', ['external_customer_id']],
  ['feature_key=api&from=yesterday', ['from']],
  ['feature_key=api&from=2026-02-30T00:00:00Z', ['from']],
  ['feature_key=api&from=2026-02-03', ['from']],
  ['feature_key=api&to=1', ['to']],
  ['feature_key=api&from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z', ['from']],
  ['feature_key=api&from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', ['from']],
  ['feature_key=api&from=9999-01-01T00:00:00Z', ['from']],
  ['feature_key=api&bin=week', ['bin']],
  ['feature_key=api&from=2020-01-01T00:00:00Z&to=2022-09-27T00:00:00.001Z', ['bin']],
  ['feature_key=api&from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59Z&bin=hour', ['bin']],
  ['feature_key=api&timezone=Mars/Olympus', ['timezone']],
  [`feature_key=api&timezone=${encoded('+02:00')}`, ['timezone']],
  [`feature_key=api&timezone=${encoded("UTC'; select 1")}`, ['timezone']],
  ['feature_key=api&timezone=', ['timezone']],
  ['feature_key=api&group_by=region', ['group_by']],
  ['feature_key=api&group_by=metadata.', ['group_by']],
  ['feature_key=api&group_by=metadata', ['group_by']],
  [`feature_key=api&group_by=metadata.${'x'.repeat(100)}`, ['group_by']],
  ['feature_key=api&format=xml', ['format']],
  ['feature_key=api&limit=1', ['limit']],
])('/usage?%s is 400', async (query, path) => {
  expect(refusal(await get(`/usage?${query}`))).toEqual(invalidAt(path));
});

test.each([
  ['feature_key=none'],
  ['feature_key=API'],
  [`feature_key=api&customer_id=${ID}`],
  ['feature_key=api&external_customer_id=nobody'],
])('/usage?%s is 404', async (query) => {
  expect(refusal(await get(`/usage?${query}`))).toEqual(NOT_FOUND);
});

test('a customer is named by one of its ids, and is known', async () => {
  const names = ['', '&customer_id=', '&external_customer_id='];
  const known = [names[0], `${names[1]}${customer}`, `${names[2]}mine`];
  const unknown = [`${names[1]}${ID}`, `${names[2]}nobody`];
  const both = `${names[1]}${customer}${names[2]}mine`;
  for (const path of ['/usage', '/usage/events']) {
    const answered = (more: string) => get(`${path}?feature_key=api${more}`);
    for (const more of known) expect((await answered(more!)).status).toBe(200);
    for (const more of unknown) expect(refusal(await answered(more))).toEqual(NOT_FOUND);
    expect(refusal(await answered(both))).toEqual(invalidAt(['customer_id']));
  }
});

test('/usage has bins of the calendar, also where the range begins and ends within', async () => {
  const range = 'from=2026-03-01T18:00:00Z&to=2026-03-02T06:30:00Z';
  const edges = async (more: string) => {
    const { json } = await get(`/usage?feature_key=api&${range}${more}`);
    const bins = json.data as { start: string; end: string }[];
    return [...bins.map(({ start }) => start), bins.at(-1)!.end].map((at) => at.slice(0, 16));
  };
  expect(await edges('')).toEqual(['2026-03-01T00:00', '2026-03-02T00:00', '2026-03-03T00:00']);
  const berlin = ['2026-02-28T23:00', '2026-03-31T22:00'];
  expect(await edges('&bin=month&timezone=Europe/Berlin')).toEqual(berlin);
  const csv = (await get(`/usage?feature_key=api&${range}&format=csv`)).text;
  expect(csv).toContain('2026-03-01T00:00:00.000Z,2026-03-02T00:00:00.000Z,0,0');
});

test('/usage answers 1000 days', async () => {
  const query = 'feature_key=api&from=2020-01-01T00:00:00Z&to=2022-09-27T00:00:00Z';
  const { status, json } = await get(`/usage?${query}`);
  expect([status, json.data.length]).toEqual([200, 1000]);
});

test('/usage takes the first and last possible times', async () => {
  const last = 'from=9999-12-31T22:30:00Z&to=9999-12-31T23:59:59.999Z&bin=hour';
  const first = 'from=1970-01-01T00:00:00Z&to=1970-01-01T00:20:00.001Z&bin=hour';
  for (const range of [first, last]) {
    for (const more of ['', '&external_customer_id=mine', '&group_by=metadata.x']) {
      const { status, json } = await get(`/usage?feature_key=api&${range}${more}`);
      expect([status, json.data?.length]).toEqual([200, range === last ? 2 : 1]);
    }
  }
  const { status } = await get(`/usage/events?${last.replace('&bin=hour', '')}`);
  expect(status).toBe(200);
});

const cursor = (text: string) => encoded(Buffer.from(text).toString('base64url'));

test.each([
  ['cursor=', 'cursor'],
  ['cursor=x', 'cursor'],
  [`cursor=${cursor(`1 ${ID}x`)}`, 'cursor'],
  [`cursor=${cursor(`-1 ${ID}`)}`, 'cursor'],
  [`cursor=${cursor(`01 ${ID}`)}`, 'cursor'],
  [`cursor=${cursor(`1e3 ${ID}`)}`, 'cursor'],
  [`cursor=${cursor(`1 ${"' or 1=1 --".padEnd(36)}`)}`, 'cursor'],
  [`cursor=${cursor(`1 ${ID}`)}%3D%3D`, 'cursor'],
  [`cursor=${'A'.repeat(101)}`, 'cursor'],
  ['limit=0', 'limit'],
  ['limit=201', 'limit'],
  ['limit=x', 'limit'],
  ['from=x', 'from'],
  ['to=2026-13-01T00:00:00Z', 'to'],
  ['customer_id=x', 'customer_id'],
  ['offset=1', 'offset'],
  ['format=csv', 'format'],
])('/usage/events?%s is 400', async (query, path) => {
  expect(refusal(await get(`/usage/events?${query}`))).toEqual(invalidAt([path]));
});

test.each([
  cursor(`0 ${ID}`),
  cursor(`999999999999999 ${ID}`),
  cursor(`${Date.now()} ${ID.toUpperCase()}`),
])('/usage/events with the cursor %s, where nothing is, is empty', async (place) => {
  const { status, json } = await get(`/usage/events?cursor=${place}`);
  expect([status, json]).toEqual([200, { data: [], next_cursor: null }]);
});

test('usage of another organisation or mode is 404', async () => {
  const { other, organisation } = setting.server;
  for (const key of [other.testKey, organisation.liveKey]) {
    expect(refusal(await get('/usage?feature_key=api', key))).toEqual(NOT_FOUND);
  }
  const theirs = { key: other.testKey };
  await setting.meter('api', {}, theirs);
  await setting.customer({ external_customer_id: 'theirs' }, theirs);
  await setting.track(customer, 'api', { value: 5 });
  for (const who of [`customer_id=${customer}`, 'external_customer_id=mine']) {
    const reply = await get(`/usage?feature_key=api&${who}`, other.testKey);
    expect(refusal(reply)).toEqual(NOT_FOUND);
  }
  const { json } = await get('/usage?feature_key=api&bin=month', other.testKey);
  expect(json.data.every(({ events }: { events: number }) => events === 0)).toBe(true);
});

test('usage may be read by a key with the scope read, and not by one for metering', async () => {
  for (const [scope, status] of [
    ['read', 200],
    ['metering', 403],
  ] as const) {
    const { json } = await setting.post('/api-keys', { scopes: [scope] });
    const replies = [
      await get('/usage?feature_key=api', json.key as string),
      await get('/usage/events', json.key as string),
    ];
    expect(replies.map((reply) => reply.status)).toEqual([status, status]);
  }
});
