// Reservations on three nodes: no two callers hold the same units, any node commits, and a node
// that is lost between the two leaves each hold to be resolved once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { Reply, TestServer } from '../support/server.ts';
import { UNHURRIED } from '../support/settling.ts';
import { until } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

const FEATURE = 'tokens';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(3, { leaseMs: 2000, settings: UNHURRIED });
  await post(nodes.all[0]!, '/meters', { slug: FEATURE });
}, 60_000);
afterAll(() => nodes.stop());

const post = (node: TestServer, path: string, body: object): Promise<Reply> =>
  node.call('POST', path, { body });

/** A customer who may use so many. */
async function holder(amount: number): Promise<string> {
  const [node] = nodes.all;
  const { json } = await post(node!, '/customers', {});
  await post(node!, `/customers/${json.id}/grants`, { feature_key: FEATURE, amount });
  return json.id;
}

const hold = (node: TestServer, customer: string, amount: number, key?: string): Promise<Reply> =>
  post(node, '/reservations', {
    feature_key: FEATURE,
    customer_id: customer,
    amount,
    ...(key !== undefined && { idempotency_key: key }),
  });

async function numbers(node: TestServer, customer: string): Promise<number[]> {
  const body = { feature_key: FEATURE, customer_id: customer, value: 0 };
  const { json } = await post(node, '/check', body);
  return [json.consumed, json.reserved, json.balance];
}

const nodeAt = (index: number): TestServer => nodes.all[index % nodes.all.length]!;

test('500 reservations of 7 at once on 1,000 hold exactly 142, and any node commits them', async () => {
  const customer = await holder(1000);
  const replies = await Promise.all(
    Array.from({ length: 500 }, (_, index) => hold(nodeAt(index), customer, 7)),
  );
  const held = replies.flatMap(({ status, json }) => (status === 201 ? [json.id as string] : []));
  expect(held.length).toBe(142);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 402]));
  for (const node of nodes.all) expect(await numbers(node, customer)).toEqual([0, 994, 6]);
  const ends = await Promise.all(
    held.flatMap((id, index) =>
      // Two commit each, at two nodes; one of them with another value.
      [5, 6].map((value) => post(nodeAt(index + value), `/reservations/${id}/commit`, { value })),
    ),
  );
  const done = ends.filter(({ status }) => status === 200);
  expect([done.length, ends.filter(({ status }) => status === 409).length]).toEqual([142, 142]);
  const used = done.reduce((sum, { json }) => sum + json.committed, 0);
  for (const node of nodes.all)
    expect(await numbers(node, customer)).toEqual([used, 0, 1000 - used]);
  expect(await audit(nodes.all[0]!.sql)).toEqual([]);
}, 60_000);

test('a node is lost: its heir has the open reservations, and each is resolved once', async () => {
  const customer = await holder(100);
  const lost = await nodes.ownerOf(customer);
  const others = nodes.all.filter((node) => node !== lost);
  const ids: string[] = [];
  for (const key of ['a', 'b', 'c']) ids.push((await hold(lost, customer, 30, key)).json.id);
  lost.journal.freeze();
  const insist = async (ask: () => Promise<Reply>): Promise<Reply> => {
    for (;;) {
      const reply = await ask();
      if (reply.status !== 503) return reply;
    }
  };
  const commits = ids.map((id, index) =>
    insist(() => post(others[index % 2]!, `/reservations/${id}/commit`, { value: 40 })),
  );
  await until('it has an heir', async () => (await nodes.ownerOf(customer)) !== lost);
  expect((await Promise.all(commits)).map(({ status }) => status)).toEqual([200, 200, 200]);
  // What is asked again finds what was done, though it would not be allowed now.
  const again = await insist(() => hold(others[0]!, customer, 30, 'a'));
  expect([again.status, again.json.status, again.json.committed]).toEqual([201, 'committed', 40]);
  const twice = await post(others[1]!, `/reservations/${ids[0]}/commit`, { value: 40 });
  expect([twice.status, twice.json.committed]).toEqual([200, 40]);
  expect(await numbers(others[0]!, customer)).toEqual([120, 0, -20]);
  lost.journal.thaw();
  lost.journal.cut();
  expect(await audit(nodes.all[0]!.sql)).toEqual([]);
}, 60_000);
