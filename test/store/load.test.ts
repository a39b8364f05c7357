// An actor is only a cache: loaded again, it is the same.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { Actor } from '../../ledger/actor/actor.ts';
import type { MeterState } from '../../ledger/metering/meter.ts';
import { type Fields, Setting, testBooksClose } from '../http/metering/setting.ts';
import { MovedClock } from '../support/moved-clock.ts';

const clock = new MovedClock();
let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open({ clock });
  for (const aggregation of ['sum', 'count', 'max', 'last']) {
    await setting.meter(aggregation, { aggregation });
  }
  await setting.meter('unique', { aggregation: 'unique', unique_property: 'user' });
});
afterEach(() => clock.travel(null));
afterAll(() => setting.stop());

async function statesOf(customer: string): Promise<Record<string, MeterState>> {
  const tenant = { organisationId: setting.server.organisation.id, mode: 'test' } as const;
  const actor = await setting.server.ledger.find(tenant, { id: customer });
  if (!(actor instanceof Actor)) throw new Error('no such customer here');
  return Object.fromEntries(
    [...actor.customerMeters.values()].map(({ meter, durable }) => [
      meter.slug,
      comparable(durable!),
    ]),
  );
}

/** The past is loaded only for late events, and for what is reserved in it. */
function comparable(state: MeterState): MeterState {
  const { start: now } = state.current;
  const others = state.others.filter(({ start, reserved }) => start > now || reserved > 0n);
  return { ...state, others, marks: [], ended: [], historyLoaded: false };
}

const DAY = 86_400_000;
const inMs = (ms: number): string => new Date(clock.now() + ms).toISOString();
const user = (name: string): Fields => ({ metadata: { user: name } });

type Step = (customer: string) => Promise<unknown>;
const grant =
  (feature: string, fields: () => Fields = () => ({})): Step =>
  (customer) =>
    setting.grant(customer, feature, fields());
const track =
  (feature: string, fields: Fields = {}): Step =>
  (customer) =>
    setting.track(customer, feature, fields);
const ingest =
  (feature: string, ago: number, fields: Fields = {}): Step =>
  (customer) =>
    setting.ingest([{ name: feature, customer_id: customer, timestamp: inMs(-ago), ...fields }]);
const reserve =
  (amount: number, fields: Fields = {}): Step =>
  (customer) =>
    setting.post('/reservations', {
      feature_key: 'sum',
      customer_id: customer,
      amount,
      ...fields,
    });
const days =
  (count: number): Step =>
  async () =>
    clock.travel(clock.now() + count * DAY);

const ROLLS = { reset_interval: 'day', rollover: { max: 6, expires_after_periods: 2 } };

// prettier-ignore
const LIVES: [string, Step[]][] = [
  ['usage without a grant',        [track('sum')]],
  ['corrections below zero',       [track('sum', { value: -5 }), track('sum', { value: 2 })]],
  ['a count',                      [grant('count'), track('count'), track('count', { value: -1 })]],
  ['a maximum',                    [grant('max'), track('max', { value: 7.5 }), track('max', { value: 2 })]],
  ['a last value, one came late',  [grant('last'), track('last', { value: 7.5 }), ingest('last', 60_000, { value: 2 })]],
  ['unique values',                [grant('unique'), track('unique', user('a')), track('unique', user('a'))]],
  ['several meters',               [grant('sum'), grant('max'), track('sum'), track('max')]],
  ['grants of every kind',         [grant('sum', () => ({ priority: 1, reason: 'x', overage_allowed: true })), grant('sum', () => ({ unlimited: true, expires_at: inMs(DAY) })), grant('sum', () => ({ effective_at: inMs(DAY) })), grant('sum', () => ROLLS), track('sum', { value: 12 })]],
  ['exhaustion',                   [grant('sum'), track('sum', { value: 12 }), grant('sum')]],
  ['an allowance, days later',     [grant('sum', () => ROLLS), track('sum', { value: 3 }), days(3), track('sum', { value: 4 })]],
  ['late events into its past',    [grant('sum', () => ROLLS), track('sum'), days(3), ingest('sum', 2 * DAY), ingest('sum', 20 * DAY)]],
  ['an event ahead of the period', [grant('sum', () => ({ reset_interval: 'hour' })), days(1), track('sum'), ingest('sum', -200_000)]],
  ['a grant that has expired',     [grant('sum', () => ({ expires_at: inMs(DAY) })), track('sum'), days(2), track('sum')]],
  ['an allowance that has ended',  [grant('sum', () => ({ ...ROLLS, expires_at: inMs(DAY / 2) })), grant('sum'), track('sum', { value: 12 }), days(1), track('sum')]],
  ['reservations',                 [grant('sum'), reserve(2, { expires_in: 600 }), reserve(3), reserve(4, { idempotency_key: 'k' })]],
  ['one that grants pay for',      [grant('sum'), grant('sum', () => ({ priority: 1, amount: 3 })), reserve(5), grant('sum')]],
  ['one of a period that is over', [grant('sum', () => ({ ...ROLLS, reset_interval: 'hour' })), reserve(5, { expires_in: 86_400 }), days(0.25), track('sum')]],
];

test.each(LIVES)('a loaded customer is as it was written: %s', async (_what, steps) => {
  const customer = await setting.customer();
  for (const step of steps) await step(customer);
  const before = await statesOf(customer);
  setting.server.ledger.forget(customer);
  const after = await statesOf(customer);
  expect(after).toEqual(before);
  // And it continues from there.
  for (const feature of Object.keys(after)) {
    const fields = feature === 'unique' ? user('z') : {};
    expect((await setting.track(customer, feature, fields)).status).toBe(200);
  }
});

test('a loaded reservation of an ended period is committed and released after it', async () => {
  const customer = await setting.customer();
  await setting.grant(customer, 'sum', { ...ROLLS, reset_interval: 'hour' });
  const open: string[] = [];
  for (const amount of [3, 6]) {
    const body = { feature_key: 'sum', customer_id: customer, amount, expires_in: 86_400 };
    open.push((await setting.post('/reservations', body)).json.id);
  }
  await days(1 / 24)(customer);
  // One was not reserved, and rolled over.
  expect(await setting.balance(customer, 'sum')).toMatchObject({ limit: 11, reserved: 0 });
  setting.server.ledger.forget(customer);
  await setting.post(`/reservations/${open[0]}/commit`, { value: 1 });
  setting.server.ledger.forget(customer);
  await setting.post(`/reservations/${open[1]}/release`, {});
  setting.server.ledger.forget(customer);
  // Two and six of it are free; five of them roll over beside the one.
  expect(await setting.balance(customer, 'sum')).toMatchObject({ limit: 16, consumed: 0 });
  expect(await setting.consumed(customer, 'sum')).toEqual([1, 0]);
});

test('a loaded credit pool gets back what a member releases in its past', async () => {
  await setting.meter('tokens', { value_property: 'value' });
  const credit_costs = [{ feature_key: 'tokens', cost: '2' }];
  await setting.meter('credits', { aggregation: 'sum', credit_costs });
  const customer = await setting.customer();
  await setting.grant(customer, 'credits', { amount: 100, reset_interval: 'hour' });
  await setting.grant(customer, 'tokens');
  const held = { feature_key: 'tokens', customer_id: customer, amount: 6, expires_in: 86_400 };
  const { json } = await setting.post('/reservations', held);
  await setting.track(customer, 'tokens', { value: 4 });
  const then = inMs(0);
  await days(1 / 24)(customer);
  const late = { name: 'tokens', customer_id: customer, timestamp: then };
  await setting.ingest([{ ...late, metadata: { value: 6 } }]);
  setting.server.ledger.forget(customer);
  expect((await setting.post(`/reservations/${json.id}/release`, {})).status).toBe(200);
  // As it was never held, the tokens of its own pay for what came late.
  expect(await setting.consumed(customer, 'tokens')).toEqual([10]);
  expect(await setting.consumed(customer, 'credits')).toEqual([0, 0]);
});

test('a meter that a node of the release before has moved on begins a stretch with its period', async () => {
  const customer = await setting.customer();
  await setting.grant(customer, 'sum', { amount: 10, reset_interval: 'hour' });
  await setting.track(customer, 'sum', { value: 4 });
  await setting.server.sql`
    update customer_meters set stretch_start = '2000-01-01', stretch_place = 1, stretch_aggregate = 9
    where customer_id = ${customer}`;
  setting.server.ledger.forget(customer);
  const { current, stretch } = (await statesOf(customer))['sum']!;
  expect(stretch).toEqual({ start: current.start, aggregate: 0n });
});

test('a loaded credit pool pays in its past for a hold of a member whose period began then', async () => {
  const credit_costs = [{ feature_key: 'minutes', cost: '2' }];
  await setting.meter('minutes');
  await setting.meter('coins', { aggregation: 'sum', credit_costs });
  const customer = await setting.customer();
  await setting.grant(customer, 'coins', { amount: 100 });
  await setting.grant(customer, 'minutes', { amount: 5, reset_interval: 'hour' });
  await days(0.5 / 24)(customer);
  await setting.grant(customer, 'coins', { amount: 100, reset_interval: 'hour' });
  setting.server.ledger.forget(customer);
  const held = { feature_key: 'minutes', customer_id: customer, amount: 9, expires_in: 86_400 };
  const { json } = await setting.post('/reservations', held);
  await days(0.75 / 24)(customer);
  expect((await setting.post(`/reservations/${json.id}/commit`, { value: 8 })).status).toBe(200);
  expect(await setting.consumed(customer, 'minutes')).toEqual([8, 0]);
  // In the one in which that of the member began.
  expect(await setting.consumed(customer, 'coins')).toEqual([6, 0]);
});

test('a unique value is still known after a load', async () => {
  const customer = await setting.customer();
  await setting.track(customer, 'unique', user('a'));
  setting.server.ledger.forget(customer);
  await setting.track(customer, 'unique', user('a'));
  expect(await setting.consumed(customer, 'unique')).toEqual([1]);
});

test('a key is still known after a load', async () => {
  const customer = await setting.customer();
  const fields = { idempotency_key: `kept ${customer}` };
  const first = await setting.track(customer, 'sum', fields);
  setting.server.ledger.forget(customer);
  const again = await setting.track(customer, 'sum', fields);
  expect(again.json).toEqual({ ...first.json, duplicate: true });
});

testBooksClose(() => setting);
