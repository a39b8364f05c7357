// GET /events/stream: what is on it, where it begins and goes on, what is refused, and how it ends.
// Nothing relays but the tests, so each says when events get their positions.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { clock } from '../../../src/platform/clock.ts';
import { insertKey, revokeKey } from '../../../src/records/api-keys.ts';
import { StreamReader } from '../../support/event-stream.ts';
import { relayAll } from '../../support/relayed.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

const STREAMS_MAX = 3;
/** No move of the clock ends it. */
const LEASE_MS = 120_000;

let aheadMs = 0;
const moved = { now: () => clock.now(), monotonic: () => clock.monotonic() + aheadMs };

let server: TestServer;
beforeAll(async () => {
  const bounds = { ...TEST_SETTINGS.bounds, eventStreams: STREAMS_MAX };
  server = await startServer({ settings: { bounds }, clock: moved, leaseMs: LEASE_MS });
});
afterAll(() => server.stop());

const readers: StreamReader[] = [];
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()));
  await until('no stream is left', async () => (await streams()) === 0);
});

type Asked = Partial<Parameters<typeof StreamReader.open>[1]>;

async function open(asked: Asked = {}): Promise<StreamReader> {
  const reader = await StreamReader.open(server.url, {
    key: server.organisation.testKey,
    ...asked,
  });
  readers.push(reader);
  return reader;
}

/** Of the node that answers. */
async function streams(): Promise<number> {
  const { text } = await server.call('GET', '/metrics', { key: null });
  return Number(/^tollhouse_event_streams (\d+)$/m.exec(text)?.[1]);
}

/** Each is one event. */
async function customers(count: number, key = server.organisation.testKey): Promise<void> {
  for (let n = 0; n < count; n += 1) await server.call('POST', '/customers', { key, body: {} });
}

/** All of the organisation's events in the order of their positions. */
async function positioned(): Promise<string[]> {
  const rows = await server.sql<{ id: string }[]>`
    select e.id from event_fanouts f join events e on e.id = f.event_id
    where e.organisation_id = ${server.organisation.id} and e.mode = 'test' and f.position is not null
    order by f.position`;
  return rows.map(({ id }) => id);
}

test('an event stream opens at once, and sends what GET /events shows, in order', async () => {
  const reader = await open();
  const { status, headers } = reader.response;
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/event-stream');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-accel-buffering')).toBe('no');
  await reader.begun();
  // Where nothing happened yet, a place to go on from all the same.
  expect(reader.text).toMatch(/^: events\nretry: \d{3,4}\nid: [\w-]{36}\n\n$/);
  expect(reader.lastId).toBe(server.organisation.id);
  await customers(3);
  await relayAll(server.sql);
  const events = await reader.has(3);
  const { json } = await server.call('GET', '/events');
  expect(events).toEqual(json.data.toReversed());
  expect(reader.text).toContain(`\n\nid: ${events[0]!.id}\ndata: {`);
});

test('an event stream without a position begins now, without events that are written and unnumbered', async () => {
  await customers(2);
  const reader = await open();
  await reader.begun();
  await customers(1);
  await relayAll(server.sql);
  await reader.has(1);
  const all = await positioned();
  expect(reader.ids).toEqual(all.slice(-1));
});

test('an event stream after an event resumes behind it, by header or query; the header wins', async () => {
  await customers(4);
  await relayAll(server.sql);
  const all = await positioned();
  const [first, second] = all as [string, string];
  for (const asked of [
    { after: second },
    { lastEventId: second },
    { after: first, lastEventId: second },
    { after: second.toUpperCase() },
  ]) {
    const reader = await open(asked);
    await reader.has(all.length - 2);
    expect(reader.ids).toEqual(all.slice(2));
    await reader.close();
  }
});

test("an event stream after the organisation's own id begins at its first event", async () => {
  const reader = await open({ after: server.organisation.id });
  const all = await positioned();
  await reader.has(all.length);
  expect(reader.ids).toEqual(all);
});

test('an event stream resumes after an event that was only just acknowledged', async () => {
  await customers(2);
  const [written] = (await server.call('GET', '/events?limit=1')).json.data;
  const reader = await open({ after: written.id });
  await reader.begun();
  expect(reader.lastId).toBe(written.id);
  await customers(2);
  await relayAll(server.sql);
  await reader.has(2);
  const all = await positioned();
  expect(reader.ids).toEqual(all.slice(all.indexOf(written.id) + 1));
});

test('an event stream a long way behind catches up in pages without a gap or a repeat', async () => {
  const before = (await positioned()).length;
  await server.sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data)
    select uuidv7(), ${server.organisation.id}, 'test', 'tag.created', 'TAG', uuidv7(), 1, now(),
      jsonb_build_object('name', repeat('x', (n * 37 % 3000)))
    from generate_series(1, 1500) n`;
  const from = (await positioned())[before - 1]!;
  const reading = open({ after: from });
  await relayAll(server.sql);
  const reader = await reading;
  await customers(5);
  await relayAll(server.sql);
  await reader.has(1505);
  expect(reader.ids).toEqual((await positioned()).slice(before));
});

test('an event stream has neither samples nor events of another mode or organisation', async () => {
  const reader = await open();
  await reader.begun();
  const hook = { url: 'https://example.com', event_types: ['*'] };
  const { json: endpoint } = await server.call('POST', '/webhook-endpoints', { body: hook });
  const path = `/webhook-endpoints/${endpoint.id}/test`;
  expect((await server.call('POST', path, { body: {} })).status).toBeLessThan(300);
  await customers(1, server.organisation.liveKey);
  await customers(1, server.other.testKey);
  await customers(1);
  await relayAll(server.sql);
  await reader.has(1);
  expect(reader.ids).toEqual((await positioned()).slice(-1));
});

test('an event stream after an id that is no event of the organisation is refused', async () => {
  await customers(1);
  await customers(1, server.organisation.liveKey);
  await customers(1, server.other.testKey);
  await relayAll(server.sql);
  const idOf = async (key: string): Promise<string> =>
    (await server.call('GET', '/events?limit=1', { key })).json.data[0].id;
  const [sample] = await server.sql<{ id: string }[]>`
    select id from events where endpoint_id is not null limit 1`;
  const unknown = [
    ids.next(),
    await idOf(server.organisation.liveKey),
    await idOf(server.other.testKey),
    sample!.id,
    server.other.id,
    'x',
  ];
  for (const id of unknown) {
    for (const asked of [{ after: id }, { lastEventId: id }]) {
      const { response } = await open(asked);
      expect([id, response.status]).toEqual([id, 400]);
    }
  }
  const reply = await server.call('GET', `/events/stream?after=${ids.next()}`);
  expect(reply.json.error).toEqual({
    type: 'invalid_request',
    message: 'after is no event of this mode that is still kept',
    issues: [{ path: ['after'], message: 'is no event of this mode that is still kept' }],
  });
});

test('an event stream after an event that is archived or set aside is refused', async () => {
  await customers(2);
  const [gone, aside] = (await server.call('GET', '/events?limit=2')).json.data;
  await server.sql`
    with taken as (delete from event_queue where event_id = ${aside.id} returning *)
    insert into event_faults select event_id, organisation_id, place, written_at, now(), '' from taken`;
  await relayAll(server.sql);
  await server.sql`delete from event_fanouts where event_id = ${gone.id}`;
  await server.sql`delete from events where id = ${gone.id}`;
  for (const { id } of [gone, aside]) expect((await open({ after: id })).response.status).toBe(400);
});

test('each mode has at most so many event streams open', async () => {
  const { organisation, other } = server;
  // With several nodes, each has its own.
  const nodes = Number(process.env['TEST_NODES'] ?? 1);
  const opened = await Promise.all(Array.from({ length: STREAMS_MAX * nodes }, () => open()));
  expect(opened.map(({ response }) => response.status)).toEqual(opened.map(() => 200));
  const { status, json } = await server.call('GET', '/events/stream');
  const message = `an organisation has at most ${STREAMS_MAX} open streams of events on a node (LIMIT_EVENT_STREAMS)`;
  expect([status, json.error]).toEqual([409, { type: 'conflict', message }]);
  for (const key of [organisation.liveKey, other.testKey]) {
    expect((await open({ key })).response.status).toBe(200);
  }
  await Promise.all(opened.map((reader) => reader.close()));
  await until('there is room again', async () => {
    const reader = await open();
    return reader.response.status === 200;
  });
});

test('HEAD of the event stream answers the headers, and leaves nothing open', async () => {
  const reply = await server.call('HEAD', '/events/stream');
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  expect((await server.call('POST', '/events/stream', { body: {} })).status).toBe(405);
  expect((await server.call('GET', '/events/stream', { key: null })).status).toBe(401);
  expect((await server.call('GET', '/events/stream', { key: server.group.testKey })).status).toBe(
    403,
  );
});

test('an event stream whose caller leaves at once leaves nothing open', async () => {
  for (let n = 0; n < 20; n += 1) {
    const abort = new AbortController();
    const { testKey } = server.organisation;
    const asking = fetch(`${server.url}/events/stream`, {
      signal: abort.signal,
      headers: { authorization: `Bearer ${testKey}` },
    }).catch(() => undefined);
    await Bun.sleep(n % 4);
    abort.abort();
    await asking;
  }
});

test("an event stream ends within a second of its key's revocation or expiry", async () => {
  const owner = { kind: 'organisation', organisationId: server.organisation.id } as const;
  const make = async (expiresAt: number | null) => {
    const id = ids.next();
    const now = Date.now();
    const options = { id, owner, mode: 'test', expiresAt, now } as const;
    return { id, key: await server.sql.begin((sql) => insertKey(sql, options)) };
  };
  const [revoked, kept] = [await make(null), await make(null)];
  const [first, second] = [await open({ key: revoked.key }), await open({ key: kept.key })];
  await Promise.all([first.begun(), second.begun()]);
  const revokedAt = performance.now();
  await server.sql.begin((sql) => revokeKey(sql, { id: revoked.id, now: Date.now() }));
  expect(await first.over).toBe(true);
  expect(performance.now() - revokedAt).toBeLessThan(1000);
  const expiresAt = Date.now() + 1500;
  const expiring = await open({ key: (await make(expiresAt)).key });
  expect(expiring.response.status).toBe(200);
  expect(await expiring.over).toBe(true);
  expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
  expect(Date.now()).toBeLessThan(expiresAt + 1000);
  expect(second.isOver).toBe(false);
});

test('an idle event stream sends a comment within 15 s, and not before 10 s', async () => {
  const begun = async () => {
    const reader = await open();
    await reader.begun();
    const { length } = reader.text;
    return () => reader.text.slice(length);
  };
  const first = await begun();
  aheadMs += 10_000;
  const second = await begun();
  aheadMs += 4_000;
  await until('a comment', () => first() !== '');
  expect([first(), second()]).toEqual([':\n\n', '']);
  aheadMs += 10_000;
  await until('a comment', () => second() !== '');
  expect([first(), second()]).toEqual([':\n\n', ':\n\n']);
});

test('an event stream takes its position in upper case, and an empty header as none', async () => {
  const { id } = server.organisation;
  const first = new Set<string | undefined>();
  for (const asked of [
    { after: id },
    { after: id.toUpperCase() },
    { lastEventId: id.toUpperCase() },
    { after: id, lastEventId: '' },
  ]) {
    const stream = await open(asked);
    expect(stream.response.status).toBe(200);
    await stream.has(1);
    first.add(stream.ids[0]);
    await stream.close();
  }
  expect(first.size).toBe(1);
  const now = await open({ lastEventId: '' });
  expect(now.response.status).toBe(200);
  await now.close();
});

test('a refused event stream names the header where that was invalid', async () => {
  const headers = { 'last-event-id': ids.next() };
  const { json } = await server.call('GET', '/events/stream', { headers });
  expect(json.error.issues[0].path).toEqual(['Last-Event-ID']);
});
