// A batch of usages, each recorded by itself at its customer's owner: over several nodes, and while
// customers move.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { batch, customers, item, whatIsSaid } from './batches.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2);
  await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls' } });
}, 60_000);
afterAll(() => nodes.stop());

test('a track batch is split over the nodes, and the items of a customer keep their order', async () => {
  const ids = await customers(nodes, 30);
  const owners = new Set(await Promise.all(ids.map((id) => nodes.ownerOf(id))));
  expect(owners.size).toBe(2);
  const nobody = '01890000-0000-7000-8000-000000000000';
  const tracks = [...ids, nobody, ...ids, ...ids].map((id) => item(id));
  for (const [round, node] of nodes.all.entries()) {
    const { status, results } = await batch(node, tracks);
    const said = (nth: number) => ids.map(() => 3 * round + nth);
    expect(status).toBe(200);
    expect(results.map(whatIsSaid)).toEqual([...said(1), 'not_found', ...said(2), ...said(3)]);
  }
});

test('a track batch key counts once, at whichever nodes it comes in at once', async () => {
  const ids = await customers(nodes, 40);
  const tracks = ids.map((id) => item(id, { idempotency_key: 'once' }));
  const calls = await Promise.all([0, 1, 0, 1].map((at) => batch(nodes.all[at]!, tracks)));
  for (const { results } of calls) expect(results.map(whatIsSaid)).toEqual(ids.map(() => 1));
  const fresh = calls.flatMap(({ results }) => results).filter(({ duplicate }) => !duplicate);
  expect(fresh).toHaveLength(ids.length);
});

test('while customers move to a new node, each track batch item counts once and in order', async () => {
  const ids = await customers(nodes, 60);
  // Without keys: only the nodes know that they ask again.
  const tracks = [...ids, ...ids].map((id) => item(id));
  const joining = nodes.join();
  const isJoined = async () =>
    (await Promise.race([joining, Promise.resolve('not yet')])) !== 'not yet';
  for (let sent = 0; sent < 4 || !(await isJoined()); sent += 1) {
    const { status, results } = await batch(nodes.all[sent % 2]!, tracks);
    expect(status).toBe(200);
    const first = ids.map(() => 2 * sent + 1);
    expect(results.map(whatIsSaid)).toEqual([...first, ...first.map((one) => one + 1)]);
  }
}, 60_000);
