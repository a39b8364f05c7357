// Calls for an unserved customer wait between their attempts: constant retries would take the
// processor from other customers.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { freePort } from '../support/free-port.ts';
import type { Reply, TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

const CALLS = 300;
/** Each wait is twice as long as the one before, up to 256 ms, for 2 s. */
const ASKS_MAX = 16;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2);
  await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls' } });
}, 60_000);
afterAll(() => nodes.stop());

/** A customer whose owner's address does not answer. */
async function lostToAll(asked: TestServer): Promise<() => Promise<Reply>> {
  const customer_id = await ownedByAnother(asked);
  const nobody = `127.0.0.1:${await freePort()}`;
  await asked.sql`update nodes set address = ${nobody}
    where id = (select node from slots where slot = ${slotOf(customer_id)})`;
  const check = () => asked.call('POST', '/check', { body: { feature_key: 'calls', customer_id } });
  // Until it has seen that.
  await until('nobody answers', async () => (await check()).status === 503);
  return check;
}

test('a call for an unserved customer retries with a growing delay', async () => {
  const [asked] = nodes.all;
  const check = await lostToAll(asked!);
  const before = asked!.ledger.stats['forwarded']!;
  const answers = await Promise.all(Array.from({ length: CALLS }, check));
  for (const { status } of answers) expect(status).toBe(503);
  expect(asked!.ledger.stats['forwarded']! - before).toBeWithin(CALLS, CALLS * ASKS_MAX);
}, 60_000);

test('a process that must end waits for its call, which retries no more', async () => {
  const [asked] = nodes.all;
  const check = await lostToAll(asked!);
  const held = () => asked!.ledger.stats['heldCalls']!;
  const before = held();
  const call = check();
  await until('it is held', () => held() > before);
  asked!.ledger.abandon();
  const forwarded = asked!.ledger.stats['forwarded']!;
  expect((await call).status).toBe(503);
  // One may already have been in flight.
  expect(asked!.ledger.stats['forwarded']! - forwarded).toBeLessThanOrEqual(1);
}, 60_000);

async function ownedByAnother(node: TestServer): Promise<string> {
  for (;;) {
    const { json } = await node.call('POST', '/customers', { body: {} });
    if ((await nodes.ownerOf(json.id)) !== node) return json.id;
  }
}
