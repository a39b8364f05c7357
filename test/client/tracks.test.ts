// `track` against the real service: what resolved is recorded once, each call with its own answer.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { InsufficientBalanceError, NotFoundError, Tollhouse } from '../../src/client/index.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await server.call('PUT', '/meters/calls', { body: { name: 'Calls' } });
});
afterAll(() => server.stop());

async function customer(name: string, amount: number): Promise<void> {
  await server.call('PUT', `/customers/${name}`, { body: {} });
  await server.call('POST', `/customers/${name}/grants`, {
    body: { feature_key: 'calls', amount },
  });
}

async function consumed(name: string): Promise<number> {
  const { json } = await server.call('GET', `/customers/${name}/balances`);
  return json.data[0].consumed as number;
}

const client = (fetch?: (url: string, init: RequestInit) => Promise<Response>): Tollhouse =>
  new Tollhouse({
    baseUrl: server.url,
    apiKey: server.organisation.testKey,
    ...(fetch !== undefined && { fetch }),
  });

test('the client sends a thousand tracks of one tick in their order', async () => {
  await customer('ann', 2000);
  await using tollhouse = client();
  const use = { externalCustomerId: 'ann', featureKey: 'calls' };
  const answers = await Promise.all(Array.from({ length: 1000 }, () => tollhouse.track(use)));
  expect(answers.map((answer) => answer.consumed)).toEqual(answers.map((_, at) => at + 1));
  expect(await consumed('ann')).toBe(1000);
});

test('a client track whose answer is lost is sent again, and counts once', async () => {
  await customer('ben', 2000);
  let lost = 0;
  await using tollhouse = client(async (url, init) => {
    const response = await fetch(url, init);
    if (lost === 2) return response;
    lost += 1;
    throw new TypeError('connection reset');
  });
  const use = { externalCustomerId: 'ben', featureKey: 'calls', value: 2 };
  const answers = await Promise.all(Array.from({ length: 50 }, () => tollhouse.track(use)));
  expect(lost).toBe(2);
  expect(answers.every(({ duplicate }) => duplicate)).toBe(true);
  expect(await consumed('ben')).toBe(100);
});

test('a client track with its key sent again says that it counted before', async () => {
  await customer('cal', 10);
  await using tollhouse = client();
  const body = { externalCustomerId: 'cal', featureKey: 'calls', idempotencyKey: 'order-1' };
  const call = () => tollhouse.call<{ duplicate: boolean }>('trackUsage', { body });
  expect((await call()).duplicate).toBe(false);
  expect((await call()).duplicate).toBe(true);
  expect((await tollhouse.track(body)).duplicate).toBe(true);
  const consume = () => tollhouse.check({ ...body, idempotencyKey: 'order-2', consume: true });
  expect(await consume()).toEqual(await consume());
  expect(await consumed('cal')).toBe(2);
  const unknown = tollhouse.call('trackUsage', { body: { ...body, externalCustomerId: 'none' } });
  expect(await unknown.catch((error: unknown) => error)).toMatchObject({
    idempotencyKey: 'order-1',
  });
});

test('each client track has its own answer or error', async () => {
  await customer('cy', 5);
  await using tollhouse = client();
  const cy = { externalCustomerId: 'cy', featureKey: 'calls' };
  const settled = await Promise.allSettled([
    tollhouse.track({ ...cy, value: 3, metadata: { fromPage: 'start' } }),
    tollhouse.track({ ...cy, value: 3, overage: 'reject' }, { idempotencyKey: 'cy-1' }),
    tollhouse.track({ ...cy, externalCustomerId: 'nobody' }),
    tollhouse.track({ ...cy, value: 2, idempotencyKey: 'cy-2' }),
    tollhouse.track({ ...cy, value: 2, idempotencyKey: 'cy-2' }),
  ]);
  const [first, over, nobody, once, again] = settled as { value?: object; reason?: unknown }[];
  expect(first!.value).toMatchObject({ value: 3, consumed: 3, externalCustomerId: 'cy' });
  expect(over!.reason).toBeInstanceOf(InsufficientBalanceError);
  expect(over!.reason).toMatchObject({ status: 402, idempotencyKey: 'cy-1' });
  expect(nobody!.reason).toBeInstanceOf(NotFoundError);
  expect(once!.value).toMatchObject({ consumed: 5, duplicate: false });
  expect(again!.value).toMatchObject({ consumed: 5, duplicate: true });
});

test("a client track's answer has every field of the document", async () => {
  await customer('dan', 5);
  await using tollhouse = client();
  const body = { externalCustomerId: 'dan', featureKey: 'calls', value: 1, idempotencyKey: 'dan' };
  const generic = await tollhouse.call<object>('trackUsage', { body });
  expect(await tollhouse.track(body)).toEqual({ ...generic, duplicate: true } as never);
});

test('a closed client takes no track, and those it took are recorded', async () => {
  await customer('eve', 5);
  const tollhouse = client();
  const use = { externalCustomerId: 'eve', featureKey: 'calls' };
  const before = tollhouse.track(use);
  await tollhouse.close();
  expect(Bun.peek.status(before)).toBe('fulfilled');
  expect(tollhouse.track(use)).rejects.toMatchObject({ type: 'client_closed' });
  expect(await consumed('eve')).toBe(1);
});

test('a client batch that is too long for the service fails only the calls that are too large', async () => {
  await customer('fay', 5000);
  await using tollhouse = client();
  const fay = { externalCustomerId: 'fay', featureKey: 'calls' };
  const metadata = { text: 'x'.repeat(400), other: 'ü'.repeat(400) };
  const calls = Array.from({ length: 400 }, () => tollhouse.track({ ...fay, metadata }));
  const long = tollhouse.track({ ...fay, metadata: { text: 'x'.repeat(3_000_000) } });
  expect(await Promise.allSettled([long])).toMatchObject([{ status: 'rejected' }]);
  await Promise.all(calls);
  expect(await consumed('fay')).toBe(400);
});
