// What the caches of keys are told: the end of a key, once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { notifyChange } from '../../../src/platform/postgres/changes.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { Keys } from './keys.ts';

let server: TestServer;
let keys: Keys;
const told: string[] = [];
const published: string[] = [];
beforeAll(async () => {
  server = await startServer({ alone: true });
  keys = new Keys(server);
  await server.sql.listen('tollhouse_changes', (payload) => told.push(payload));
  server.changes.subscribe({
    changed: (kind, id) => void published.push(`${kind}:${id}`),
    reset: () => undefined,
  });
});
afterAll(() => server.stop());

/** How often the database told of the key until now, and how often this process heard of it. */
async function countOf(id: string): Promise<[number, number]> {
  const marker = ids.next();
  await notifyChange(server.sql, 'api_key', marker);
  const all = [told, published];
  const name = (text: string) => text === `api_key:${marker}`;
  await until('the last change is heard', () => all.every((heard) => heard.some(name)));
  const times = all.map((heard) => heard.filter((text) => text === `api_key:${id}`).length);
  return [times[0]!, times[1]!];
}

test('revoking an API key writes one event and is heard before the answer; again writes none', async () => {
  const { id } = await keys.make();
  expect(await countOf(id)).toEqual([0, 0]);
  await keys.revoke(id);
  expect(published).toContain(`api_key:${id}`);
  expect(await countOf(id)).toEqual([1, 2]);
  for (let n = 0; n < 3; n += 1) expect((await keys.revoke(id)).status).toBe(204);
  expect(await countOf(id)).toEqual([1, 2]);
});

test('rotating an API key writes an event that names the old key', async () => {
  const { id } = await keys.make();
  const { json } = await keys.rotate(id);
  expect(published).toContain(`api_key:${id}`);
  expect([await countOf(id), await countOf(json.id)]).toEqual([
    [1, 2],
    [0, 0],
  ]);
});

test('a refused API key request writes no event', async () => {
  const { id, key } = await keys.make();
  await keys.revoke(id, { key });
  await keys.revoke(id, { key: server.other.testKey });
  await keys.rotate(id, {}, { key: server.other.testKey });
  await keys.rotate(id, { overlap_seconds: -1 });
  expect(await countOf(id)).toEqual([0, 0]);
});
