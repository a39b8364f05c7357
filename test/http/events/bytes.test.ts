// The body of a webhook, to the byte. The signature covers it, so it is the same at each attempt,
// in each process and after each deploy. envelopes.jsonl holds every type as it was sent, with
// another line when fields were added. A line never changes: another rendering of an event breaks
// the signatures of pending retries.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ids } from '../../../src/platform/ids.ts';
import type { Json } from '../../../src/platform/postgres/postgres.ts';
import { envelopeOf, type EventEnvelope, insertEvent } from '../../../src/records/events.ts';
import { misfits } from '../../support/catalogue.ts';
import { relayAll } from '../../support/relayed.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { claim } from '../../../workers/claims.ts';

const GOLDEN = readFileSync(join(import.meta.dir, 'envelopes.jsonl'), 'utf8')
  .trim()
  .split('\n');

/** The last line of each type is the current rendering. */
const NOW = new Map(GOLDEN.map((line) => [JSON.parse(line).type as string, line]));

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

/** Stores the event of a body, with its fields in another order. */
async function write(body: string): Promise<EventEnvelope> {
  const envelope: EventEnvelope = JSON.parse(body);
  const { id: _id, eventType: type, timestamp, organizationId: _, mode, ...data } = envelope.data;
  const { objectId, objectType, accountId, sequence, ...own } = data;
  const event = {
    id: envelope.id,
    type,
    objectId,
    objectType,
    accountId,
    sequence: BigInt(sequence),
    at: new Date(timestamp),
    data: Object.fromEntries(Object.entries(own).toReversed()) as Json,
  };
  const scope = { organisationId: server.organisation.id, mode };
  await server.sql.begin((transaction) => insertEvent(transaction, scope, event));
  await relayAll(server.sql);
  return envelope;
}

/** Without a look at the document: an old line lacks the fields that were added since. */
async function read(id: string): Promise<string> {
  const headers = { authorization: `Bearer ${server.organisation.testKey}` };
  return (await fetch(`${server.url}/events/${id}`, { headers })).text();
}

/** The line, with our organisation in place of the original one. */
const asOf = (envelope: EventEnvelope, text: string): string =>
  text.replace(server.organisation.id, envelope.data.organizationId);

test.each(GOLDEN.map((line) => [JSON.parse(line).type, line]))(
  '%s has the same bytes over REST and at each delivery attempt',
  async (type, golden) => {
    const { sql } = server;
    const { json: endpoint } = await server.call('POST', '/webhook-endpoints', {
      body: { url: 'https://example.com/hook', event_types: ['*'] },
    });
    const envelope = await write(golden);
    if (NOW.get(type) === golden) expect(misfits(envelope)).toEqual([]);
    const text = await read(envelope.id);
    expect(asOf(envelope, text)).toBe(golden);
    // The worker that has it loses it, and another one sends it again.
    for (const hour of [1, 2, 3]) {
      const now = Date.now() + hour * 3_600_000;
      const asks = [{ endpointId: endpoint.id, atMost: 10 }];
      const claimed = await claim(sql, { asks, now, worker: ids.next() });
      const bodies = claimed
        .get(endpoint.id)!
        .due.map(({ event }) => JSON.stringify(envelopeOf(event)));
      expect(bodies.map((body) => asOf(envelope, body))).toEqual([golden]);
    }
    await server.call('DELETE', `/webhook-endpoints/${endpoint.id}`);
  },
);

test('an event has the same bytes over REST and in a delivery, whatever strings and numbers it has', async () => {
  const metadata = {
    2: 'a key that is a number',
    10: 'and one that comes after it',
    ['__proto__']: 'is a field like any other',
    quote: '"\\/\b\f\n\r\t',
    lines: '\u2028\u2029\u0001\u007f',
    emoji: '\u{1F468}\u{200D}\u{1F469} é e\u0301',
    html: '<script>&amp;',
    empty: '',
  };
  const usage = JSON.parse(NOW.get('usage.recorded')!);
  const numbers = { value: 1e-9, consumed: 999_999_999_999_999, balance: -0.000001 };
  const id = ids.next();
  const data = { ...usage.data, objectId: id, id, ...numbers, metadata };
  const body = JSON.stringify({ ...usage, id, data });
  await write(body);
  const texts = new Set<string>();
  for (let n = 0; n < 3; n += 1) texts.add(await read(id));
  const [text, ...others] = [...texts];
  expect(others).toEqual([]);
  expect(JSON.parse(text!).data).toMatchObject({ ...numbers, metadata });
  expect(text).toContain(
    '"metadata":{"2":"a key that is a number","10":"and one that comes after it","html":"<script>&amp;",' +
      '"emoji":"\u{1F468}\u{200D}\u{1F469} é e\u0301","empty":"","lines":"\u2028\u2029\\u0001\u007f","quote":"\\"\\\\/\\b\\f\\n\\r\\t",' +
      '"__proto__":"is a field like any other"}',
  );
  expect(text).toContain('"value":1e-9,"balance":-0.000001,');
  expect(text).toContain('"consumed":999999999999999,');
});
