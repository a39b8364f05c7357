// What the caches of keys are told: the end of a key, once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { notifyChange } from '../../../src/platform/postgres/changes.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { Keys } from './keys.ts';

let server: TestServer;
let keys: Keys;
const published: string[] = [];
beforeAll(async () => {
  server = await startServer({ alone: true });
  keys = new Keys(server);
  server.changes.subscribe({
    changed: (kind, id) => void published.push(`${kind}:${id}`),
    reset: () => undefined,
  });
});
afterAll(() => server.stop());

/**
 * How often the database has it for those who look, and how often this process heard of it until
 * now.
 */
async function countOf(id: string): Promise<[number, number]> {
  const stored = await server.sql`select from changes where kind = 'api_key' and subject = ${id}`;
  const marker = ids.next();
  await notifyChange(server.sql, 'api_key', marker);
  await until('the last change is heard', () => published.includes(`api_key:${marker}`));
  return [stored.length, published.filter((text) => text === `api_key:${id}`).length];
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
