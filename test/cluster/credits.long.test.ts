// Credits on three nodes: callers of two features never use more than their pool has, whichever
// nodes they ask, and a list of costs counts on every node from its answer on.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { Reply, TestServer } from '../support/server.ts';
import { UNHURRIED } from '../support/settling.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(3, { leaseMs: 2000, settings: UNHURRIED });
}, 60_000);
afterAll(() => nodes.stop());

const nodeAt = (index: number): TestServer => nodes.all[index % nodes.all.length]!;

async function say(node: TestServer, method: string, path: string, body: object): Promise<Reply> {
  const reply = await node.call(method, path, { body });
  expect([reply.status < 300, reply.text]).toEqual([true, reply.text]);
  return reply;
}
const post = (node: TestServer, path: string, body: object) => say(node, 'POST', path, body);

/** A customer with so much of each feature. */
async function holder(node: TestServer, grants: Record<string, number>): Promise<string> {
  const { json } = await post(node, '/customers', {});
  for (const [feature_key, amount] of Object.entries(grants)) {
    await post(node, `/customers/${json.id}/grants`, { feature_key, amount });
  }
  return json.id;
}

async function check(node: TestServer, customer_id: string, feature_key: string, fields = {}) {
  return (await post(node, '/check', { customer_id, feature_key, ...fields })).json;
}

const cost = (feature_key: string, of: number) => ({ feature_key, cost: String(of) });

/** What the pool pays for the next unit, as each node says. */
const costsOf = async (customer: string, feature: string): Promise<unknown[]> =>
  Promise.all(nodes.all.map(async (node) => (await check(node, customer, feature)).paid_by));

test('500 uses at once of two features draw what their credit pool covers, and no more', async () => {
  await post(nodeAt(0), '/meters', { slug: 'tokens', scale: 0 });
  await post(nodeAt(1), '/meters', { slug: 'images', aggregation: 'count' });
  const credit_costs = [cost('tokens', 3), cost('images', 7)];
  await post(nodeAt(2), '/meters', { slug: 'credits', credit_costs });
  const customer = await holder(nodeAt(1), { credits: 1005, tokens: 50 });
  const answers = await Promise.all(
    Array.from({ length: 500 }, async (_, index) => {
      const feature = index % 2 === 0 ? 'tokens' : 'images';
      const { allowed, paid_by } = await check(nodeAt(index), customer, feature, {
        consume: true,
      });
      return { feature, allowed, paid_by };
    }),
  );
  const count = (of: string, isAllowed: boolean): number =>
    answers.filter(({ feature, allowed }) => feature === of && allowed === isAllowed).length;
  const used = 3 * (count('tokens', true) - 50) + 7 * count('images', true);
  const rest = 1005 - used;
  // What was refused had not been covered by what was left then, nor by what is left now.
  expect(count('images', false)).toBeGreaterThan(0);
  expect(rest).toBeWithin(0, count('tokens', false) > 0 ? 3 : 7);
  const parts: { feature_key: string; amount: number }[] = answers.flatMap((one) => one.paid_by);
  const paid = (of: string): number =>
    parts.reduce((sum, { feature_key, amount }) => sum + (feature_key === of ? amount : 0), 0);
  expect([paid('credits'), paid('tokens'), paid('images')]).toEqual([used, 50, 0]);
  for (const node of nodes.all) {
    const { consumed, balance } = await check(node, customer, 'credits', { value: 0 });
    expect([consumed, balance]).toEqual([used, rest]);
    const { allowed, balance: own } = await check(node, customer, 'images');
    expect([allowed, own]).toEqual([rest >= 7, 0]);
  }
  expect(await audit(nodeAt(0).sql)).toEqual([]);
}, 60_000);

test('a new list of credit costs counts on every node with the next call', async () => {
  await post(nodeAt(0), '/meters', { slug: 'words', scale: 0 });
  const early = await holder(nodeAt(2), { words: 1 });
  for (const node of nodes.all) await check(node, early, 'words', { value: 2 });
  await post(nodeAt(0), '/meters', { slug: 'coins', credit_costs: [cost('words', 2)] });
  await post(nodeAt(1), `/customers/${early}/grants`, { feature_key: 'coins', amount: 100 });
  await check(nodeAt(2), early, 'words', { consume: true });
  expect(await costsOf(early, 'words')).toEqual(nodes.all.map(() => [coins(2)]));
  for (const [index, dearer] of [5, 4, 6].entries()) {
    await say(nodeAt(index), 'PATCH', '/meters/coins', { credit_costs: [cost('words', dearer)] });
    for (const node of nodes.all) {
      const customer = await holder(node, { coins: 100 });
      expect(await costsOf(customer, 'words')).toEqual(nodes.all.map(() => [coins(dearer)]));
      await check(node, customer, 'words', { consume: true, value: 3 });
      expect((await check(node, customer, 'coins')).consumed).toBe(3 * dearer);
    }
  }
  // An endless period keeps the costs that it began with.
  expect(await costsOf(early, 'words')).toEqual(nodes.all.map(() => [coins(2)]));
  await say(nodeAt(1), 'PATCH', '/meters/coins', { credit_costs: [] });
  const late = await holder(nodeAt(2), { coins: 100 });
  for (const node of nodes.all) expect((await check(node, late, 'words')).allowed).toBe(false);
  expect(await audit(nodeAt(0).sql)).toEqual([]);
}, 60_000);

const coins = (amount: number) => ({ feature_key: 'coins', amount });
