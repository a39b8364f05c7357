// What the tests of the test clock call: the clock, and reads of what it makes due.
import { expect } from 'bun:test';
import type { Shop } from '../../payments/shop.ts';
import type { Call, Reply, TestServer } from '../../support/server.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function move(server: TestServer, body: object, call: Call = {}): Promise<Reply> {
  return server.call('POST', '/test-clock', { body, ...call });
}

/** The clock's time after an advance. */
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

type Told = {
  readonly id: string;
  readonly type: string;
  readonly at: Date;
  readonly data: Readonly<Record<string, unknown>>;
};

/** The events of every object in order, without ids, each with the hour since the first event. */
export async function storyOf(shop: Shop): Promise<string[]> {
  const told = await shop.server.sql<Told[]>`
    select object_id as id, type, at, data from events
    where organisation_id = ${shop.server.organisation.id} order by sequence`;
  const began = Math.min(...told.map(({ at }) => at.getTime()));
  const stories = [...Map.groupBy(told, ({ id }) => id).values()].map((events) =>
    events.map(({ type, at, data }) => {
      const hours = Math.round((at.getTime() - began) / HOUR);
      return [hours, type, data['amount'], data['status'], data['attempt'], phaseOf(data)];
    }),
  );
  return stories.map((story) => JSON.stringify(story)).toSorted();
}

/** The name of a plan holds a random part. */
function phaseOf({ phaseName }: Told['data']): string | null {
  return typeof phaseName === 'string' ? phaseName.replace(/^plan-[0-9a-f]+-/, '') : null;
}
