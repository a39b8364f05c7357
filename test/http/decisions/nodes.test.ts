// Three nodes: a no is recorded once, by the node that answered the caller.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Nodes, startNodes } from '../../cluster/nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(3);
}, 60_000);
afterAll(() => nodes.stop());

type Row = { readonly kind: string; readonly count: number; readonly node: number };

const rowsOf = (customer: string): Promise<Row[]> =>
  nodes.all[0]!.sql<Row[]>`
    select kind, count, node from denials where customer_id = ${customer} order by id`;

test('GET /decisions answers at a node that does not own the customer', async () => {
  const [first] = nodes.all;
  await first!.call('POST', '/meters', { body: { slug: 'api' } });
  const { json } = await first!.call('POST', '/customers', { body: {} });
  const stranger = await nodes.strangerTo(json.id);
  const body = { customer_id: json.id, feature_key: 'api' };
  expect((await stranger.call('POST', '/check', { body })).json.allowed).toBe(false);
  const consumed = { ...body, consume: true };
  expect((await stranger.call('POST', '/check', { body: consumed })).json.allowed).toBe(false);
  const rejected = { ...body, overage: 'reject' };
  expect((await stranger.call('POST', '/track', { body: rejected })).status).toBe(402);
  const batch = { checks: [body, body] };
  await stranger.call('POST', '/check/batch', { body: batch });
  for (const node of nodes.all) await node.flush();
  const rows = await rowsOf(json.id);
  const count = (kind: string) =>
    rows.filter((row) => row.kind === kind).reduce((sum, row) => sum + row.count, 0);
  expect([count('check'), count('consume'), count('track')]).toEqual([3, 1, 1]);
  expect(new Set(rows.map(({ node }) => node))).toEqual(new Set([stranger.ledger.number!]));
});

test('a node that shuts down writes the denials that it has', async () => {
  const [first, leaving] = nodes.all;
  const { json } = await first!.call('POST', '/customers', { body: {} });
  const body = { customer_id: json.id, feature_key: 'api' };
  expect((await leaving!.call('POST', '/check', { body })).json.allowed).toBe(false);
  await nodes.leave(leaving!);
  expect(await rowsOf(json.id)).toMatchObject([{ kind: 'check', count: 1 }]);
});
