// A pool of credits is made, changed and read.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { cost, features, listsOf, make, patch, post } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('POST makes a credit pool as sent, with costs of 9 decimals', async () => {
  await make(server, 'chat', { scale: 6 });
  await make(server, 'image', { scale: 0, aggregation: 'count' });
  const credit_costs = [cost('image', '12'), cost('chat', '0.050')];
  const pool = await make(server, 'credits', { credit_costs });
  const shown = [cost('image', '12'), cost('chat', '0.05')];
  expect(pool).toMatchObject({ aggregation: 'sum', scale: 9, credit_costs: shown });
  expect((await server.call('GET', '/meters/credits')).json).toEqual(pool);
  const { json } = await server.call('GET', '/meters');
  expect(json.data.map((meter: { credit_costs: unknown }) => meter.credit_costs)).toEqual([
    shown,
    [],
    [],
  ]);
  expect(await listsOf(server, 'credits')).toEqual([
    { number: 1, since: new Date(0), costs: ['image 12000000000', 'chat 50'] },
  ]);
});

test('a credit pool takes the finest and the highest cost', async () => {
  await make(server, 'fine', { scale: 0 });
  await make(server, 'coarse', { scale: 9 });
  const costs = [cost('fine', '0.000000001'), cost('coarse', '999999999999999')];
  expect((await make(server, 'wide', { credit_costs: costs })).credit_costs).toEqual(costs);
});

test("PATCH of a credit pool's costs holds from now on, and the same costs change nothing", async () => {
  await features(server, 'a', 'b');
  await make(server, 'pool', { credit_costs: [cost('a', '2'), cost('b')] });
  const at = new Date(Date.now() + 40 * 86_400_000);
  await server.call('POST', '/test-clock', { body: { now: at.toISOString() } });
  for (const same of [
    [cost('a', '2'), cost('b')],
    [cost('b', '1.0'), cost('a', '2')],
  ]) {
    expect((await patch(server, 'pool', same)).status).toBe(200);
  }
  await server.call('PATCH', '/meters/pool', { body: { name: 'Credits' } });
  expect(await listsOf(server, 'pool')).toHaveLength(1);

  const dearer = [cost('a', '3')];
  const changed = await patch(server, 'pool', dearer);
  expect([changed.status, changed.json]).toMatchObject([
    200,
    { name: 'Credits', credit_costs: dearer },
  ]);
  const none = await patch(server, 'pool', []);
  expect([none.status, none.json.credit_costs]).toEqual([200, []]);
  const lists = await listsOf(server, 'pool');
  expect(lists.map(({ costs }) => costs)).toEqual([
    ['a 2000000000', 'b 1000000000'],
    ['a 3000000000'],
    [],
  ]);
  const [first, second, third] = lists.map(({ since }) => since.getTime());
  expect(first).toBe(0);
  expect(second).toBeWithin(at.getTime(), at.getTime() + 60_000);
  expect(third).toBeGreaterThanOrEqual(second!);
});

test('PATCH turns a plain meter into a credit pool, and an empty list turns it back', async () => {
  await features(server, 'c');
  await make(server, 'later', { scale: 2, credit_costs: [] });
  await make(server, 'peak', { aggregation: 'max' });
  for (const slug of ['later', 'peak']) {
    expect((await patch(server, slug, [])).status).toBe(200);
    expect(await listsOf(server, slug)).toEqual([]);
  }
  expect((await patch(server, 'later', [cost('c', '0.25')])).json).toMatchObject({
    scale: 2,
    credit_costs: [cost('c', '0.25')],
  });
  const [list] = await listsOf(server, 'later');
  expect(list!.since.getTime()).toBeGreaterThan(0);
});

test('PUT makes a credit pool, changes its costs, then changes nothing', async () => {
  await features(server, 'd');
  const put = (body: object) => server.call('PUT', '/meters/put', { body });
  const made = await put({ credit_costs: [cost('d')] });
  expect([made.status, made.json]).toMatchObject([201, { scale: 9, credit_costs: [cost('d')] }]);
  const same = await put({ credit_costs: [cost('d', '1.00')], scale: 9 });
  expect([same.status, same.text]).toEqual([200, made.text]);
  expect((await put({ name: 'Put' })).json.credit_costs).toEqual([cost('d')]);
  expect((await put({ credit_costs: [cost('d', '4')] })).json).toMatchObject({
    name: 'Put',
    credit_costs: [cost('d', '4')],
  });
  expect(await listsOf(server, 'put')).toHaveLength(2);
});

test('an Idempotency-Key makes a credit pool once, and a refused list stays refused', async () => {
  await features(server, 'e');
  const headers = { 'idempotency-key': 'pool' };
  const body = { slug: 'keyed', credit_costs: [cost('e')] };
  const first = await server.call('POST', '/meters', { body, headers });
  const again = await server.call('POST', '/meters', { body, headers });
  expect([again.status, again.text]).toEqual([201, first.text]);
  // Without one it says that the pool is there, not that its members are taken.
  const { status, json } = await post(server, 'keyed', { credit_costs: [cost('e')] });
  expect([status, json.error.message]).toEqual([409, 'a meter "keyed" exists']);
});

test('deleting a credit pool frees its members, which can be deleted then', async () => {
  await features(server, 'f', 'g');
  await make(server, 'gone', { credit_costs: [cost('f'), cost('g')] });
  await patch(server, 'gone', [cost('f')]);
  expect((await server.call('DELETE', '/meters/gone')).status).toBe(204);
  await make(server, 'next', { credit_costs: [cost('f')] });
  expect((await server.call('DELETE', '/meters/g')).status).toBe(204);
});

test('archiving a credit pool or a member leaves its list', async () => {
  await features(server, 'h');
  const { credit_costs } = await make(server, 'old', { credit_costs: [cost('h')] });
  for (const slug of ['h', 'old']) {
    const body = { status: 'archived' };
    expect((await server.call('PATCH', `/meters/${slug}`, { body })).status).toBe(200);
  }
  expect((await server.call('GET', '/meters/old')).json.credit_costs).toEqual(credit_costs);
  // To say it again is no new list.
  expect((await patch(server, 'old', credit_costs)).status).toBe(200);
});
