// The largest call, at a node that does not own its customer.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { INGEST_BYTES_MAX, INGEST_EVENTS_MAX } from '../../ledger/limits.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2);
}, 30_000);
afterAll(() => nodes.stop());

/** Its first character makes two bytes of each of the others too, on the way to another node. */
const wide = (text: string, length: number): string => `€${text}`.padEnd(length, 'x');

test('500 events with all their metadata are recorded by another node', async () => {
  const [first] = nodes.all;
  await first!.call('POST', '/meters', { body: { slug: 'calls', event_name: 'call' } });
  const { id } = (await first!.call('POST', '/customers', { body: {} })).json;
  const keys = Array.from({ length: 50 }, (_, at) => wide(`${at} `, 40));
  const events = Array.from({ length: INGEST_EVENTS_MAX }, (_, event) => ({
    name: 'call',
    customer_id: id,
    metadata: Object.fromEntries(keys.map((key) => [key, wide(`${event} ${key}`, 500)])),
  }));
  const raw = JSON.stringify({ events });
  expect(Buffer.byteLength(raw)).toBeWithin(0.8 * INGEST_BYTES_MAX, INGEST_BYTES_MAX);
  const node = await nodes.strangerTo(id);
  const { status, json } = await node.call('POST', '/events/ingest', { raw });
  expect(status).toBe(200);
  expect(json.inserted).toBe(INGEST_EVENTS_MAX);
}, 30_000);
