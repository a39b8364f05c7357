// A stale copy of the database is promoted. It lacks one node's writes, and the other nodes must
// not serve from it either.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { runAdmin } from '../support/admin.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

const LEASE_MS = 1000;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2, { leaseMs: LEASE_MS });
}, 60_000);
afterAll(() => nodes.stop());

test('customers of a node ahead of the database are refused everywhere until an operator accepts the loss', async () => {
  const [ahead, other] = nodes.all;
  await ahead!.call('POST', '/meters', { body: { slug: 'calls' } });
  const [its, others] = [await ownedBy(ahead!), await ownedBy(other!)];
  const track = async (node: TestServer, customer_id: string) =>
    (await node.call('POST', '/track', { body: { feature_key: 'calls', customer_id } })).status;
  const ready = async (node: TestServer) => (await node.call('GET', '/ready')).text;
  expect(await track(ahead!, its)).toBe(200);
  await ahead!.sql`update nodes set seq = seq - 1 where id = (select min(id) from nodes)`;
  await until('it notices', () => ahead!.ledger.isStopped);
  expect(await ready(ahead!)).toContain('the database is behind this node');
  await until('its lease is over', async () => {
    const rows = await other!.sql`
      select from nodes where halted and expires_at < now() - ${2 * LEASE_MS} * interval '1 ms'`;
    return rows.length === 1;
  });
  expect([await track(ahead!, its), await track(other!, its)]).toEqual([503, 503]);
  expect([await track(ahead!, others), await track(other!, others)]).toEqual([200, 200]);
  const { exitCode, stdout } = await runAdmin(['resume'], ahead!.databaseUrl);
  expect([exitCode, stdout]).toEqual([0, 'resumed: 1\n']);
  await until('the other has taken over', async () => (await track(other!, its)) === 200);
  // The data was there all the time; only the number was behind.
  const { json } = await other!.call('POST', '/check', {
    body: { feature_key: 'calls', customer_id: its },
  });
  expect(json.consumed).toBe(2);
  // Its memory holds the lost writes: only a new process may serve there.
  expect(ahead!.ledger.isStopped).toBe(true);
}, 60_000);

async function ownedBy(node: TestServer): Promise<string> {
  for (;;) {
    const { json } = await node.call('POST', '/customers', { body: {} });
    if ((await nodes.ownerOf(json.id)) === node) return json.id;
  }
}
