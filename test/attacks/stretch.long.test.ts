// The longest turn of the event loop during a call: in that time nobody else is answered.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { CHECK_BATCH_MAX } from '../../ledger/limits.ts';
import { type Reply, startServer, type TestServer } from '../support/server.ts';
import { LARGEST_CALLS, prepareLargestCalls } from './largest-calls.ts';
import { longestTurn } from '../support/longest-turn.ts';

const STRETCH_MS_MAX = 50;
const TRIES = 5;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ alone: true });
  const make = async (path: string, body: unknown) => {
    expect((await server.call('POST', path, { body })).status).toBe(201);
  };
  await prepareLargestCalls({ make });
}, 60_000);
afterAll(() => server.stop());

/** Sends it some times. */
async function expectShort(what: string, status: number, send: () => Promise<Reply>) {
  const turns: number[] = [];
  for (let n = 0; n < TRIES; n += 1) {
    const { turn, reply } = await longestTurn(send);
    expect([reply.status, reply.text]).toEqual([status, reply.text]);
    turns.push(turn);
  }
  turns.sort((a, b) => a - b);
  const [least = 0, , median = 0, , most = 0] = turns.map((ms) => Math.round(ms));
  console.log(`${what}, ${least} to ${most} ms`);
  expect(median).toBeLessThan(STRETCH_MS_MAX);
}

test.each(LARGEST_CALLS)(
  'a call stretched to its limits is answered in time: $what',
  ({ what, path, status, text }) =>
    expectShort(`${what}: ${text.length} bytes`, status, () =>
      server.call('POST', path, { raw: text }),
    ),
  60_000,
);

test.each([
  ['denied reservations', '/check/batch', { checks: { reserve: true } }],
  ['denied uses', '/check/batch', { checks: { consume: true } }],
  ['rejected usages', '/track/batch', { tracks: { overage: 'reject' } }],
] as const)(
  '%s of 16 calls at once are answered in turns',
  async (what, path, rows) => {
    const [[list, row]] = Object.entries(rows) as [[string, object]];
    const of = {
      feature_key: 'large-0',
      external_customer_id: 'attacker-0',
      value: 900_000,
      ...row,
    };
    const raw = JSON.stringify({ [list]: Array.from({ length: CHECK_BATCH_MAX }, () => of) });
    await expectShort(`16 calls of ${what}`, 200, async () => {
      const replies = Array.from({ length: 16 }, () => server.call('POST', path, { raw }));
      return must((await Promise.all(replies))[0], 'the first of them');
    });
  },
  60_000,
);

test('a change of a meter beside a credit pool with all the lists it may have is answered in time', async () => {
  const { sql } = server;
  const members = Array.from({ length: 50 }, (_, n) => ({ feature_key: `member-${n}`, cost: '1' }));
  const made = (body: object) => server.call('POST', '/meters', { body });
  for (const { feature_key: slug } of members) await made({ slug, scale: 0 });
  const pool = await made({ slug: 'pool', credit_costs: members });
  expect(pool.status).toBe(201);
  const { id } = pool.json;
  await sql`
    insert into credit_cost_lists (pool_id, number, since)
    select ${id}, n, now() from generate_series(2, 990) n`;
  await sql`
    insert into credit_costs (pool_id, number, position, meter_id, rate)
    select pool_id, n, position, meter_id, rate + n from credit_costs, generate_series(2, 990) n where pool_id = ${id}`;
  const change = (body: object) => server.call('PATCH', '/meters/pool', { body });
  // The first one reads them.
  expect((await longestTurn(() => change({ name: 'Read' }))).turn).toBeLessThan(2 * STRETCH_MS_MAX);
  await expectShort('another name', 200, () => change({ name: 'Pool' }));
  let cost = 1;
  await expectShort('another list', 200, () => {
    cost += 1;
    return change({ credit_costs: members.map((one) => ({ ...one, cost: String(cost) })) });
  });
}, 60_000);

test('a grant beside as many grants and reservations as there may be is answered in time', async () => {
  const post = async (path: string, body: object) => {
    const reply = await server.call('POST', path, { body });
    expect([reply.status, reply.text]).toEqual([201, reply.text]);
    return reply;
  };
  const all = (count: number, one: (n: number) => Promise<unknown>) =>
    Promise.all(Array.from({ length: count }, (_, n) => one(n)));
  const of = { feature_key: 'held', external_customer_id: 'holder' };
  await post('/meters', { slug: 'held' });
  await post('/customers', { external_customer_id: 'holder' });
  const grant = () => post('/customers/holder/grants', { feature_key: 'held', amount: 2 });
  const hold = () => post('/reservations', { ...of, amount: 1 });
  for (let n = 0; n < 10; n += 1) await all(n === 9 ? 90 : 100, grant);
  for (let n = 0; n < 10; n += 1) await all(100, hold);
  // The first one pays for all that is held.
  const { turn } = await longestTurn(grant);
  console.log(`a grant, ${Math.round(turn)} ms`);
  expect(turn).toBeLessThan(2 * STRETCH_MS_MAX);
  await expectShort('another grant', 201, grant);
}, 60_000);
