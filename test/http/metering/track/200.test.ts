import { afterAll, beforeAll, expect, test } from 'bun:test';
import { until } from '../../../support/until.ts';
import { type Fields, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
});
afterAll(() => setting.stop());

async function customerWith(...grants: Fields[]): Promise<string> {
  const customer = await setting.customer();
  for (const fields of grants) await setting.grant(customer, 'api', fields);
  return customer;
}

// prettier-ignore
const RECORDED: [string, Fields[], unknown[], (number | null)[]][] = [
  // what grants values balance limit consumed remaining overage
  ['one, where none is said',                [{}],                         [undefined],     [9,      10,    1,        9,         0]],
  ['a fraction',                             [{}],                         [0.1, 0.2],      [9.7,    10,    0.3,      9.7,       0]],
  ['a decimal string',                       [{}],                         ['0.000001'],    [9.999999, 10,  0.000001, 9.999999,  0]],
  ['an exponent',                            [{}],                         [1e-6],          [9.999999, 10,  0.000001, 9.999999,  0]],
  ['zero',                                   [{}],                         [0],             [10,     10,    0,        10,        0]],
  ['past the limit, in full',                [{}],                         [8, 8],          [-6,     10,    16,       0,         6]],
  ['without any grant',                      [],                           [3],             [-3,     0,     3,        0,         3]],
  ['unlimited',                              [{ unlimited: true }],        [3],             [null,   null,  3,        null,      0]],
  ['the greatest',                           [{ unlimited: true }],        ['999999999.999999'], [null, null, 999999999.999999, null, 0]],
  ['a correction',                           [{}],                         [8, -3],         [5,      10,    5,        5,         0]],
  ['a correction below zero',                [{}],                         [8, -30],        [10,     10,    0,        10,        0]],
  ['a correction before what it corrects',   [{}],                         [-3, 8],         [5,      10,    5,        5,         0]],
];

test.each(RECORDED)('POST /track records %s', async (_what, grants, values, numbers) => {
  const customer = await customerWith(...grants);
  let json: Fields = {};
  for (const value of values) {
    const reply = await setting.track(customer, 'api', value === undefined ? {} : { value });
    expect(reply.status).toBe(200);
    json = reply.json;
  }
  const { balance, limit, consumed, remaining, overage } = json;
  expect([balance, limit, consumed, remaining, overage]).toEqual(numbers);
  expect(json['value']).toBe(Number(values.at(-1) ?? 1));
  const row = await setting.balance(customer, 'api');
  expect(row).toMatchObject({ balance, limit, consumed, remaining, overage });
});

test('POST /track answers exactly the documented fields', async () => {
  const customer = await setting.customer({ external_customer_id: 'named' });
  const { json } = await setting.track(customer, 'api', { metadata: { region: 'eu' } });
  expect(json).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    feature_key: 'api',
    customer_id: customer,
    external_customer_id: 'named',
    value: 1,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
    balance: -1,
    limit: 0,
    consumed: 1,
    remaining: 0,
    overage: 1,
    duplicate: false,
  });
});

test('POST /track answers when the event is on disk', async () => {
  const customer = await customerWith({});
  const metadata = { 'a "key"': 'naïve \\ {1,NULL} "😀"', '': undefined };
  const { json } = await setting.track(customer, 'api', { value: '2.5', metadata });
  const [row] = await setting.server.sql`
    select value, coalesce(amount, value) as amount, kind, reason, metadata from transfers where id = ${json.id}`;
  expect(row).toMatchObject({
    value: 2_500_000n,
    amount: 2_500_000n,
    kind: 'single',
    reason: 'ok',
    metadata: { 'a "key"': 'naïve \\ {1,NULL} "😀"' },
  });
});

test('POST /track twice without a key is two events', async () => {
  const customer = await customerWith({});
  const [one, two] = [await setting.track(customer, 'api'), await setting.track(customer, 'api')];
  expect(one.json.id).not.toBe(two.json.id);
  expect(await setting.consumed(customer, 'api')).toEqual([2]);
});

test('POST /track again with its idempotency_key gets the first answer, as a duplicate', async () => {
  const customer = await customerWith({});
  const fields = { value: 3, idempotency_key: `again ${customer}`, metadata: { a: '1', b: '2' } };
  const first = await setting.track(customer, 'api', fields);
  await setting.track(customer, 'api', { value: 4 });
  await setting.grant(customer, 'api');
  const again = await setting.withoutTrace(() => setting.track(customer, 'api', fields));
  expect(again.json).toEqual({ ...first.json, duplicate: true });
  const reordered = { ...fields, metadata: { b: '2', a: '1' }, value: '3.0' };
  expect((await setting.track(customer, 'api', reordered)).json).toEqual(again.json);
});

test('POST /track again with its Idempotency-Key header replays the bytes', async () => {
  const customer = await customerWith({});
  const call = { headers: { 'idempotency-key': `header ${customer}` } };
  const first = await setting.track(customer, 'api', { value: 3 }, call);
  await setting.track(customer, 'api', { value: 4 });
  const body = { external_customer_id: 'renamed since' };
  await setting.server.call('PATCH', `/customers/${customer}`, { body });
  const again = await setting.withoutTrace(() =>
    setting.track(customer, 'api', { value: 3 }, call),
  );
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(first.headers.get('idempotency-replayed')).toBeNull();
});

test('a track with a header key and a body key counts once: one for the request, one for the event', async () => {
  const customer = await customerWith({});
  const key = `event ${customer}`;
  const request = (header: string) =>
    setting.track(
      customer,
      'api',
      { idempotency_key: key },
      { headers: { 'idempotency-key': header } },
    );
  const first = await request(`one ${customer}`);
  expect((await request(`two ${customer}`)).json.id).toBe(first.json.id);
  expect((await request(`one ${customer}`)).text).toBe(first.text);
  const byBody = await setting.track(customer, 'api', { idempotency_key: key });
  expect(byBody.json).toEqual({ ...first.json, duplicate: true });
  expect(await setting.consumed(customer, 'api')).toEqual([1]);
});

test('an Idempotency-Key header used on /check and on /track is two keys', async () => {
  const customer = await customerWith({});
  const call = { headers: { 'idempotency-key': `operation ${customer}` } };
  expect((await setting.track(customer, 'api', {}, call)).status).toBe(200);
  const consumed = await setting.check(customer, 'api', { consume: true }, call);
  expect(consumed.json).toMatchObject({ allowed: true, consumed: 2 });
});

test("a track's key may have any printable characters, at its longest", async () => {
  const customer = await customerWith({});
  const key = `${'客😀 é"\\'.repeat(30)}${customer}`.slice(0, 255);
  for (const duplicate of [false, true]) {
    const { json } = await setting.track(customer, 'api', { idempotency_key: key });
    expect(json.duplicate).toBe(duplicate);
  }
});

test("a track's key is another one in another mode and organisation", async () => {
  const { organisation, other } = setting.server;
  for (const key of [organisation.testKey, organisation.liveKey, other.testKey]) {
    const call = { key };
    if (key !== organisation.testKey) await setting.meter('api', {}, call);
    const customer = await setting.customer({}, call);
    const fields = { idempotency_key: 'the same everywhere' };
    const { json } = await setting.track(customer, 'api', fields, call);
    expect(json.duplicate).toBe(false);
  }
});

test('overage: reject records usage that fits, to the last unit', async () => {
  const customer = await customerWith({});
  const fields = { value: 10, overage: 'reject' };
  expect((await setting.track(customer, 'api', fields)).json).toMatchObject({ balance: 0 });
});

test('overage: reject records a correction, also when the balance is negative', async () => {
  const customer = await customerWith({});
  await setting.track(customer, 'api', { value: 30 });
  const { json } = await setting.track(customer, 'api', { value: -5, overage: 'reject' });
  expect(json).toMatchObject({ consumed: 25, balance: -15 });
});

test('a correction of usage that an expired grant paid gives nothing to spend', async () => {
  const expiresAt = Date.now() + 1500;
  const customer = await customerWith({ expires_at: new Date(expiresAt).toISOString() });
  await setting.track(customer, 'api', { value: 10 });
  await until('it has expired', () => Date.now() > expiresAt);
  await setting.grant(customer, 'api', { amount: 5 });
  await setting.track(customer, 'api', { value: -10 });
  const { balance, breakdown } = (await setting.balance(customer, 'api')) as {
    balance: number;
    breakdown: { remaining: number }[];
  };
  expect(balance).toBe(breakdown.reduce((sum, part) => sum + part.remaining, 0));
});

testBooksClose(() => setting);
