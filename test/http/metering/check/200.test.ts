import { afterAll, beforeAll, expect, test } from 'bun:test';
import { until } from '../../../support/until.ts';
import { type Fields, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
});
afterAll(() => setting.stop());

/** A customer with these grants, who used this much. */
async function customerWith(grants: readonly Fields[], used: number): Promise<string> {
  const customer = await setting.customer();
  for (const fields of grants) await setting.grant(customer, 'api', fields);
  if (used !== 0) await setting.track(customer, 'api', { value: used });
  return customer;
}

const soon = (ms: number) => new Date(Date.now() + ms).toISOString();

// prettier-ignore
const ANSWERS: [string, Fields[], number, unknown, boolean, string, (number | null)[]][] = [
  // what grants used asked allowed reason balance limit consumed remaining
  ['all of it',                  [{}],                                           0,     10,          true,  'ok',                    [10,    10,   0,    10]],
  ['nothing asked: 1',           [{}],                                           9,     undefined,   true,  'ok',                    [1,     10,   9,    1]],
  ['nothing asked, none left',   [{}],                                           10,    undefined,   false, 'insufficient_balance',  [0,     10,   10,   0]],
  ['0 of nothing left',          [{}],                                           10,    0,           true,  'ok',                    [0,     10,   10,   0]],
  ['0 when overdrawn',           [{}],                                           12,    0,           false, 'insufficient_balance',  [-2,    10,   12,   0]],
  ['one too many',               [{}],                                           0,     11,          false, 'insufficient_balance',  [10,    10,   0,    10]],
  ['the last millionth',         [{}],                                           9.999999, '0.000001', true, 'ok',                   [0.000001, 10, 9.999999, 0.000001]],
  ['a millionth too many',       [{}],                                           0,     '10.000001', false, 'insufficient_balance',  [10,    10,   0,    10]],
  ['a string',                   [{}],                                           0,     '2.50',      true,  'ok',                    [10,    10,   0,    10]],
  ['an exponent',                [{}],                                           0,     1e1,         true,  'ok',                    [10,    10,   0,    10]],
  ['-0',                         [{}],                                           0,     -0,          true,  'ok',                    [10,    10,   0,    10]],
  ['two grants',                 [{}, { amount: '2.5' }],                        4,     8.5,         true,  'ok',                    [8.5,   12.5, 4,    8.5]],
  ['unlimited',                  [{ unlimited: true }],                          99,    1e8,         true,  'unlimited',             [null,  null, 99,   null]],
  ['overage is allowed',         [{ overage_allowed: true }],                    12,    5,           true,  'overage_allowed',       [-2,    10,   12,   0]],
  ['nothing was granted',        [],                                             0,     1,           false, 'not_entitled',          [0,     0,    0,    0]],
  ['used without a grant',       [],                                             3,     0,           false, 'not_entitled',          [-3,    0,    3,    0]],
  ['a grant of the future',      [{ effective_at: soon(3_600_000) }],            0,     1,           false, 'not_entitled',          [0,     0,    0,    0]],
  ['an allowance',               [{ reset_interval: 'month' }],                  4,     6,           true,  'ok',                    [6,     10,   4,    6]],
];

test.each(ANSWERS)(
  'POST /check: %s',
  async (_what, grants, used, value, allowed, reason, numbers) => {
    const customer = await customerWith(grants, used);
    const { status, json } = await setting.check(
      customer,
      'api',
      value === undefined ? {} : { value },
    );
    expect(status).toBe(200);
    expect([json.allowed, json.reason]).toEqual([allowed, reason]);
    expect([json.balance, json.limit, json.consumed, json.remaining]).toEqual(numbers);
    expect(json).toMatchObject({
      feature_key: 'api',
      requested: value === undefined ? 1 : Math.abs(Number(value)),
      unlimited: numbers[1] === null,
      overage_allowed: grants.some((grant) => grant['overage_allowed'] === true),
      reserved: 0,
    });
  },
);

test('POST /check is denied as expired once every grant has ended', async () => {
  const customer = await customerWith([{ expires_at: soon(1500) }], 0);
  await until('it has expired', async () => {
    const { json } = await setting.check(customer, 'api');
    return json.reason === 'expired';
  });
});

test('POST /check answers exactly the documented fields', async () => {
  const customer = await customerWith([{ reset_interval: 'day' }], 0);
  const { json } = await setting.check(customer, 'api');
  expect(Object.keys(json).sort()).toEqual(
    [
      'allowed balance consumed feature_key limit overage_allowed period_end period_start',
      'reason remaining requested reserved resets_at unlimited',
    ].flatMap((names) => names.split(' ')),
  );
  expect(json.resets_at).toBe(json.period_end);
  expect(Date.parse(json.period_end) - Date.parse(json.period_start)).toBe(86_400_000);
  expect(json.period_start).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('POST /check without consume writes nothing', async () => {
  const customer = await customerWith([{}], 4);
  await setting.withoutTrace(() => setting.check(customer, 'api', { value: 3 }));
});

test('POST /check takes external_customer_id in any script, and the id in capitals', async () => {
  const name = 'Ünïcode 客户 😀 "quoted" \\ {},NULL';
  const customer = await setting.customer({ external_customer_id: name });
  await setting.grant(customer, 'api');
  const byName = { feature_key: 'api', external_customer_id: name };
  expect((await setting.post('/check', byName)).json.balance).toBe(10);
  expect((await setting.check(customer.toUpperCase(), 'api')).json.balance).toBe(10);
});

test('POST /check counts all usage that was acknowledged before it', async () => {
  const customer = await customerWith([{}], 0);
  for (let i = 1; i <= 10; i += 1) {
    await setting.track(customer, 'api');
    expect((await setting.check(customer, 'api')).json.consumed).toBe(i);
  }
});

test('POST /check with consume records the value where allowed, and answers the rest', async () => {
  const customer = await customerWith([{}], 0);
  const allowed = await setting.check(customer, 'api', { value: 7, consume: true });
  expect(allowed.json).toMatchObject({ allowed: true, reason: 'ok', consumed: 7, balance: 3 });
  const denied = await setting.withoutTrace(() =>
    setting.check(customer, 'api', { value: 7, consume: true }),
  );
  expect(denied.status).toBe(200);
  expect(denied.json).toMatchObject({
    allowed: false,
    reason: 'insufficient_balance',
    consumed: 7,
    balance: 3,
    requested: 7,
  });
});

test('POST /check with consume: false records nothing', async () => {
  const customer = await customerWith([{}], 0);
  await setting.withoutTrace(() => setting.check(customer, 'api', { consume: false }));
});

// prettier-ignore
const KEYS: [string, (key: string) => [Fields, { headers?: Record<string, string> }]][] = [
  ['idempotency_key',  (key) => [{ idempotency_key: key }, {}]],
  ['the header',       (key) => [{}, { headers: { 'idempotency-key': key } }]],
];

test.each(KEYS)(
  'POST /check with consume and %s counts once and answers the same bytes',
  async (_what, by) => {
    const customer = await customerWith([{ overage_allowed: true }], 0);
    const [fields, call] = by(`once ${customer}`);
    const consume = () =>
      setting.check(customer, 'api', { value: 7, consume: true, ...fields }, call);
    const first = await consume();
    await setting.track(customer, 'api', { value: 1 });
    await setting.grant(customer, 'api', { reset_interval: 'hour' });
    const again = await consume();
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(first.headers.get('idempotency-replayed')).toBeNull();
  },
);

test.each(KEYS)(
  'a denied POST /check with consume and %s stays denied, whatever was granted since',
  async (_what, by) => {
    const customer = await customerWith([], 0);
    const [fields, call] = by(`denied ${customer}`);
    const consume = () =>
      setting.check(customer, 'api', { value: 7, consume: true, ...fields }, call);
    const first = await consume();
    expect(first.json).toMatchObject({
      allowed: false,
      reason: 'not_entitled',
      period_start: null,
    });
    await setting.grant(customer, 'api');
    expect((await consume()).text).toBe(first.text);
    expect((await setting.check(customer, 'api')).json.consumed).toBe(0);
  },
);

test('POST /check with consume and the key of another request is 422', async () => {
  const customer = await customerWith([{}], 0);
  const key = `other ${customer}`;
  const fields = { consume: true, idempotency_key: key };
  await setting.check(customer, 'api', { ...fields, value: 2 });
  const other = await setting.check(customer, 'api', { ...fields, value: 3 });
  expect([other.status, other.json.error.type]).toEqual([422, 'idempotency_key_reused']);
});

testBooksClose(() => setting);
