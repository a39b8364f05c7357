// Alerts are made, found and deleted.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { testBooksClose } from '../metering/setting.ts';
import { Watching } from './watching.ts';

let watching: Watching;
beforeAll(async () => {
  watching = await Watching.open();
});
afterAll(() => watching.stop());

const call = (method: string, path: string, options = {}) =>
  watching.setting.server.call(method, path, options);

test('POST /alerts makes an alert for every customer, or for one customer by either of its ids', async () => {
  const feature = await watching.feature();
  const external = `user-${feature}`;
  const customer = await watching.setting.customer({ external_customer_id: external });
  const all = await watching.alert(feature, { type: 'usage_percentage', threshold: 80 });
  expect(all).toEqual({
    id: all.id,
    meter_id: all['meter_id'],
    feature_key: feature,
    customer_id: null,
    external_customer_id: null,
    type: 'usage_percentage',
    threshold: 80,
    created_at: all['created_at'],
  });
  const own = await watching.alert(feature, {
    type: 'remaining',
    threshold: '2.5',
    customer_id: customer,
  });
  expect(own).toMatchObject({
    customer_id: customer,
    external_customer_id: external,
    threshold: 2.5,
  });
  const named = await watching.alert(feature, {
    type: 'remaining',
    threshold: 0,
    external_customer_id: external,
  });
  expect(named).toMatchObject({ customer_id: customer, threshold: 0 });

  expect((await call('GET', `/alerts/${own.id}`)).json).toEqual(own);
  const list = async (query: string) => {
    const { json } = await call('GET', `/alerts?feature_key=${feature}${query}`);
    return json;
  };
  expect(await list('')).toEqual({
    data: [named, own, all],
    limit: 50,
    offset: 0,
    has_more: false,
  });
  expect((await list('&limit=1')).has_more).toBe(true);
  expect((await list(`&after=${named.id}`)).data).toEqual([own, all]);
  expect((await list(`&customer_id=${customer}`)).data).toEqual([named, own]);
  expect((await list(`&external_customer_id=${external}`)).data).toEqual([named, own]);
  expect((await list('&external_customer_id=nobody')).data).toEqual([]);
});

test('a deleted alert is gone, and the same one may be made again', async () => {
  const feature = await watching.feature();
  const body = { type: 'usage', threshold: 5 };
  const { id } = await watching.alert(feature, body);
  expect((await call('DELETE', `/alerts/${id}`)).status).toBe(204);
  expect((await call('DELETE', `/alerts/${id}`)).status).toBe(404);
  expect((await call('GET', `/alerts/${id}`)).status).toBe(404);
  expect((await call('GET', `/alerts?feature_key=${feature}`)).json.data).toEqual([]);
  await watching.alert(feature, body);
});

test('POST /alerts with an Idempotency-Key makes one alert', async () => {
  const feature = await watching.feature();
  const body = { feature_key: feature, type: 'usage', threshold: 5 };
  const headers = { 'Idempotency-Key': `alert ${feature}` };
  const first = await call('POST', '/alerts', { body, headers });
  const second = await call('POST', '/alerts', { body, headers });
  expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
  const other = await call('POST', '/alerts', { body: { ...body, threshold: 6 }, headers });
  expect(other.status).toBe(422);
});

test('deleting a meter deletes its alerts', async () => {
  const feature = await watching.feature();
  const { id } = await watching.alert(feature, { type: 'usage', threshold: 5 });
  expect((await call('DELETE', `/meters/${feature}`)).status).toBe(204);
  expect((await call('GET', `/alerts/${id}`)).status).toBe(404);
});

test('GET shows which alerts a customer has, and which of them have fired', async () => {
  const feature = await watching.feature();
  const customer = await watching.setting.customer();
  await watching.setting.grant(customer, feature, { amount: 100 });
  await watching.alert(feature, { type: 'usage', threshold: 90 });
  await watching.alert(feature, { type: 'usage', threshold: 50, customer_id: customer });
  await watching.alert(feature, {
    type: 'usage',
    threshold: 10,
    customer_id: await watching.setting.customer(),
  });
  await watching.use(customer, feature, 60);
  const { json } = await call('GET', `/customers/${customer}/alerts?feature_key=${feature}`);
  expect(
    json.data.map((row: Record<string, unknown>) => [
      row['threshold'],
      row['customer_id'],
      row['triggered'],
    ]),
  ).toEqual([
    [50, customer, true],
    [90, null, false],
  ]);
});

testBooksClose(() => watching.setting);
