import { ids } from '../../../../src/platform/ids.ts';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, refusal, Setting, tally, testBooksClose, times } from '../setting.ts';

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
});
afterAll(() => setting.stop());

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const grant = (fields: Fields, call: { headers?: Record<string, string> } = {}, who = customer) =>
  setting.post(`/customers/${who}/grants`, { feature_key: 'api', amount: 10, ...fields }, call);
const voided = (id: string) => setting.server.call('POST', `/grants/${id}/void`);

const LATER = inMs(3_600_000);
const LATEST = inMs(7_200_000);

// prettier-ignore
const GRANTED: [string, Fields, Fields][] = [
  // what fields of the answer
  ['a top-up',            {},                                                                 { source: 'top_up', amount: 10, remaining: 10, unlimited: false, expires_at: null, priority: 100, reset_interval: null, rollover: null, overage_allowed: false, reason: null, status: 'active', ended_at: null }],
  ['a decimal string',    { amount: '2.50' },                                                 { amount: 2.5, remaining: 2.5 }],
  ['the greatest',        { amount: '999999999.999999' },                                     { amount: 999_999_999.999999 }],
  ['the smallest',        { amount: 0.000001 },                                               { amount: 0.000001 }],
  ['unlimited',           { amount: undefined, unlimited: true },                             { amount: null, remaining: null, unlimited: true }],
  ['one of the future',   { effective_at: LATER, expires_at: LATEST },                        { effective_at: LATER, expires_at: LATEST, status: 'scheduled', remaining: 10 }],
  ['an allowance',        { reset_interval: 'month', rollover: { max: 5, expires_after_periods: 2 } },  { source: 'manual', reset_interval: 'month', rollover: { max: 5, expires_after_periods: 2 } }],
  ['all the rest',        { priority: 0, reason: 'sorry 😀', overage_allowed: true },         { priority: 0, reason: 'sorry 😀', overage_allowed: true }],
];

test.each(GRANTED)('POST of a grant: %s', async (_what, fields, answer) => {
  customer = await setting.customer();
  const { status, json } = await grant(fields);
  expect(status).toBe(201);
  expect(json).toMatchObject({ customer_id: customer, feature_key: 'api', ...answer });
});

test('POST of a grant answers exactly the documented fields', async () => {
  customer = await setting.customer();
  expect(Object.keys((await grant({})).json).sort()).toEqual(
    [
      'amount created_at customer_id effective_at ended_at expires_at feature_key id meter_id',
      'overage_allowed priority reason remaining reset_interval rollover source status unlimited',
    ].flatMap((names) => names.split(' ')),
  );
});

test("POST of a grant takes the customer's external id", async () => {
  const name = 'customer / 客';
  customer = await setting.customer({ external_customer_id: name });
  const { status, json } = await grant({}, {}, encodeURIComponent(name));
  expect([status, json.customer_id]).toEqual([201, customer]);
});

test('a grant can be used at once', async () => {
  customer = await setting.customer();
  await grant({});
  expect((await setting.check(customer, 'api', { value: 10 })).json.allowed).toBe(true);
});

// prettier-ignore
const KEYS: [string, (key: string) => [Fields, { headers?: Record<string, string> }]][] = [
  ['idempotency_key',  (key) => [{ idempotency_key: key }, {}]],
  ['the header',       (key) => [{}, { headers: { 'idempotency-key': key } }]],
];

test.each(KEYS)(
  'POST of a grant again with %s gives it once, also at once, and answers the same',
  async (_what, by) => {
    customer = await setting.customer();
    const [fields, call] = by(`once ${customer}`);
    const replies = await times(20, () => grant(fields, call));
    expect(tally(replies.map(({ status }) => status))).toEqual({ 201: 20 });
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    await setting.track(customer, 'api', { value: 4 });
    const again = await setting.withoutTrace(() => grant(fields, call));
    expect([again.status, again.text]).toEqual([201, replies[0]!.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await setting.balance(customer, 'api')).toMatchObject({ limit: 10 });
  },
);

test.each(KEYS)(
  'POST of a grant again with %s answers the same after it was voided',
  async (_what, by) => {
    customer = await setting.customer();
    const [fields, call] = by(`voided ${customer}`);
    const first = await grant(fields, call);
    await voided(first.json.id);
    expect((await grant(fields, call)).text).toBe(first.text);
  },
);

test.each(KEYS)(
  'POST of a grant again with %s answers the same after it has expired',
  async (_what, by) => {
    customer = await setting.customer();
    const expiresAt = Date.now() + 2000;
    const [fields, call] = by(`expired ${customer}`);
    const body = { ...fields, expires_at: new Date(expiresAt).toISOString() };
    const first = await grant(body, call);
    while (Date.now() <= expiresAt) await Bun.sleep(10);
    const again = await grant(body, call);
    expect([again.status, again.text]).toEqual([201, first.text]);
  },
);

test.each(KEYS)('a key of a grant is its customer’s, by %s', async (_what, by) => {
  const first = (customer = await setting.customer());
  const [fields, call] = by(`shared ${first}`);
  const given = await grant(fields, call);
  customer = await setting.customer();
  const other = await grant({ ...fields, amount: 3 }, call);
  expect([other.status, other.json.customer_id, other.json.amount]).toEqual([201, customer, 3]);
  customer = first;
  expect((await grant(fields, call)).text).toBe(given.text);
});

test('a grant that was made while keys were the organisation’s is known by its key', async () => {
  customer = await setting.customer();
  const { id: organisation } = setting.server.organisation;
  const former = ids.derive('grant-key', organisation, 'test', `former ${customer}`);
  const { json } = await grant({});
  // As the release before has stored it.
  await setting.server.sql`update grants set id = ${former} where id = ${json.id}`;
  const again = await grant({ idempotency_key: `former ${customer}` });
  expect([again.status, again.json.id]).toEqual([201, former]);
  customer = await setting.customer();
  const other = await grant({ idempotency_key: `former ${json.customer_id}` });
  expect(other.json.id).not.toBe(former);
});

// prettier-ignore
const OTHERS: [string, Fields][] = [
  ['amount',           { amount: 11 }],
  ['priority',         { priority: 1 }],
  ['expiry',           { expires_at: LATEST }],
  ['reason',           { reason: 'other' }],
  ['interval',         { reset_interval: 'day' }],
  ['overage',          { overage_allowed: true }],
];

test.each(OTHERS)(
  'POST of a grant with a key that was used for another %s is 422',
  async (what, fields) => {
    customer = await setting.customer();
    const key = { idempotency_key: `${what} ${customer}` };
    await grant(key);
    const reply = await setting.withoutTrace(() => grant({ ...key, ...fields }));
    expect(refusal(reply)).toEqual([422, 'idempotency_key_reused']);
  },
);

test('a second allowance resets by its own interval, within the period of the first', async () => {
  customer = await setting.customer();
  const first = await grant({ reset_interval: 'month' });
  const second = await grant({ reset_interval: 'day', amount: 5 });
  expect([first.status, second.status]).toEqual([201, 201]);
  const { json } = await setting.check(customer, 'api');
  expect(json).toMatchObject({ limit: 15, balance: 15 });
  const lasts = Date.parse(json.period_end as string) - Date.parse(json.period_start as string);
  expect(lasts).toBeGreaterThan(27 * 86_400_000);
});

test('voiding a grant takes back what is left of it, and again answers the same', async () => {
  customer = await setting.customer();
  const { json } = await grant({});
  await setting.track(customer, 'api', { value: 4 });
  const first = await voided(json.id);
  expect(first.status).toBe(200);
  expect(first.json).toMatchObject({ id: json.id, status: 'voided', remaining: 0, amount: 10 });
  const again = await setting.withoutTrace(() => voided(json.id));
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect((await setting.check(customer, 'api')).json).toMatchObject({
    limit: 4,
    consumed: 4,
    balance: 0,
    reason: 'not_entitled',
  });
});

test('voiding a grant many times at once takes it back once', async () => {
  customer = await setting.customer();
  const { json } = await grant({});
  const replies = await times(20, () => voided(json.id));
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(await setting.balance(customer, 'api')).toMatchObject({ limit: 0, balance: 0 });
});

test('a grant voided before its start never starts', async () => {
  customer = await setting.customer();
  const { json } = await grant({ effective_at: LATER });
  expect((await voided(json.id)).json.status).toBe('voided');
});

test('voiding an expired grant answers it as it is', async () => {
  customer = await setting.customer();
  const expiresAt = Date.now() + 2000;
  const { json } = await grant({ expires_at: new Date(expiresAt).toISOString() });
  while (Date.now() <= expiresAt) await Bun.sleep(10);
  const reply = await voided(json.id);
  expect([reply.status, reply.json.status]).toEqual([200, 'expired']);
});

test('voiding an unlimited grant leaves the usage it paid for: a later grant is whole', async () => {
  customer = await setting.customer();
  const { json } = await grant({ amount: undefined, unlimited: true });
  await setting.track(customer, 'api', { value: 1000 });
  await voided(json.id);
  await grant({});
  expect((await setting.check(customer, 'api', { value: 10 })).json).toMatchObject({
    allowed: true,
    balance: 10,
  });
});

test('entitlement.granted is written once for each grant', async () => {
  customer = await setting.customer({ external_customer_id: 'told' });
  const { json } = await grant({ idempotency_key: 'told' });
  await grant({ idempotency_key: 'told' });
  const events = await setting.server.sql`
    select type, object_type, sequence, data from events where account_id = ${customer} and object_type = 'ENTITLEMENT'`;
  expect([...events]).toMatchObject([
    {
      type: 'entitlement.granted',
      object_type: 'ENTITLEMENT',
      sequence: 1n,
      data: { featureKey: 'api', grantId: json.id, amount: 10, limit: 10, balance: 10 },
    },
  ]);
});

testBooksClose(() => setting);
