// A reader that takes nothing: it is disconnected, holds nobody up, goes on where it was, and
// delays no planned stop.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { BEGINNING, pagesAfter } from '../../../src/records/event-positions.ts';
import { StreamReader } from '../../support/event-stream.ts';
import { relayAll } from '../../support/relayed.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ alone: true });
});
afterAll(() => server.stop());

const key = () => server.organisation.testKey;

async function metric(name: string): Promise<number> {
  const { text } = await server.call('GET', '/metrics', { key: null });
  return Number(new RegExp(`^tollhouse_${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Events that take 16 KB each. */
async function write(count: number): Promise<void> {
  await server.sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data)
    select uuidv7(), ${server.organisation.id}, 'test', 'tag.created', 'TAG', uuidv7(), 1, now(),
      jsonb_build_object('name', repeat('x', 16000))
    from generate_series(1, ${count}) n`;
  await relayAll(server.sql);
}

/** Connects, asks, and reads no more than the head. */
async function stalled(after?: string): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  const query = after === undefined ? '' : `?after=${after}`;
  socket.on('error', () => undefined);
  const answered = Promise.withResolvers<string>();
  socket.once('data', (bytes) => {
    socket.pause();
    answered.resolve(bytes.toString());
  });
  socket.write(
    `GET /events/stream${query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key()}\r\n\r\n`,
  );
  expect(await answered.promise).toStartWith('HTTP/1.1 200 ');
  return socket;
}

test('a slow event stream is disconnected, the others miss nothing, and it resumes where it was', async () => {
  const quick = await StreamReader.open(server.url, { key: key() });
  await quick.begun();
  const slow = await stalled();
  await until('both are there', async () => (await metric('event_streams')) === 2);
  // More than the system keeps for a connection, and more than may wait.
  const batches = 30;
  for (let n = 1; n <= batches; n += 1) {
    await write(20);
    await quick.has(n * 20);
  }
  await until('it is ended', async () => (await metric('event_streams')) === 1);
  expect(await metric('event_stream_slow_total')).toBe(1);
  expect(await metric('event_stream_events_total')).toBeGreaterThan(batches * 20);
  const gone = once(slow, 'close');
  slow.resume();
  await gone;
  const tenant = { organisationId: server.organisation.id, mode: 'test' } as const;
  const all: string[] = [];
  for (let position = BEGINNING, more = true; more;) {
    const [page] = await pagesAfter(server.sql, [{ ...tenant, position }]);
    all.push(...page!.events.map(({ id }) => id));
    position = page!.events.at(-1)?.position ?? position;
    ({ more } = page!);
  }
  expect(quick.ids).toEqual(all);
  const again = await StreamReader.open(server.url, { key: key(), after: all[99]! });
  await again.has(all.length - 100);
  expect(again.ids).toEqual(all.slice(100));
  await Promise.all([quick.close(), again.close()]);
});

test('an event stream that stalls while it catches up blocks no other of its organisation', async () => {
  const socket = await stalled(server.organisation.id);
  const reader = await StreamReader.open(server.url, {
    key: key(),
    after: server.organisation.id,
  });
  await reader.has(600);
  expect(await metric('event_streams')).toBe(2);
  await reader.close();
  socket.destroy();
  await until('both are gone', async () => (await metric('event_streams')) === 0);
});

test('a planned shutdown does not wait for a stalled event stream', async () => {
  const socket = await stalled(server.organisation.id);
  const { app } = server;
  await until('pages wait for it', async () => {
    const before = await metric('event_stream_events_total');
    await Bun.sleep(200);
    return before > 0 && (await metric('event_stream_events_total')) === before;
  });
  server.endStreams();
  // Without being cut off it would be there for a minute.
  await until('its connection is closed', () => app.server!.pendingRequests === 0, 20_000);
  socket.destroy();
});
