// GET /decisions: by request id, event id, key and time; whose; and what is no question.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, invalidAt, refusal, Setting, times } from '../metering/setting.ts';
import { until } from '../../support/until.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('other');
});
afterAll(() => setting.stop());

type Told = {
  readonly data: Fields[];
  readonly state: Fields | null;
  readonly object: Fields | null;
};

async function ask(query: Record<string, string | number>, key?: string): Promise<Told> {
  await setting.server.flush();
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) text.set(name, String(value));
  const reply = await setting.server.call(
    'GET',
    `/decisions?${text.toString()}`,
    key ? { key } : {},
  );
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
  return reply.json as Told;
}

async function customerWith(amount: number, fields: Fields = {}): Promise<string> {
  const customer = await setting.customer(fields);
  await setting.grant(customer, 'api', { amount });
  return customer;
}

const withId = (id: string) => ({ headers: { 'x-request-id': id } });
const now = () => new Date().toISOString();

/** After all that was recorded before it. */
async function nextMillisecond(): Promise<string> {
  const begun = now();
  await until('the next millisecond', () => now() > begun);
  return now();
}

test('GET /decisions finds a denial by the request id of the caller or of the refusal', async () => {
  const customer = await customerWith(1);
  await setting.check(customer, 'api', { value: 2 }, withId('mine-1'));
  const sent = await ask({ request_id: 'mine-1' });
  expect(sent.data).toMatchObject([
    { kind: 'check', value: 2, customer_id: customer, request_ids: ['mine-1'] },
  ]);
  const refused = await setting.track(customer, 'api', { value: 3, overage: 'reject' });
  const found = await ask({ request_id: refused.headers.get('x-request-id')! });
  expect(found.data).toMatchObject([{ kind: 'track', value: 3 }]);
  // What is allowed leaves nothing.
  await setting.check(customer, 'api', {}, withId('mine-2'));
  expect(await ask({ request_id: 'mine-2' })).toEqual({ data: [], state: null, object: null });
});

test('GET /decisions by the request id of a change tells what it changed', async () => {
  const reply = await setting.post('/meters', { slug: 'changed' }, withId('change-1'));
  const told = await ask({ request_id: 'change-1' });
  expect(told).toEqual({
    data: [],
    state: null,
    object: { type: 'meter', id: reply.json.id },
  });
});

test('GET /decisions finds an event by its id: recorded, refused under a key, or of several meters', async () => {
  const customer = await customerWith(5);
  const { json } = await setting.track(customer, 'api', { value: 2 });
  const [recorded] = (await ask({ event_id: json.id })).data;
  expect(recorded).toMatchObject({
    kind: 'usage',
    event_id: json.id,
    balance_before: { balance: 5, limit: 5, consumed: 0 },
    balance_after: { balance: 3, limit: 5, consumed: 2 },
    at: json.timestamp,
  });
  const correction = await setting.track(customer, 'api', { value: -1 });
  const [corrected] = (await ask({ event_id: correction.json.id })).data;
  expect(corrected).toMatchObject({
    value: -1,
    balance_before: { balance: 3, consumed: 2 },
    balance_after: { balance: 4, consumed: 1 },
  });
  await setting.meter('two-a', { event_name: 'two' });
  await setting.meter('two-b', { event_name: 'two' });
  const event = { name: 'two', customer_id: customer, value: 4, external_id: 'two-1' };
  const { json: ingested } = await setting.ingest([event]);
  const features = async (query: Record<string, string>) =>
    (await ask(query)).data.map((one) => String(one['feature_key'])).toSorted();
  expect(await features({ event_id: ingested.events[0].id })).toEqual(['two-a', 'two-b']);
  const key = { idempotency_key: 'two-1', customer_id: customer };
  expect(await features(key)).toEqual(['two-a', 'two-b']);
});

test('GET /decisions finds an event by the key of its body or header, of that customer alone', async () => {
  const [one, other] = [await customerWith(1), await customerWith(1)];
  const key = { idempotency_key: 'same' };
  await setting.track(one, 'api', { value: 1, ...key });
  await setting.check(other, 'api', { value: 2, consume: true, ...key }, withId('keyed-1'));
  const recorded = await ask({ customer_id: one, ...key });
  expect(recorded.data).toMatchObject([{ kind: 'usage', allowed: true, customer_id: one }]);
  const refused = await ask({ customer_id: other, ...key });
  // One decision, although it left a transfer and a denial.
  expect(refused.data).toMatchObject([
    { kind: 'consume', allowed: false, replayed: false, request_ids: ['keyed-1'] },
  ]);
  expect((await ask({ event_id: refused.data[0]!['event_id'] as string })).data).toEqual(
    refused.data,
  );
  const header = { headers: { 'idempotency-key': 'of-header' } };
  await setting.track(one, 'api', { value: 7 }, header);
  const external = { external_customer_id: 'not-there', idempotency_key: 'of-header' };
  const text = new URLSearchParams(external).toString();
  expect((await setting.server.call('GET', `/decisions?${text}`)).status).toBe(404);
  const found = await ask({ customer_id: one, idempotency_key: 'of-header' });
  expect(found.data).toMatchObject([{ value: 7 }]);
  const tracks = [{ customer_id: one, feature_key: 'api', value: 8 }];
  await setting.post('/track/batch', { tracks }, { headers: { 'idempotency-key': 'batch' } });
  expect((await ask({ customer_id: one, idempotency_key: 'batch' })).data).toMatchObject([
    { value: 8 },
  ]);
});

test('GET /decisions tells a repeated refusal from the first one', async () => {
  const customer = await customerWith(1);
  const body = { value: 2, overage: 'reject', idempotency_key: 'again' };
  await setting.track(customer, 'api', body);
  await setting.server.flush();
  await setting.track(customer, 'api', body);
  const { data } = await ask({ customer_id: customer, at: now() });
  expect(data.map((one) => [one['kind'], one['replayed']])).toEqual([
    ['track', true],
    ['track', false],
  ]);
  expect(data[0]!['event_id']).toBe(data[1]!['event_id']);
});

test('GET /decisions by time lists both sides of the instant, newest first, up to the limit', async () => {
  const customer = await customerWith(3, { external_customer_id: 'timed' });
  for (const value of [1, 2]) await setting.track(customer, 'api', { value });
  await setting.check(customer, 'api', { value: 3 });
  await setting.server.flush();
  const [at] = [await nextMillisecond(), await nextMillisecond()];
  for (const value of [4, 5, 6]) await setting.track(customer, 'api', { value });
  const values = async (query: Record<string, string | number>) => {
    const told = await ask({ customer_id: customer, at, ...query });
    return told.data.map((one) => one['value']);
  };
  expect(await values({})).toEqual([6, 5, 4, 3, 2, 1]);
  expect(await values({ limit: 2 })).toEqual([5, 4, 3, 2]);
  expect(await values({ feature_key: 'other' })).toEqual([]);
  const named = await ask({ external_customer_id: 'timed', at });
  expect(named.data).toHaveLength(6);
  // The denial explains, not the nearest of all.
  expect(named.state).toMatchObject({
    decision_id: named.data.find((one) => one['kind'] === 'check')!['id']!,
  });
});

test('GET /decisions by time lists the denials alone, however much was recorded since', async () => {
  const customer = await customerWith(3);
  await setting.check(customer, 'api', { value: 4 });
  await setting.track(customer, 'api', { value: 5, overage: 'reject', idempotency_key: 'k' });
  await times(30, () => setting.track(customer, 'api'));
  const query = { customer_id: customer, at: now(), limit: 5 };
  expect((await ask(query)).data.every((one) => one['allowed'])).toBe(true);
  const { data, state } = await ask({ ...query, only: 'denied' });
  expect(data.map((one) => [one['kind'], one['value']])).toEqual([
    ['track', 5],
    ['check', 4],
  ]);
  expect(state!['decision_id']).toBe(data[0]!['id']);
  expect((await ask({ ...query, only: 'denied', feature_key: 'other' })).data).toEqual([]);
});

test('GET /decisions by time without a decision tells what was in force then', async () => {
  const customer = await customerWith(3);
  const query = { customer_id: customer, feature_key: 'api' };
  const told = await ask({ ...query, at: now() });
  expect(told).toMatchObject({ data: [], state: { decision_id: null } });
  expect(told.state!['grants']).toMatchObject([{ state: 'in_force', amount: 3 }]);
  const before = await ask({ ...query, at: '2020-01-01T00:00:00.000Z' });
  expect(before.state!['grants']).toMatchObject([{ state: 'to_come' }]);
});

test('GET /decisions shows a late event at its own time', async () => {
  const customer = await customerWith(3);
  const timestamp = new Date(Date.now() - 3_600_000).toISOString();
  const event = { name: 'api', customer_id: customer, value: 2, timestamp };
  await setting.ingest([event]);
  const { data } = await ask({ customer_id: customer, at: timestamp });
  expect(data).toMatchObject([{ at: timestamp, value: 2 }]);
  expect(Date.parse(data[0]!['decided_at'] as string)).toBeGreaterThan(Date.parse(timestamp));
});

test('GET /decisions by time finds the nearest decisions however many there are', async () => {
  const customer = await customerWith(1);
  await times(130, (index) => setting.track(customer, 'api', { value: index + 1 }));
  const { data } = await ask({ customer_id: customer, at: now(), limit: 50 });
  expect(data).toHaveLength(50);
  const ats = data.map((one) => one['at'] as string);
  expect(ats).toEqual(ats.toSorted().toReversed());
});

test('GET /decisions by the id of something else says what that is', async () => {
  const customer = await customerWith(1);
  expect((await ask({ event_id: customer })).object).toEqual({ type: 'customer', id: customer });
  const unknown = '01890000-0000-7000-8000-000000000000';
  expect(await ask({ event_id: unknown })).toEqual({ data: [], state: null, object: null });
});

test('GET /decisions shows nothing to another organisation or mode', async () => {
  const { server } = setting;
  const customer = await customerWith(1);
  await setting.check(customer, 'api', { value: 2 }, withId('private'));
  const { json } = await setting.track(customer, 'api', { idempotency_key: 'private' });
  for (const key of [server.other.testKey, server.organisation.liveKey]) {
    const nothing = { data: [], state: null, object: null };
    expect(await ask({ request_id: 'private' }, key)).toEqual(nothing);
    expect(await ask({ event_id: json.id }, key)).toEqual(nothing);
    expect(await ask({ event_id: customer }, key)).toEqual(nothing);
    for (const query of [`at=${now()}`, 'idempotency_key=private']) {
      const path = `/decisions?customer_id=${customer}&${query}`;
      expect((await server.call('GET', path, { key })).status).toBe(404);
    }
  }
});

const CUSTOMER = '01890000-0000-7000-8000-000000000000';

test.each([
  ['', ['at']],
  [`customer_id=${CUSTOMER}`, ['at']],
  ['request_id=a&event_id=01890000-0000-7000-8000-000000000000', ['event_id']],
  ['at=2026-11-23T14:03:00Z', ['customer_id']],
  ['idempotency_key=k', ['customer_id']],
  [`at=2026-11-23T14:03:00Z&customer_id=${CUSTOMER}&external_customer_id=x`, ['customer_id']],
  [`request_id=a&customer_id=${CUSTOMER}`, ['customer_id']],
  ['request_id=a&feature_key=api', ['feature_key']],
  ['request_id=a&only=denied', ['only']],
  [`at=2026-11-23T14:03:00Z&only=allowed&customer_id=${CUSTOMER}`, ['only']],
  [`idempotency_key=k&feature_key=api&customer_id=${CUSTOMER}`, ['feature_key']],
  [`at=tomorrow&customer_id=${CUSTOMER}`, ['at']],
  [`at=2026-11-23T14:03:00&customer_id=${CUSTOMER}`, ['at']],
  ['event_id=x', ['event_id']],
  [`request_id=${'x'.repeat(129)}`, ['request_id']],
  [`at=2026-11-23T14:03:00Z&customer_id=${CUSTOMER}&limit=51`, ['limit']],
  ['unknown=1', ['unknown']],
])('GET /decisions?%s is refused', async (query, path) => {
  const reply = await setting.server.call('GET', `/decisions?${query}`);
  expect(refusal(reply)).toEqual(invalidAt(path));
});
