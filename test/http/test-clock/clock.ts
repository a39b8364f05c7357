// What the tests of the test clock call: it, and what is due by it.
import { expect } from 'bun:test';
import type { Shop } from '../../payments/shop.ts';
import type { Call, Reply, TestServer } from '../../support/server.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function move(server: TestServer, body: object, call: Call = {}): Promise<Reply> {
  return server.call('POST', '/test-clock', { body, ...call });
}

/** What the clock says after it was moved. */
export async function moved(server: TestServer, body: object, call: Call = {}): Promise<number> {
  const { status, text, json } = await move(server, body, call);
  expect([status, text]).toEqual([200, text]);
  expect(json.status).toBe('ready');
  return Date.parse(json.now);
}

export async function read(server: TestServer, call: Call = {}): Promise<number> {
  const { status, json } = await server.call('GET', '/test-clock', call);
  expect(status).toBe(200);
  return Date.parse(json.now);
}

/** What became known of everything, without ids and times: its events in order, those of each object by themselves. */
export async function storyOf(shop: Shop): Promise<unknown[]> {
  const rows = await shop.server.sql<{ id: string; type: string; data: Record<string, unknown> }[]>`
    select object_id as id, type, data from events order by sequence`;
  const stories = [...Map.groupBy(rows, ({ id }) => id).values()].map((events) =>
    events.map(({ type, data }) => [type, data['amount'] ?? null, data['status'] ?? null]),
  );
  return stories.map((story) => JSON.stringify(story)).toSorted();
}
