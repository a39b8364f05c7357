// A planned stop: streams end at once and cleanly, and go on elsewhere. For a caller that takes
// nothing see stream-slow.long.test.ts.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { StreamReader } from '../../support/event-stream.ts';
import { relayAll } from '../../support/relayed.ts';
import { startServer } from '../../support/server.ts';
import { newPlace } from '../../support/new-place.ts';

setDefaultTimeout(60_000);

test('a node that shuts down ends its event streams cleanly, and they go on at another node', async () => {
  const first = await startServer({ node: await newPlace() });
  const second = await startServer({ node: await newPlace(), beside: first });
  const { testKey: key } = first.organisation;
  const customer = () => second.call('POST', '/customers', { body: {} });
  const readers = await Promise.all(
    Array.from({ length: 20 }, () => StreamReader.open(first.url, { key })),
  );
  await customer();
  await relayAll(first.sql);
  await Promise.all(readers.map((reader) => reader.has(1)));
  const began = performance.now();
  first.endStreams();
  expect(await Promise.all(readers.map(({ over }) => over))).toEqual(readers.map(() => true));
  expect(performance.now() - began).toBeLessThan(1000);
  expect(first.app.server!.pendingRequests).toBe(0);
  const refused = await first.call('GET', '/events/stream');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  await customer();
  await relayAll(first.sql);
  const { lastId } = readers[0]!;
  const next = await StreamReader.open(second.url, { key, lastEventId: lastId });
  await customer();
  await relayAll(first.sql);
  await next.has(2);
  const { json } = await second.call('GET', '/events');
  expect(next.events).toEqual(json.data.slice(0, 2).toReversed());
  await next.close();
  await second.stop();
  await first.stop();
});
