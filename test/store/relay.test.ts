// Any failure between the commit of an event and its deliveries: each endpoint of that time gets it
// once, and the audit closes.
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { retryEvents } from '../../src/records/event-faults.ts';
import { passEvents, type Step } from '../../workers/relay.ts';
import { anEvent, deliveriesOf, endpointOf, unaccounted } from '../http/webhook-endpoints/owed.ts';
import { relayAll } from '../support/relayed.ts';
import { startServer, type TestServer, withTenants } from '../support/server.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

let served: TestServer;
/** With organisations that no other test has. */
let server: TestServer;
beforeAll(async () => {
  served = await startServer({ own: true });
});
beforeEach(async () => {
  server = await withTenants(served);
});
afterEach(async () => {
  expect(await unaccounted(server)).toEqual([]);
  expect(await audit(server.sql)).toEqual([]);
});
afterAll(() => served.stop());

/** Events that no relay has fanned out. */
async function write(count: number, key?: string): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await server.call('POST', '/customers', { body: {}, ...(key !== undefined && { key }) });
  }
}

const writeMany = (organisationId: string, count: number) => server.sql`
  insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data)
  select uuidv7(), ${organisationId}, 'test', 'tag.created', 'TAG', uuidv7(), 1, now(), '{}'
  from generate_series(1, ${count})`;

const waiting = async (): Promise<number> => (await server.sql`select from event_queue`).length;

const PARTS = [
  'before insert on deliveries',
  'before insert on event_fanouts',
  'before delete on event_queue',
  'before update on event_relay',
];
const GATE = 99;

test.each(PARTS)(
  'when a relay is killed %s another one does all of its work, once',
  async (part) => {
    const { sql, databaseUrl } = server;
    const { id } = await endpointOf(server);
    await write(3);
    await sql.unsafe(`
    create or replace function wait_at_gate() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${GATE}); return null; end $$;
    create trigger gate ${part} for each statement execute function wait_at_gate()`);
    const gate = await sql.reserve();
    await gate`select pg_advisory_lock(${GATE})`;
    const relay = openPool(databaseUrl, { max: 1, applicationName: 'to be killed' });
    const step = passEvents(relay).catch(String);
    const stopped = () => sql<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'to be killed' and wait_event = 'advisory'`;
    await until('it is half way', async () => (await stopped()).length === 1);
    // A step in progress has no effect yet, and a second relay leaves it to the first.
    expect([await waiting(), (await deliveriesOf(server, id)).length]).toEqual([3, 0]);
    expect(await passEvents(sql)).toBeNull();
    const [{ pid } = { pid: 0 }] = await stopped();
    await sql`select pg_terminate_backend(${pid})`;
    expect(await step).toContain('CONNECTION_CLOSED');
    await gate`select pg_advisory_unlock(${GATE})`;
    gate.release();
    await sql.unsafe(`drop trigger gate on ${part.split(' ').at(-1)!}`);
    await until('its locks are gone', async () => (await passEvents(sql)) !== null);
    await relayAll(sql);
    expect([await waiting(), (await deliveriesOf(server, id)).length]).toEqual([0, 3]);
    await relay.end({ timeout: 1 });
  },
);

test("the relay serves organisations in turn: a backlog of one does not delay another's event", async () => {
  const { organisation, other, sql } = server;
  const { testKey: theirs } = other;
  await endpointOf(server);
  const mine = await endpointOf(server, {}, theirs);
  const backlog = 2000;
  await writeMany(organisation.id, backlog);
  await write(1, theirs);
  const steps: Step[] = [];
  while ((await deliveriesOf(server, mine.id)).length === 0) steps.push((await passEvents(sql))!);
  expect(steps.length).toBeLessThanOrEqual(2);
  expect(await waiting()).toBeGreaterThan(backlog / 2);
  for (let more = true; more;) {
    const step = (await passEvents(sql))!;
    // The bound of a step.
    expect(step.passed + step.made).toBeLessThanOrEqual(500);
    more = step.more;
  }
});

test('a step of the relay is as large as its row limit allows', async () => {
  const { sql, organisation } = server;
  const endpoints = [await endpointOf(server), await endpointOf(server), await endpointOf(server)];
  await writeMany(organisation.id, 300);
  const rowsOf = ({ passed, made }: Step) => passed + made;
  expect(rowsOf((await passEvents(sql))!)).toBe(500);
  expect(rowsOf((await passEvents(sql))!)).toBe(500);
  expect(rowsOf((await passEvents(sql))!)).toBe(200);
  for (const { id } of endpoints) expect(await deliveriesOf(server, id)).toHaveLength(300);
});

test('an event that the relay cannot read blocks no other', async () => {
  const { sql, organisation, other } = server;
  const read = 'SELECT e.mode, e.type FROM events e';
  const [step] = await sql<{ source: string }[]>`
    select pg_get_functiondef(oid) as source from pg_proc where proname = 'relay_events'`;
  expect(step!.source).toContain(read);
  const broken = `SELECT e.mode, e.type || 1 / (e.type <> 'tag.deleted')::int AS type FROM events e`;
  await sql.unsafe(step!.source.replace(read, broken));
  const { id } = await endpointOf(server);
  await writeMany(organisation.id, 3);
  await sql`update events set type = 'tag.deleted' where id = (select event_id from event_queue offset 1 limit 1)`;
  await writeMany(other.id, 2);
  await relayAll(sql);
  await sql.unsafe(step!.source);
  expect(await waiting()).toBe(0);
  expect(await deliveriesOf(server, id)).toHaveLength(3);
});

test('an event that the relay cannot pass is set aside, the others go on, and it can be queued again', async () => {
  const { sql } = server;
  const { id } = await endpointOf(server);
  await write(3);
  const [poison] = await sql<
    { event: string }[]
  >`select event_id as event from event_queue order by place limit 1`;
  await sql.unsafe(`
    create or replace function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'poisoned'; end $$;
    create trigger poison before insert on deliveries for each row
      when (new.event_id = '${poison!.event}') execute function refuse()`);
  const step = await passEvents(sql);
  expect(step).toEqual({
    passed: 2,
    made: 2,
    failed: [poison!.event],
    why: 'poisoned',
    more: false,
    due: [id],
    news: [`${server.organisation.id} test`],
  });
  expect(await deliveriesOf(server, id)).toHaveLength(2);
  expect(await audit(sql)).toEqual([]);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('tollhouse_events_set_aside 1\n');
  // Endpoints that are made meanwhile do not get it.
  const late = await endpointOf(server);
  await sql`drop trigger poison on deliveries`;
  expect(await retryEvents(sql)).toBe(1);
  await relayAll(sql);
  expect(await deliveriesOf(server, id)).toHaveLength(3);
  expect(await deliveriesOf(server, late.id)).toHaveLength(0);
});

test("the relay sets no event aside for a failure that is not the event's", async () => {
  const { sql } = server;
  await write(2);
  await sql.unsafe(`
    create or replace function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$;
    create trigger full_disk before insert on event_fanouts for each statement execute function refuse()`);
  expect(await passEvents(sql).catch(String)).toContain('no room');
  expect(await waiting()).toBe(2);
  await sql`drop trigger full_disk on event_fanouts`;
  await relayAll(sql);
});

test('the relay reports how many events wait, and for how long', async () => {
  await write(2);
  await server.sql`update event_queue set written_at = written_at - interval '5 minutes'`;
  const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
  const text = await metrics();
  expect(text).toContain('tollhouse_events_waiting 2\n');
  expect(
    Number(/tollhouse_events_waiting_oldest_seconds ([\d.]+)/.exec(text)?.[1]),
  ).toBeGreaterThanOrEqual(300);
  await relayAll(server.sql);
  expect(await metrics()).toContain('tollhouse_events_waiting_oldest_seconds 0\n');
});

test('the relay compares the test clock with no other clock', async () => {
  await endpointOf(server, { event_types: ['*'] });
  const to = new Date(Date.now() + 400 * 86_400_000).toISOString();
  const { status } = await server.call('POST', '/test-clock', { body: { now: to } });
  expect(status).toBe(200);
  await anEvent(server);
  // An endpoint that is made or changed now gets the events after it, at any time of the
  // organisation's clock.
  const late = await endpointOf(server);
  await anEvent(server);
  expect(await deliveriesOf(server, late.id)).toHaveLength(1);
});
