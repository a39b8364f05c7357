// What is wrong with a reservation is refused with its path, and leaves nothing behind.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, invalidAt, NOT_FOUND, refusal, Setting, testBooksClose } from '../setting.ts';
import { Holder } from './holder.ts';

let setting: Setting;
let holder: Holder;
let id: string;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('tokens', { scale: 2 });
  await setting.meter('max', { aggregation: 'max' });
  await setting.meter('last', { aggregation: 'last' });
  await setting.meter('unique', { aggregation: 'unique', unique_property: 'user' });
  holder = await Holder.of(setting, { amount: 10 });
  id = (await holder.reserve(4)).json.id;
});
afterAll(() => setting.stop());

const NOT_SUMMED = invalidAt(['feature_key']);

test.each([
  ['an unknown field', { extra: 1 }, invalidAt(['extra'])],
  ['both names', { external_customer_id: 'a' }, invalidAt(['customer_id'])],
  ['no name', { customer_id: undefined }, invalidAt(['customer_id'])],
  ['an unknown customer', { customer_id: crypto.randomUUID() }, NOT_FOUND],
  ['an unknown meter', { feature_key: 'nothing' }, NOT_FOUND],
  ['a meter of peaks', { feature_key: 'max' }, NOT_SUMMED],
  ['a gauge', { feature_key: 'last' }, NOT_SUMMED],
  ['a meter of unique values', { feature_key: 'unique' }, NOT_SUMMED],
  ['nothing', { amount: 0 }, invalidAt(['amount'])],
  ['less than nothing', { amount: -1 }, invalidAt(['amount'])],
  ['no amount', { amount: undefined }, invalidAt(['amount'])],
  ['more decimals than the meter has', { amount: 0.001 }, invalidAt(['amount'])],
  ['what is out of range', { amount: 1e30 }, invalidAt(['amount'])],
  ['no number', { amount: 'many' }, invalidAt(['amount'])],
  ['no time', { expires_in: 0 }, invalidAt(['expires_in'])],
  ['more than a day', { expires_in: 86_401 }, invalidAt(['expires_in'])],
  ['parts of a second', { expires_in: 1.5 }, invalidAt(['expires_in'])],
  ['an empty key', { idempotency_key: '' }, invalidAt(['idempotency_key'])],
  ['more than there is', { amount: 6.01 }, [402, 'insufficient_balance']],
] as const)('POST /reservations is refused: %s', async (_what, fields: Fields, expected) => {
  const reply = await setting.withoutTrace(() => holder.reserve(1, fields));
  expect(refusal(reply)).toEqual(expected);
});

test.each([
  ['with consume', { consume: true }, invalidAt(['reserve'])],
  ['of no units', { value: 0 }, invalidAt(['value'])],
  ['of a gauge', { feature_key: 'last' }, NOT_SUMMED],
  ['for longer than a day', { expires_in: 86_401 }, invalidAt(['expires_in'])],
  ['a time, but no reserve', { reserve: false, expires_in: 5 }, invalidAt(['expires_in'])],
  [
    'a key, but no reserve',
    { reserve: false, idempotency_key: 'k' },
    invalidAt(['idempotency_key']),
  ],
] as const)('POST /check with reserve is refused: %s', async (_what, fields: Fields, expected) => {
  const ask = () => setting.check(holder.customer, 'tokens', { reserve: true, ...fields });
  expect(refusal(await setting.withoutTrace(ask))).toEqual(expected);
});

test('a check in a batch cannot reserve for less time than one alone', async () => {
  const check = { feature_key: 'tokens', customer_id: holder.customer };
  const fields = { reserve: true, expires_in: 0 };
  const checks = [{ ...check, ...fields }, { ...check, expires_in: 5 }, check];
  const { json } = await setting.withoutTrace(() => setting.post('/check/batch', { checks }));
  const [refused, aimless, answered] = json.results;
  for (const { error } of [refused, aimless]) {
    expect(error.issues.map(({ path }: { path: string[] }) => path)).toEqual([['expires_in']]);
  }
  expect(answered).toMatchObject({ allowed: true, reserved: 4 });
});

test.each([
  ['commit', { value: -1 }, invalidAt(['value'])],
  ['commit', { value: 0.001 }, invalidAt(['value'])],
  ['commit', { value: 1e30 }, invalidAt(['value'])],
  ['commit', {}, invalidAt(['value'])],
  ['commit', { value: 1, extra: 1 }, invalidAt(['extra'])],
  ['release', { extra: 1 }, invalidAt(['extra'])],
  ['extend', {}, invalidAt([])],
  ['extend', { amount: 0 }, invalidAt(['amount'])],
  ['extend', { amount: 3.99 }, invalidAt(['amount'])],
  ['extend', { amount: 4.001 }, invalidAt(['amount'])],
  ['extend', { amount: 10.01 }, [402, 'insufficient_balance']],
  ['extend', { expires_in: 0 }, invalidAt(['expires_in'])],
  ['extend', { expires_in: 86_401 }, invalidAt(['expires_in'])],
  ['extend', { extra: 1 }, invalidAt(['extra'])],
] as const)('a reservation refuses %s with %j', async (what, body: Fields, expected) => {
  const reply = await setting.withoutTrace(() => holder.act(id, what, body));
  expect(refusal(reply)).toEqual(expected);
  expect(await holder.read(id)).toMatchObject({ status: 'open', amount: 4 });
});

test.each([
  ['GET', '', undefined],
  ['POST', '/commit', { value: 1 }],
  ['POST', '/release', undefined],
  ['POST', '/extend', { expires_in: 5 }],
] as const)(
  '%s %s of a reservation of another organisation or mode: the same 404',
  async (method, what, body) => {
    const { organisation, other } = setting.server;
    const call = (of: string, key: string) =>
      setting.server.call(method, `/reservations/${of}${what}`, { key, ...(body && { body }) });
    const missing = await call(crypto.randomUUID(), organisation.testKey);
    expect(refusal(missing)).toEqual(NOT_FOUND);
    for (const key of [organisation.liveKey, other.testKey]) {
      expect((await call(id, key)).text).toBe(missing.text);
    }
    expect(refusal(await call('not-a-uuid', organisation.testKey))).toEqual(NOT_FOUND);
  },
);

test('a deleted meter takes no new reservation, and those it has can be resolved', async () => {
  const meter = await setting.meter('brief');
  const customer = await setting.customer();
  const grant = await setting.grant(customer, 'brief', { amount: 10 });
  const body = { feature_key: 'brief', customer_id: customer, amount: 5 };
  const held = (await setting.post('/reservations', body)).json;
  await setting.server.call('POST', `/grants/${grant['id'] as string}/void`);
  expect((await setting.server.call('DELETE', `/meters/${meter}`)).status).toBe(204);
  expect(refusal(await setting.post('/reservations', body))).toEqual(NOT_FOUND);
  expect(await holder.read(held.id)).toMatchObject({ feature_key: 'brief', status: 'open' });
  const { json } = await holder.act(held.id, 'commit', { value: 2 });
  expect(json).toMatchObject({ status: 'committed', committed: 2, balance: 0 });
});

testBooksClose(() => setting);
