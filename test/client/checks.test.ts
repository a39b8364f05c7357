// `check` against the real service: many calls in few requests, each with its own answer or error.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  NotFoundError,
  type RequestInfo,
  Tollhouse,
  type TollhouseOptions,
} from '../../src/client/index.ts';
import { freePort } from '../support/free-port.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let sent: RequestInfo[];

beforeAll(async () => {
  server = await startServer();
  await server.call('PUT', '/meters/calls', { body: { name: 'Calls' } });
  for (const name of ['ann', 'ben']) {
    await server.call('PUT', `/customers/${name}`, { body: {} });
    const body = { feature_key: 'calls', amount: 10 };
    await server.call('POST', `/customers/${name}/grants`, { body });
  }
});
afterAll(() => server.stop());

function client(options: Partial<TollhouseOptions> = {}): Tollhouse {
  sent = [];
  const hooks = { onRequest: (request: RequestInfo) => void sent.push(request) };
  const { url: baseUrl, organisation } = server;
  return new Tollhouse({ baseUrl, apiKey: organisation.testKey, hooks, ...options });
}

const ANN = { externalCustomerId: 'ann', featureKey: 'calls' };

test('client checks of one tick are one request to each lane', async () => {
  await using tollhouse = client();
  const customers = Array.from({ length: 80 }, (_, n) => (n % 2 === 0 ? 'ann' : 'ben'));
  const answers = await Promise.all(
    customers.map((externalCustomerId, value) =>
      tollhouse.check({ externalCustomerId, featureKey: 'calls', value }),
    ),
  );
  expect(answers.map(({ requested }) => requested)).toEqual(customers.map((_, n) => n));
  expect(answers.map(({ allowed }) => allowed)).toEqual(customers.map((_, n) => n <= 10));
  expect(sent.length).toBeLessThanOrEqual(2);
  expect(sent.map(({ batchSize }) => batchSize).reduce((sum, size) => sum + size)).toBe(80);
});

test('a client check called while a batch is on its way goes with the next one', async () => {
  await using tollhouse = client({ batchesInFlight: 1 });
  const first = tollhouse.check(ANN);
  await Promise.resolve();
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  const others = Array.from({ length: 30 }, () => tollhouse.check(ANN));
  await Promise.all([first, ...others]);
  expect(sent.map(({ batchSize }) => batchSize)).toEqual([1, 30]);
});

test('an invalid client check is refused alone', async () => {
  await using tollhouse = client();
  const calls = [
    tollhouse.check(ANN),
    tollhouse.check({ ...ANN, externalCustomerId: 'nobody' }),
    // Malformed: the service may refuse the whole batch for it.
    tollhouse.check({ ...ANN, value: 'much' }),
    tollhouse.check({ externalCustomerId: 'ben', featureKey: 'calls' }),
  ];
  const settled = await Promise.allSettled(calls);
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
  const [, nobody, much] = settled as PromiseRejectedResult[];
  expect(nobody!.reason).toBeInstanceOf(NotFoundError);
  expect(nobody!.reason).toMatchObject({ type: 'not_found', status: 404 });
  expect(much!.reason).toMatchObject({ type: 'invalid_request', status: 400 });
});

test("a client check's answer has every field of the document", async () => {
  await using tollhouse = client();
  const body = { ...ANN, value: 3 };
  const generic = await tollhouse.call('checkEntitlement', { body });
  expect(await tollhouse.check(body)).toEqual(generic as never);
});

test('a client check with consume goes with others in a batch, under its own key, and counts', async () => {
  await using tollhouse = client();
  const ben = { externalCustomerId: 'ben', featureKey: 'calls', value: 4, consume: true };
  expect(await tollhouse.check(ben)).toMatchObject({ allowed: true, remaining: 6 });
  expect(sent.map(({ operation }) => operation)).toEqual(['checkEntitlements']);
  const keyed = { ...ben, idempotencyKey: 'ben-1' };
  expect(await tollhouse.check(keyed)).toMatchObject({ remaining: 2 });
  expect(await tollhouse.check(keyed)).toMatchObject({ remaining: 2 });
});

test('many client checks with consume at once of one customer are few requests, and never overrun', async () => {
  await using tollhouse = client();
  await tollhouse.customers.create({ externalCustomerId: 'cid' });
  await tollhouse.grants.create('cid', { featureKey: 'calls', amount: 1500 });
  const use = { externalCustomerId: 'cid', featureKey: 'calls' };
  sent.length = 0;
  const answers = await Promise.all(
    Array.from({ length: 2000 }, () => tollhouse.check({ ...use, consume: true })),
  );
  expect(answers.filter(({ allowed }) => allowed)).toHaveLength(1500);
  // In their order.
  expect(answers.slice(0, 1500).map(({ consumed }) => consumed)).toEqual(
    Array.from({ length: 1500 }, (_, index) => index + 1),
  );
  expect(sent.length).toBeLessThanOrEqual(8);
  expect((await tollhouse.check(use)).consumed).toBe(1500);
});

test('a client check that reserves goes in a batch, and has every field of the document', async () => {
  await using tollhouse = client();
  await tollhouse.customers.create({ externalCustomerId: 'dan' });
  await tollhouse.grants.create('dan', { featureKey: 'calls', amount: 10 });
  const body = {
    externalCustomerId: 'dan',
    featureKey: 'calls',
    reserve: true,
    idempotencyKey: 'h',
  };
  const held = await tollhouse.check(body);
  expect(held).toMatchObject({ allowed: true, reservation: { status: 'open', amount: 1 } });
  expect(await tollhouse.call('checkEntitlement', { body })).toEqual(held as never);
});

test('while the service is away a client check answers its configured fallback, and says so', async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  await using tollhouse = client({ baseUrl, checkTimeoutMs: 100, onUnavailable: 'allow' });
  expect(await tollhouse.check(ANN)).toMatchObject({ allowed: true, reason: 'unavailable' });
  const denied = await tollhouse.check(ANN, { onUnavailable: 'deny' });
  expect(denied).toMatchObject({ allowed: false, reason: 'unavailable' });
  const thrown = await tollhouse
    .check(ANN, { onUnavailable: 'throw' })
    .catch((error: unknown) => error);
  expect(thrown).toMatchObject({ status: null });
});

test('a client check that is refused gets no fallback', async () => {
  await using tollhouse = client({ onUnavailable: 'allow' });
  expect(tollhouse.check({ ...ANN, featureKey: 'none' })).rejects.toBeInstanceOf(NotFoundError);
});
