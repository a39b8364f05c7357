import { afterAll, beforeAll, expect, test } from 'bun:test';
import { invalidAt, NOT_FOUND, refusal } from '../metering/setting.ts';
import { Watching } from './watching.ts';

let watching: Watching;
beforeAll(async () => {
  watching = await Watching.open();
  await watching.setting.meter('whole', { scale: 0 });
});
afterAll(() => watching.stop());

test.each([
  [{ threshold: 5 }, ['type']],
  [{ type: 'balance', threshold: 5 }, ['type']],
  [{ type: 'usage' }, ['threshold']],
  [{ type: 'usage', threshold: null }, ['threshold']],
  [{ type: 'usage', threshold: 'much' }, ['threshold']],
  [{ type: 'usage', threshold: 0 }, ['threshold']],
  [{ type: 'usage', threshold: -1 }, ['threshold']],
  [{ type: 'usage', threshold: 0.5 }, ['threshold']],
  [{ type: 'usage', threshold: 1e15 }, ['threshold']],
  [{ type: 'usage_percentage', threshold: 0 }, ['threshold']],
  [{ type: 'usage_percentage', threshold: 1000.0001 }, ['threshold']],
  [{ type: 'usage_percentage', threshold: 80.00001 }, ['threshold']],
  [{ type: 'remaining', threshold: -1 }, ['threshold']],
  [{ type: 'remaining_percentage', threshold: 100.1 }, ['threshold']],
  [{ type: 'usage', threshold: 5, once: true }, ['once']],
  [{ type: 'usage', threshold: 5, customer_id: 'me' }, ['customer_id']],
])('POST /alerts with %j is 400', async (body, path) => {
  expect(refusal(await watching.create('whole', body))).toEqual(invalidAt(path));
});

test.each([
  { type: 'usage_percentage', threshold: 1000 },
  { type: 'usage_percentage', threshold: 0.0001 },
  { type: 'remaining_percentage', threshold: 100 },
  { type: 'remaining_percentage', threshold: 0 },
  { type: 'remaining', threshold: 0 },
])('POST /alerts with %j is 201', async (body) => {
  expect((await watching.create('whole', body)).status).toBe(201);
});

test('POST /alerts which names its customer by both ids is 400', async () => {
  const customer_id = await watching.setting.customer({ external_customer_id: 'twice' });
  const body = { type: 'usage', threshold: 5, customer_id, external_customer_id: 'twice' };
  expect(refusal(await watching.create('whole', body))).toEqual(invalidAt(['customer_id']));
});

test('POST /alerts on a boolean feature is refused', async () => {
  const { setting } = watching;
  await setting.meter('switch');
  const product = await setting.post('/products', { name: 'Switch' });
  const entitle = (feature: string, type: string) =>
    setting.post(`/products/${product.json.id}/entitlements`, { feature_key: feature, type });
  expect((await entitle('switch', 'boolean')).status).toBe(201);
  const body = { type: 'usage', threshold: 5 };
  expect(refusal(await watching.create('switch', body))).toEqual(invalidAt(['feature_key']));
});

test('POST /alerts on an unknown feature or customer is refused', async () => {
  const body = { type: 'usage', threshold: 5 };
  const nobody = '01890000-0000-7000-8000-000000000000';
  expect(refusal(await watching.create('nothing', body))).toEqual(NOT_FOUND);
  for (const who of [{ customer_id: nobody }, { external_customer_id: 'nobody' }]) {
    expect(refusal(await watching.create('whole', { ...body, ...who }))).toEqual(NOT_FOUND);
  }
  for (const id of [nobody, 'x', '%00']) {
    for (const method of ['GET', 'DELETE']) {
      expect(refusal(await watching.setting.server.call(method, `/alerts/${id}`))).toEqual(
        NOT_FOUND,
      );
    }
  }
});

test('an alert, a feature and a customer of another organisation or mode are not found', async () => {
  const { server } = watching.setting;
  const customer_id = await watching.setting.customer();
  const { id } = await watching.alert('whole', { type: 'usage', threshold: 7, customer_id });
  const { organisation, other } = server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    const body = { feature_key: 'whole', type: 'usage', threshold: 7 };
    expect((await server.call('POST', '/alerts', { key, body })).status).toBe(404);
    await watching.setting.post('/meters', { slug: 'whole' }, { key });
    const theirs = { ...body, customer_id };
    expect((await server.call('POST', '/alerts', { key, body: theirs })).status).toBe(404);
    for (const method of ['GET', 'DELETE']) {
      expect((await server.call(method, `/alerts/${id}`, { key })).status).toBe(404);
    }
    expect((await server.call('GET', '/alerts', { key })).json.data).toEqual([]);
    const after = await server.call('GET', `/alerts?after=${id}`, { key });
    expect(after.status).toBe(400);
    expect((await server.call('GET', `/customers/${customer_id}/alerts`, { key })).status).toBe(
      404,
    );
  }
  expect((await server.call('GET', `/alerts/${id}`)).status).toBe(200);
});

test('POST of an alert that exists is 409; of another customer or threshold it is made', async () => {
  const feature = await watching.feature();
  const customer_id = await watching.setting.customer();
  const body = { type: 'usage', threshold: 5 };
  await watching.alert(feature, body);
  expect(refusal(await watching.create(feature, body))).toEqual([409, 'conflict']);
  expect(refusal(await watching.create(feature, { ...body, threshold: '5.0' }))).toEqual([
    409,
    'conflict',
  ]);
  await watching.alert(feature, { ...body, customer_id });
  expect(refusal(await watching.create(feature, { ...body, customer_id }))).toEqual([
    409,
    'conflict',
  ]);
  await watching.alert(feature, { ...body, threshold: 6 });
  await watching.alert(feature, { ...body, type: 'usage_percentage' });
});
