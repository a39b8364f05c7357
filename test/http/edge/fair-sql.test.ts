// Slow lists of some tenants leave connections to the lists of others.
import { expect, test } from 'bun:test';
import { FairSql } from '../../../src/http/edge/fair-sql.ts';
import type { Principal } from '../../../src/http/edge/auth.ts';
import { timers } from '../../../src/platform/clock.ts';
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import { hasRoom } from '../../../src/event-stream/room.ts';

const LISTS = { places: 4, perTenant: 2, waitingMax: 8, waitMs: 60_000, timers };

const of = (organisationId: string) =>
  ({ kind: 'organisation', organisationId, mode: 'test' }) as Principal;

test('slow lists have half of the places, and one of a tenant', async () => {
  const lists = new FairSql({} as Sql, 'lists', LISTS);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const task = (name: string) => async (): Promise<object> => {
    begun.push(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(name, resolve);
    await promise;
    return {};
  };
  const slow = ['a1', 'a2', 'b1', 'c1'].map((name) => lists.runSlow(of(name[0]!), task(name)));
  await Bun.sleep(0);
  expect(begun).toEqual(['a1', 'b1']);
  const quick = ['d1', 'a3', 'e1'].map((name) => lists.run(of(name[0]!), task(name)));
  await Bun.sleep(0);
  expect(begun).toEqual(['a1', 'b1', 'd1', 'a3']);
  // As one ends, the next begins.
  for (let ended = 0; ended < 7; ended += 1) {
    ends.get(begun[ended]!)!();
    await Bun.sleep(0);
  }
  await Promise.all([...slow, ...quick]);
  expect(begun.toSorted()).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'e1']);
});

test('streams of some tenants leave room for the next', () => {
  const max = 5000;
  const own = new Map<number, number>();
  let open = 0;
  for (let tenant = 0; tenant < 10; tenant += 1) {
    for (let asked = 0; asked < 1000; asked += 1) {
      const has = own.get(tenant) ?? 0;
      if (!hasRoom({ own: has, open }, max)) break;
      own.set(tenant, has + 1);
      open += 1;
    }
  }
  const [first, , , , fifth, ...others] = own.values();
  expect([first, fifth]).toEqual([1000, 500]);
  expect(others.every((count) => count > 0)).toBe(true);
  expect(open).toBeLessThan(max);
  // One by itself has half of it.
  expect([
    hasRoom({ own: 2499, open: 2499 }, max),
    hasRoom({ own: 2500, open: 2500 }, max),
  ]).toEqual([true, false]);
});
