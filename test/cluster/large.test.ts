// The largest call, at a node that does not own its customer.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { INGEST_EVENTS_MAX, UNIT_BYTES_MAX } from '../../ledger/limits.ts';
import { bytesOf } from '../../ledger/actor/unit-size.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2);
}, 60_000);
afterAll(() => nodes.stop());

/** Its first character makes the text two bytes a character, also on the way to another node. */
const wide = (text: string, length: number): string => `€${text}`.padEnd(length, 'x');

test('500 events with the most metadata that a call may have are recorded by another node', async () => {
  const [first] = nodes.all;
  for (const slug of ['calls', 'also'])
    await first!.call('POST', '/meters', { body: { slug, event_name: 'call' } });
  const { id } = (await first!.call('POST', '/customers', { body: {} })).json;
  const node = await nodes.strangerTo(id);
  const ingest = (pairs: number) => {
    const keys = Array.from({ length: pairs }, (_, at) => wide(`${at} `, 40));
    const events = Array.from({ length: INGEST_EVENTS_MAX }, (_, event) => ({
      name: 'call',
      customer_id: id,
      metadata: Object.fromEntries(keys.map((key) => [key, wide(`${event} ${key}`, 500)])),
    }));
    const bytes = events.reduce((sum, { metadata }) => sum + bytesOf(metadata), 0);
    return { bytes, answer: node.call('POST', '/events/ingest', { body: { events } }) };
  };
  const most = ingest(3);
  expect(most.bytes).toBeWithin(0.75 * UNIT_BYTES_MAX, UNIT_BYTES_MAX);
  const { status, json } = await most.answer;
  expect(status).toBe(200);
  expect(json.inserted).toBe(INGEST_EVENTS_MAX);
  const more = ingest(4);
  expect(more.bytes).toBeGreaterThan(UNIT_BYTES_MAX);
  const refused = await more.answer;
  expect(refused.status).toBe(413);
  expect(refused.json.error).toEqual({
    type: 'payload_too_large',
    message: `metadata of ${more.bytes} bytes would be written at once: at most ${UNIT_BYTES_MAX} may be`,
  });
  // Two meters count each event, and one of them has its metadata.
  const [row] = await node.sql`
    select count(*)::int as transfers, count(metadata)::int as described from transfers`;
  expect(row).toEqual({ transfers: 2 * INGEST_EVENTS_MAX, described: INGEST_EVENTS_MAX });
}, 60_000);
