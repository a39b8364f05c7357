// POST /reservations: held, then committed, released, extended or expired.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Holder } from './holder.ts';
import type { Call } from '../../../support/server.ts';
import {
  type Fields,
  invalidAt,
  refusal,
  Setting,
  tally,
  testBooksClose,
  times,
} from '../setting.ts';

let setting: Setting;
let holder: Holder;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('tokens');
  await setting.meter('calls', { aggregation: 'count' });
});
afterAll(() => setting.stop());

test('a reservation is taken off the balance, and a release gives it back', async () => {
  holder = await Holder.of(setting, { amount: 100 });
  const { status, json } = await holder.reserve(40);
  expect([status, json]).toMatchObject([
    201,
    {
      feature_key: 'tokens',
      customer_id: holder.customer,
      external_customer_id: null,
      amount: 40,
      committed: 0,
      status: 'open',
      late: false,
      balance: 60,
      remaining: 60,
    },
  ]);
  expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(300_000);
  expect(await holder.seen()).toEqual([100, 0, 40, 60, 60]);
  expect(await holder.read(json.id)).toEqual(json);
  const released = await holder.act(json.id, 'release');
  expect([released.status, released.json.status, released.json.balance]).toEqual([
    200,
    'released',
    100,
  ]);
  expect((await holder.act(json.id, 'release')).text).toBe(released.text);
  expect(await holder.seen()).toEqual([100, 0, 0, 100, 100]);
  expect(refusal(await holder.act(json.id, 'commit', { value: 1 }))).toEqual([
    409,
    'invalid_state',
  ]);
});

test('a commit below the reserved value frees the rest, and above it uses more', async () => {
  holder = await Holder.of(setting, { amount: 100 });
  const low = (await holder.reserve(40)).json.id;
  const high = (await holder.reserve(40)).json.id;
  const first = await holder.act(low, 'commit', { value: 15 });
  expect(first.json).toMatchObject({ status: 'committed', committed: 15, amount: 40, balance: 45 });
  expect((await holder.act(low, 'commit', { value: 15 })).text).toBe(first.text);
  expect(refusal(await holder.act(low, 'commit', { value: 16 }))).toEqual([409, 'invalid_state']);
  expect(refusal(await holder.act(low, 'release'))).toEqual([409, 'invalid_state']);
  expect(await holder.seen()).toEqual([100, 15, 40, 45, 45]);
  const second = await holder.act(high, 'commit', { value: 90 });
  expect(second.json).toMatchObject({
    status: 'committed',
    committed: 90,
    balance: -5,
    remaining: 0,
  });
  expect(await holder.seen()).toEqual([100, 105, 0, -5, 0]);
  expect((await holder.act(low, 'commit', { value: 15 })).text).toBe(first.text);
});

test('of 500 reservations at once of 7 on a balance of 1,000, exactly 142 succeed', async () => {
  holder = await Holder.of(setting, { amount: 1000 });
  const replies = await times(500, () => holder.reserve(7));
  expect(tally(replies.map(({ status }) => status))).toEqual({ 201: 142, 402: 358 });
  expect(await holder.seen()).toEqual([1000, 0, 994, 6, 6]);
});

test('a reservation can be extended', async () => {
  holder = await Holder.of(setting, { amount: 100 });
  const { json } = await holder.reserve(60);
  expect((await holder.act(json.id, 'extend', { amount: 90 })).json).toMatchObject({
    amount: 90,
    balance: 10,
  });
  expect(refusal(await holder.act(json.id, 'extend', { amount: 101 }))).toEqual([
    402,
    'insufficient_balance',
  ]);
  expect(refusal(await holder.act(json.id, 'extend', { amount: 89 }))).toEqual(
    invalidAt(['amount']),
  );
  expect(await holder.seen()).toEqual([100, 0, 90, 10, 10]);
  const longer = (await holder.act(json.id, 'extend', { expires_in: 86_400 })).json;
  expect(Date.parse(longer.expires_at) - Date.now()).toBeGreaterThan(86_000_000);
  expect((await holder.act(json.id, 'commit', { value: 80 })).json).toMatchObject({ balance: 20 });
});

test.each([
  ['in the body', (key: string) => [{ idempotency_key: key }, {}]],
  ['in the header', (key: string) => [{}, { headers: { 'idempotency-key': key } }]],
] as const)('a reservation is made once under its key %s', async (_where, under) => {
  holder = await Holder.of(setting, { amount: 100 });
  const reserve = (amount: number) => holder.reserve(amount, ...under('a'));
  const [first, again] = await times(2, () => reserve(60));
  expect([first!.status, again!.status, again!.json]).toEqual([201, 201, first!.json]);
  const replayed = [first, again].map((reply) => reply!.headers.get('idempotency-replayed'));
  expect(new Set(replayed)).toEqual(new Set([null, 'true']));
  expect(refusal(await reserve(61))).toEqual([422, 'idempotency_key_reused']);
  const id: string = first!.json.id;
  await holder.act(id, 'commit', { value: 10 });
  expect((await reserve(60)).json).toMatchObject({ id, status: 'committed', balance: 90 });
  // The key of another customer, and of usage, is another key.
  const other = await Holder.of(setting, { amount: 100 });
  expect((await other.reserve(60, ...under('a'))).json.id).not.toBe(id);
  const [fields] = under('a');
  const tracked = await setting.track(holder.customer, 'tokens', { value: 5, ...fields });
  expect(tracked.json).toMatchObject({ duplicate: false, balance: 85 });
});

test('a track repeated while units are reserved answers the balance as it was then', async () => {
  holder = await Holder.of(setting, { amount: 100 });
  const { json } = await holder.reserve(60);
  const { customer } = holder;
  const use = { feature_key: 'tokens', customer_id: customer, value: 10, idempotency_key: 'work' };
  const first = await setting.post('/track', use);
  await holder.act(json.id, 'release');
  expect((await setting.post('/track', use)).json).toEqual({ ...first.json, duplicate: true });
  expect(first.json).toMatchObject({ balance: 30, remaining: 30 });
});

test('POST /check with reserve reserves in one step', async () => {
  holder = await Holder.of(setting, { amount: 100 });
  const { json } = await setting.check(holder.customer, 'tokens', {
    value: 70,
    reserve: true,
    expires_in: 60,
  });
  expect(json).toMatchObject({
    allowed: true,
    reserved: 70,
    balance: 30,
    reservation: { amount: 70, status: 'open' },
  });
  const no = (await setting.check(holder.customer, 'tokens', { value: 70, reserve: true })).json;
  expect(no).toMatchObject({ allowed: false, reason: 'insufficient_balance', reservation: null });
});

test('POST /check with reserve again under its key makes one reservation', async () => {
  holder = await Holder.of(setting, { amount: 100 });
  const hold = (fields = {}) =>
    setting.check(holder.customer, 'tokens', {
      value: 70,
      reserve: true,
      idempotency_key: 'k',
      ...fields,
    });
  const first = await hold();
  const again = await hold();
  expect([again.json, again.headers.get('idempotency-replayed')]).toEqual([first.json, 'true']);
  expect(refusal(await hold({ value: 71 }))).toEqual([422, 'idempotency_key_reused']);
  // It is the reservation of that key, however it is asked for.
  const { id } = first.json.reservation;
  expect((await holder.reserve(70, { idempotency_key: 'k' })).json.id).toBe(id);
  await holder.act(id, 'commit', { value: 20 });
  expect((await hold()).json).toMatchObject({
    allowed: true,
    balance: 80,
    reserved: 0,
    reservation: { status: 'committed', committed: 20 },
  });
  // One unit, where no value is given.
  const one = await setting.check(holder.customer, 'tokens', { reserve: true });
  expect(one.json).toMatchObject({ requested: 1, reservation: { amount: 1 } });
});

test('of two resolutions of a reservation at once, exactly one is done', async () => {
  holder = await Holder.of(setting, { amount: 1000 });
  for (let round = 0; round < 10; round += 1) {
    const { id } = (await holder.reserve(10)).json;
    const replies = await Promise.all([
      holder.act(id, 'commit', { value: 7 }),
      holder.act(id, 'commit', { value: 7 }),
      holder.act(id, 'release'),
      holder.act(id, 'commit', { value: 3 }),
    ]);
    const done = replies.filter(({ status }) => status === 200);
    const told = new Set(done.map(({ text }) => text));
    expect(told.size).toBe(1);
    expect(replies.map(({ status }) => status).filter((status) => status !== 200)).toEqual(
      Array(4 - done.length).fill(409),
    );
  }
  const [, consumed, reserved] = await holder.seen();
  const [sum] = await setting.server.sql<{ committed: number }[]>`
    select (sum(committed) / 1e6)::int as committed from reservations where customer_id = ${holder.customer}`;
  expect([consumed, reserved]).toEqual([sum!.committed, 0]);
});

test('balances and checks show reserved units', async () => {
  const hook = { url: 'https://example.com/hook', event_types: ['usage.recorded'] };
  await setting.post('/webhook-endpoints', hook);
  holder = await Holder.of(setting, { amount: 30, priority: 2 });
  await setting.grant(holder.customer, 'tokens', { amount: 10, priority: 1 });
  const { id } = (await holder.reserve(25)).json;
  const balance = async () => {
    const { consumed, reserved, breakdown } = (await setting.balance(holder.customer, 'tokens'))!;
    const remaining = (breakdown as { remaining: number }[]).map((one) => one.remaining);
    return [consumed, reserved, remaining];
  };
  const used = async () => {
    const path = `/usage?feature_key=tokens&customer_id=${holder.customer}`;
    const { data } = (await setting.server.call('GET', path)).json;
    return (data as { value: number }[]).reduce((sum, { value }) => sum + value, 0);
  };
  const told = () => setting.server.sql<{ data: unknown }[]>`
    select data from events where account_id = ${holder.customer} and type = 'usage.recorded'`;
  // In burn order.
  expect([await balance(), await used(), await told()]).toEqual([[0, 25, [0, 15]], 0, []]);
  await holder.act(id, 'commit', { value: 12 });
  await holder.act(id, 'commit', { value: 12 });
  expect([await balance(), await used()]).toEqual([[12, 0, [0, 28]], 12]);
  expect((await told()).map(({ data }) => data)).toMatchObject([{ value: 12, consumed: 12 }]);
});

test('a refused reservation is among the decisions', async () => {
  holder = await Holder.of(setting, { amount: 5 });
  const refused = await holder.reserve(6);
  expect(refusal(refused)).toEqual([402, 'insufficient_balance']);
  const check = await setting.check(holder.customer, 'tokens', { value: 7, reserve: true });
  await setting.server.flush();
  for (const [reply, value] of [
    [refused, 6],
    [check, 7],
  ] as const) {
    const path = `/decisions?request_id=${reply.headers.get('x-request-id')}`;
    expect((await setting.server.call('GET', path)).json.data).toMatchObject([
      { kind: 'reserve', allowed: false, reason: 'insufficient_balance', value },
    ]);
  }
});

test('a customer has 1,000 open reservations at most', async () => {
  holder = await Holder.of(setting, { amount: 5000 });
  const replies = await times(1000, () => holder.reserve(1));
  expect(tally(replies.map(({ status }) => status))).toEqual({ 201: 1000 });
  expect(refusal(await holder.reserve(1))).toEqual([409, 'conflict']);
  const held = await setting.check(holder.customer, 'tokens', { reserve: true });
  expect(refusal(held)).toEqual([409, 'conflict']);
  await holder.act(replies[0]!.json.id, 'release');
  expect((await holder.reserve(1)).status).toBe(201);
});

test('a counting meter is reserved in whole units', async () => {
  holder = await Holder.of(setting, { amount: 10 }, 'calls');
  expect(refusal(await holder.reserve(1.5))).toEqual(invalidAt(['amount']));
  const { json } = await holder.reserve(6);
  const half = await holder.act(json.id, 'commit', { value: 0.5 });
  expect(refusal(half)).toEqual(invalidAt(['value']));
  expect((await holder.act(json.id, 'commit', { value: 4 })).json).toMatchObject({ balance: 6 });
  expect(await setting.consumed(holder.customer, 'calls')).toEqual([4]);
});
testBooksClose(() => setting);

test.each([
  ['in the body', { idempotency_key: 'too much' }, {}],
  ['in the header', {}, { headers: { 'idempotency-key': 'too much' } }],
])(
  'a refusal of a reservation is repeated under its key %s',
  async (_where, fields: Fields, call: Call) => {
    holder = await Holder.of(setting, { amount: 10 });
    const reserve = (amount: number | string) => holder.reserve(amount, fields, call);
    const first = await reserve(11);
    expect(refusal(first)).toEqual([402, 'insufficient_balance']);
    await setting.grant(holder.customer, 'tokens', { amount: 100 });
    const again = await setting.withoutTrace(() => reserve('11.0'));
    expect([again.status, again.text]).toEqual([402, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(refusal(await reserve(12))).toEqual([422, 'idempotency_key_reused']);
    // It is another key for another customer.
    const other = await Holder.of(setting, { amount: 20 });
    expect((await other.reserve(11, fields, call)).status).toBe(201);
  },
);
