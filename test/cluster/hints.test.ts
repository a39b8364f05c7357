// Who asks for hints is told which node answered and which owns the customers.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Reply, TestServer } from '../support/server.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
let ids: string[];
beforeAll(async () => {
  nodes = await startNodes(3);
  const [first] = nodes.all;
  await first!.call('POST', '/meters', { body: { slug: 'calls' } });
  const made = Array.from({ length: 12 }, (_, index) =>
    first!.call('POST', '/customers', { body: { external_customer_id: `named ${index}` } }),
  );
  ids = (await Promise.all(made)).map(({ json }) => json.id as string);
}, 60_000);
afterAll(() => nodes.stop());

const ASKING = { 'tollhouse-hints': '1' };

const ask = (node: TestServer, path: string, body: object, headers = ASKING as object) =>
  node.call('POST', path, { body, headers: headers as Record<string, string> });

const hintsOf = ({ headers }: Reply) => [
  headers.get('tollhouse-node'),
  headers.get('tollhouse-owner'),
];

const of = (id: string) => ({ feature_key: 'calls', customer_id: id });

/** The number of the customer's owner, as the database has it. */
async function ownerOf(id: string): Promise<string> {
  const owner = await nodes.ownerOf(id);
  return String(owner.ledger.number);
}

test("each node's hint has its own number, the same in every answer", async () => {
  const owners = await Promise.all(ids.map(ownerOf));
  const numbers = new Set<string | null>();
  for (const node of nodes.all) {
    for (const [index, id] of ids.entries()) {
      for (const [path, body] of [
        ['/check', of(id)],
        ['/check', { ...of(id), consume: true }],
        ['/track', { feature_key: 'calls', external_customer_id: `named ${index}` }],
      ] as const) {
        const [number, owner] = hintsOf(await ask(node, path, body));
        expect([number, owner]).toEqual([String(node.ledger.number), owners[index]!]);
        numbers.add(number!);
      }
    }
  }
  expect(numbers.size).toBe(3);
});

test('a batch answers one hint for each item, and none where no node owns it', async () => {
  const owners = await Promise.all(ids.map(ownerOf));
  const nobody = { feature_key: 'calls', external_customer_id: 'nobody' };
  const items = [nobody, ...ids.map(of), nobody];
  const expected = ['', ...owners, ''].join(',');
  for (const node of nodes.all) {
    const number = String(node.ledger.number);
    const checked = await ask(node, '/check/batch', { checks: items });
    expect(hintsOf(checked)).toEqual([number, expected]);
    const tracked = await ask(node, '/track/batch', { tracks: [...items, 7] });
    expect(hintsOf(tracked)).toEqual([number, `${expected},`]);
  }
});

test('a caller that does not ask, or whose call is refused, gets no hint', async () => {
  const [node] = nodes.all;
  for (const headers of [{}, { 'tollhouse-hints': '0' }]) {
    expect(hintsOf(await ask(node!, '/check', of(ids[0]!), headers))).toEqual([null, null]);
    const batch = await ask(node!, '/track/batch', { tracks: [of(ids[0]!)] }, headers);
    expect(hintsOf(batch)).toEqual([null, null]);
  }
  const refused = await ask(node!, '/check', { feature_key: 'calls' });
  expect([refused.status, ...hintsOf(refused)]).toEqual([400, null, null]);
});
