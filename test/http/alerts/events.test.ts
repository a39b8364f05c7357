// `alert.triggered` and `alert.recovered`: when, how often, and for whom.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '../../support/until.ts';
import { testBooksClose, times } from '../metering/setting.ts';
import { Watching } from './watching.ts';

setDefaultTimeout(90_000);

let watching: Watching;
beforeAll(async () => {
  watching = await Watching.open();
});
afterAll(() => watching.stop());

/** A customer with a grant. */
async function granted(feature: string, fields: object = { amount: 100 }): Promise<string> {
  const customer = await watching.setting.customer();
  await watching.setting.grant(customer, feature, { ...fields });
  return customer;
}

test('each alert whose threshold one call jumps over fires once, of all four kinds', async () => {
  const feature = await watching.feature();
  const customer = await granted(feature);
  const own = { customer_id: customer };
  await watching.alert(feature, { type: 'usage', threshold: 80 });
  await watching.alert(feature, { type: 'usage', threshold: 50, ...own });
  await watching.alert(feature, { type: 'usage_percentage', threshold: 75, ...own });
  await watching.alert(feature, { type: 'remaining', threshold: 20 });
  await watching.alert(feature, { type: 'remaining_percentage', threshold: 5, ...own });
  await watching.use(customer, feature, 49);
  expect(await watching.told(customer, feature)).toEqual([]);
  await watching.use(customer, feature, 31);
  const told = await watching.told(customer, feature);
  expect(told.toSorted()).toEqual([
    'triggered remaining 20',
    'triggered usage 50',
    'triggered usage 80',
    'triggered usage_percentage 75',
  ]);
  await watching.use(customer, feature, 15);
  await watching.use(customer, feature, 100);
  expect(await watching.told(customer, feature)).toEqual([
    ...told,
    'triggered remaining_percentage 5',
  ]);
});

test('GET /events shows every field of an alert event', async () => {
  const feature = await watching.feature();
  const external = `told-${feature}`;
  const customer = await watching.setting.customer({ external_customer_id: external });
  await watching.setting.grant(customer, feature, { amount: 10 });
  const { id } = await watching.alert(feature, { type: 'remaining_percentage', threshold: 12.5 });
  await watching.use(customer, feature, 9.5);
  const { json } = await watching.setting.server.call('GET', '/events?type=alert.triggered');
  const event = json.data.find((row: { data: { alertId: string } }) => row.data.alertId === id);
  expect(event.data).toMatchObject({
    eventType: 'alert.triggered',
    objectType: 'ENTITLEMENT',
    accountId: customer,
    alertId: id,
    featureKey: feature,
    customerId: customer,
    externalCustomerId: external,
    alertType: 'remaining_percentage',
    threshold: 12.5,
    consumed: 9.5,
    limit: 10,
    balance: 0.5,
    initial: false,
  });
});

test('a new grant or period arms a fired alert again, and a correction does not', async () => {
  const feature = await watching.feature();
  const customer = await granted(feature, { amount: 100, reset_interval: 'day' });
  await watching.alert(feature, { type: 'usage_percentage', threshold: 80 });
  await watching.use(customer, feature, 80);
  await watching.use(customer, feature, -60);
  await watching.use(customer, feature, 60);
  const once = ['triggered usage_percentage 80'];
  expect(await watching.told(customer, feature)).toEqual(once);
  expect(await watching.triggered(customer)).toEqual(['usage_percentage 80']);
  await watching.setting.grant(customer, feature, { amount: 100 });
  expect(await watching.told(customer, feature)).toEqual([
    ...once,
    'recovered usage_percentage 80',
  ]);
  expect(await watching.triggered(customer)).toEqual([]);
  await watching.use(customer, feature, 80);
  const twice = [...once, 'recovered usage_percentage 80', ...once];
  expect(await watching.told(customer, feature)).toEqual(twice);
  const moved = await watching.setting.post('/test-clock', { advance: 'P1D' });
  expect(moved.status).toBe(200);
  expect(await watching.told(customer, feature)).toEqual([
    ...twice,
    'recovered usage_percentage 80',
  ]);
});

test('100 concurrent tracks across alert thresholds fire each alert once', async () => {
  const feature = await watching.feature();
  const customer = await granted(feature);
  for (const threshold of [30, 31, 60, 100]) {
    await watching.alert(feature, { type: 'usage', threshold });
  }
  await times(100, () => watching.setting.track(customer, feature, {}));
  expect(await watching.told(customer, feature)).toEqual([
    'triggered usage 30',
    'triggered usage 31',
    'triggered usage 60',
    'triggered usage 100',
  ]);
});

test('an alert made beside concurrent tracks fires once', async () => {
  const feature = await watching.feature();
  const customer = await granted(feature);
  const [, own] = await Promise.all([
    times(100, () => watching.setting.track(customer, feature, {})),
    watching.alert(feature, { type: 'usage', threshold: 50, customer_id: customer }),
    watching.alert(feature, { type: 'remaining', threshold: 20, customer_id: customer }),
  ]);
  const told = await watching.events(customer, feature);
  expect(told.map(({ type }) => type)).toEqual(['alert.triggered', 'alert.triggered']);
  expect(told.map(({ data }) => (data as { alertId: string }).alertId)).toContain(own.id);
});

test('usage by /events/ingest and /track/batch fires alerts', async () => {
  const feature = await watching.feature();
  const [one, other] = [await granted(feature), await granted(feature)];
  await watching.alert(feature, { type: 'usage', threshold: 30 });
  await watching.alert(feature, { type: 'usage', threshold: 50 });
  const event = (customer_id: string, value: number) => ({ name: feature, customer_id, value });
  const ingested = await watching.setting.ingest([event(one, 29), event(other, 1), event(one, 21)]);
  expect(ingested.status).toBe(200);
  const both = ['triggered usage 30', 'triggered usage 50'];
  expect(await watching.told(one, feature)).toEqual(both);
  const track = (value: number) => ({ feature_key: feature, customer_id: other, value });
  await watching.setting.post('/track/batch', { tracks: [track(30), track(10), track(10)] });
  expect(await watching.told(other, feature)).toEqual(both);
});

test('an alert made for one customer who is already past it fires at once, and once', async () => {
  const feature = await watching.feature();
  const customer = await granted(feature);
  await watching.use(customer, feature, 90);
  await watching.alert(feature, { type: 'usage', threshold: 80, customer_id: customer });
  await watching.alert(feature, { type: 'usage', threshold: 95, customer_id: customer });
  expect(await watching.told(customer, feature)).toEqual(['initial usage 80']);
  await watching.use(customer, feature, 5);
  expect(await watching.told(customer, feature)).toEqual([
    'initial usage 80',
    'triggered usage 95',
  ]);
});

// Together: an alert for all is looked at two or three seconds after it was made.
test.concurrent.each([
  ['usage', 80],
  ['usage_percentage', 80],
  ['remaining', 20],
  ['remaining_percentage', 20],
])(
  'an alert made for all customers who are past it by %s fires within a minute, once for each',
  async (type, threshold) => {
    const feature = await watching.feature();
    const past = [await granted(feature), await granted(feature)];
    const [below, unlimited] = [
      await granted(feature),
      await granted(feature, { unlimited: true }),
    ];
    for (const customer of [...past, unlimited]) await watching.use(customer, feature, 90);
    await watching.use(below, feature, 10);
    const { id } = await watching.alert(feature, { type, threshold });
    const { sql } = watching.setting.server;
    await until('all were looked at', async () => {
      return (await sql`select from alerts where id = ${id} and look_at is not null`).length === 0;
    });
    for (const customer of past) {
      const once = [`initial ${type} ${threshold}`];
      expect(await watching.told(customer, feature)).toEqual(once);
      await watching.use(customer, feature, 1);
      expect(await watching.told(customer, feature)).toEqual(once);
    }
    expect(await watching.told(below, feature)).toEqual([]);
    expect(await watching.told(unlimited, feature)).toEqual([]);
  },
);

test('a deleted alert fires no more', async () => {
  const feature = await watching.feature();
  const customer = await granted(feature);
  const all = await watching.alert(feature, { type: 'usage', threshold: 50 });
  const own = await watching.alert(feature, {
    type: 'usage',
    threshold: 60,
    customer_id: customer,
  });
  for (const { id } of [all, own]) {
    const { status } = await watching.setting.server.call('DELETE', `/alerts/${id}`);
    expect(status).toBe(204);
  }
  await watching.use(customer, feature, 100);
  expect(await watching.told(customer, feature)).toEqual([]);
});

test('a call that fires more alerts than one write holds tells each once', async () => {
  const feature = await watching.feature();
  for (let threshold = 1; threshold <= 20; threshold += 1) {
    await watching.alert(feature, { type: 'usage', threshold });
  }
  const customers: string[] = [];
  const { setting } = watching;
  while (customers.length < 110) {
    customers.push(...(await times(10, () => setting.customer())));
  }
  const total = async (): Promise<number> => {
    const [row] = await watching.setting.server.sql`
      select count(*)::int, count(distinct (account_id, data ->> 'alertId'))::int as different from events
      where type = 'alert.triggered' and data ->> 'featureKey' = ${feature}`;
    expect(row!['different']).toBe(row!['count']);
    return row!['count'] as number;
  };
  const half = customers.map((customer_id) => ({ feature_key: feature, customer_id, value: 10 }));
  const tracked = await watching.setting.post('/track/batch', { tracks: [...half, ...half] });
  expect(tracked.status).toBe(200);
  await until('all are told', async () => (await total()) >= 2200);
  expect(await total()).toBe(2200);

  const other = await watching.feature();
  for (let threshold = 1; threshold <= 20; threshold += 1) {
    await watching.alert(other, { type: 'usage', threshold });
  }
  const events = customers.map((customer_id) => ({ name: other, customer_id, value: 20 }));
  expect((await watching.setting.ingest(events)).status).toBe(200);
  const toldOfOther = async (): Promise<number> => {
    const [row] = await watching.setting.server.sql`
      select count(*)::int from events where type = 'alert.triggered' and data ->> 'featureKey' = ${other}`;
    return row!['count'] as number;
  };
  await until('all of the other are told', async () => (await toldOfOther()) >= 2200);
  expect(await toldOfOther()).toBe(2200);
});

testBooksClose(() => watching.setting);
