// The pools in the memory of a node, as the ledger asks for them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Meter } from '../../../ledger/metering/meter.ts';
import type { Pool, PoolOf } from '../../../ledger/metering/pool.ts';
import { openPoolBook, type PoolSource } from '../../../src/metering/pool-book.ts';
import { timers } from '../../../src/platform/clock.ts';
import {
  listCountedPools,
  listLaterLists,
  listMembers,
} from '../../../src/records/credit-costs.ts';
import { findMeter } from '../../../src/records/meters.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { cost, features, make, patch } from './setting.ts';

let server: TestServer;
let poolOf: PoolOf;
let reads = 0;
let isAway = false;

/** `readAtOnce`: how many lists each statement has read. */
const source = (readAtOnce: number[]): PoolSource => ({
  changes: server.changes,
  timers,
  pools(organisationId) {
    reads += 1;
    if (isAway) return Promise.reject(new Error('away'));
    return listCountedPools(server.sql, organisationId);
  },
  async listsAfter(pools, limit) {
    const lists = await listLaterLists(server.sql, pools, limit);
    readAtOnce.push(lists.length);
    return lists;
  },
  meters: (meterIds) => listMembers(server.sql, meterIds),
});

const open = async (readAtOnce: number[] = []) => (await openPoolBook(source(readAtOnce))).of;

beforeAll(async () => {
  server = await startServer({ own: true });
  poolOf = await open();
});
afterAll(() => server.stop());

async function meter(slug: string): Promise<Meter> {
  const scope = { organisationId: server.organisation.id, mode: 'test' } as const;
  const { id, organisationId, mode, aggregation, scale, carry } = (await findMeter(
    server.sql,
    scope,
    slug,
  ))!;
  return { id, organisationId, mode, slug, aggregation, scale, carry };
}

/** What is asked for, once each. */
const rates = (pool: Pool | null) =>
  pool?.costs.map(({ members }) => [...members.values()].map(({ rate }) => rate));

test('the book of pools has a pool for itself and for each member it ever had, with the next call', async () => {
  await features(server, 'a', 'b', 'c', 'plain');
  const [a, b, c, plain] = await Promise.all(['a', 'b', 'c', 'plain'].map(meter));
  expect(poolOf(a!)).toBeNull();
  await make(server, 'pool', { credit_costs: [cost('a', '0.5'), cost('b')] });
  const pool = await meter('pool');
  expect(poolOf(a!)).toEqual({
    meter: pool,
    costs: [
      {
        since: 0,
        members: new Map([
          [a!.id, { meter: a!, rate: 500_000_000n }],
          [b!.id, { meter: b!, rate: 1_000_000_000n }],
        ]),
      },
    ],
  });
  const before = Date.now();
  await patch(server, 'pool', [cost('c', '2')]);
  await patch(server, 'pool', []);
  for (const one of [a!, b!, c!, pool]) {
    expect(poolOf(one)).toBe(poolOf(pool));
    expect(rates(poolOf(one))).toEqual([[500_000_000n, 1_000_000_000n], [2_000_000_000n], []]);
  }
  const [, second, third] = poolOf(pool)!.costs.map(({ since }) => since);
  expect(second).toBeGreaterThanOrEqual(before);
  expect(third).toBeGreaterThanOrEqual(second!);
  expect(poolOf(plain!)).toBeNull();
  // A node that starts reads the same, and another organisation's changes leave it.
  expect((await open())(b!)).toEqual(poolOf(b!));
  const body = { slug: 'theirs' };
  await server.call('POST', '/meters', { key: server.other.testKey, body });
  expect(rates(poolOf(b!))).toHaveLength(3);
  // What actors keep of a pool they keep by the object: it is the same one until there is another
  // list.
  const known = poolOf(b!);
  await make(server, 'another');
  expect(poolOf(b!)).toBe(known);
  await patch(server, 'pool', [cost('a')]);
  expect(poolOf(b!)).not.toBe(known);
});

test('a deleted credit pool leaves the book, and so do its members', async () => {
  await features(server, 'd');
  await make(server, 'brief', { credit_costs: [cost('d')] });
  const [pool, member] = [await meter('brief'), await meter('d')];
  expect(poolOf(member)?.meter).toEqual(pool);
  await server.call('DELETE', '/meters/brief');
  expect([poolOf(member), poolOf(pool)]).toEqual([null, null]);
});

test('the book of credit pools keeps what it knows while the database fails, and reads it again', async () => {
  await features(server, 'e');
  await make(server, 'kept', { credit_costs: [cost('e')] });
  const member = await meter('e');
  isAway = true;
  await patch(server, 'kept', [cost('e', '3')]);
  expect(rates(poolOf(member))).toEqual([[1_000_000_000n]]);
  isAway = false;
  const before = reads;
  await until('it is read again', () => rates(poolOf(member))?.length === 2);
  expect(reads).toBeGreaterThan(before);
});

test('the book of credit pools reads each list once, and no statement reads all', async () => {
  await features(server, 'f', 'g');
  await make(server, 'long', { credit_costs: [cost('f')] });
  // As the service does it: a list that is read never changes.
  await server.sql.begin(async (sql) => {
    await sql`
      insert into credit_cost_lists (pool_id, number, since)
      select id, n, '2020-01-01' from meters, generate_series(2, 250) n where slug = 'long'`;
    await sql`
      insert into credit_costs (pool_id, number, position, meter_id, rate)
      select pool_id, n, 1, meter_id, n from credit_costs join meters p on p.id = pool_id, generate_series(2, 250) n
      where p.slug = 'long'`;
  });
  const member = await meter('f');
  const readAtOnce: number[] = [];
  const isPaidBy = await open(readAtOnce);
  const asked = Array.from({ length: 249 }, (_, n) => [BigInt(n + 2)]);
  expect(rates(isPaidBy(member))).toEqual([[1_000_000_000n], ...asked]);
  // The first time with those of the pools of the tests before.
  expect(readAtOnce.slice(0, 2)).toEqual([100, 100]);
  expect(readAtOnce).toHaveLength(3);
  readAtOnce.length = 0;
  await patch(server, 'long', [cost('g', '7')]);
  await make(server, 'plain-too');
  const all = [[1_000_000_000n], ...asked, [7_000_000_000n]];
  expect(rates(isPaidBy(member))).toEqual(all);
  expect(isPaidBy(await meter('g'))).toBe(isPaidBy(member));
  expect(readAtOnce).toEqual([1]);
  expect(rates(poolOf(member))).toEqual(all);
});

test('a credit pool whose list cannot be read once is not opened', async () => {
  isAway = true;
  expect(await open().then(() => 'opened', String)).toContain('away');
  isAway = false;
});
