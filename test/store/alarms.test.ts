// Which alarms are due: by the wall clock, or by the organisation's clock where that is ahead.
import type { Mode } from '../../ledger/kernel/tenant.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { SLOTS } from '../../ledger/limits.ts';
import { dueAlarms, nextAlarms } from '../../ledger/store/load-alarms.ts';
import type { Alarm, AlarmKind } from '../../ledger/storage.ts';
import { ids } from '../../src/platform/ids.ts';
import { listTestClocks, runTestClock, stopTestClock } from '../../src/records/test-clocks.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let ahead: string;
let other: string;
beforeAll(async () => {
  server = await startServer({ own: true });
  ahead = server.organisation.id;
  other = server.other.id;
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.sql`delete from alarms`;
  await server.sql`delete from test_clocks`;
});

const NOW = Date.parse('2030-01-01T00:00:00Z');
const HOUR = 3_600_000;

/** An alarm of kind `meter`, due in this many milliseconds; its actor. */
async function alarm(
  organisationId: string,
  mode: Mode,
  { inMs, kind = 'meter' }: { readonly inMs: number; readonly kind?: AlarmKind },
): Promise<string> {
  const actor = ids.next();
  await server.sql`
    insert into alarms (slot, actor_id, subject_id, due_at, kind, organisation_id, mode)
    values (1, ${actor}, ${ids.next()}, ${new Date(NOW + inMs)}, ${kind}, ${organisationId}, ${mode})`;
  return actor;
}

const due = async (
  options: {
    held?: string[];
    without?: string[];
    atMost?: number;
    except?: Alarm<'meter'>[];
  } = {},
) => {
  const { held = [], without = [], atMost = 10, except = [] } = options;
  const query = { slots: [1, 2], now: NOW, atMost, except, held, without };
  return dueAlarms(server.sql, { kind: 'meter', ...query });
};

async function anHourAhead(): Promise<void> {
  await server.sql`insert into test_clocks (organisation_id, ahead_ms) values (${ahead}, ${HOUR})`;
}

const nextOf = (until: number, except: readonly Alarm<AlarmKind>[] = []) =>
  nextAlarms(server.sql, {
    organisationId: ahead,
    until: NOW + until,
    withinMs: 10,
    metersWithinMs: 5 * HOUR,
    atMost: 10,
    except,
  });

/** Its alarms, and when they fire. */
async function next(until: number, except: readonly Alarm<AlarmKind>[] = []) {
  const { alarms, at } = await nextOf(until, except);
  return [alarms.map(({ actorId, kind, dueAt }) => [actorId, kind, dueAt - NOW]), at - NOW];
}

const actorsOf = (alarms: readonly { readonly actorId: string }[]): string[] =>
  alarms.map(({ actorId }) => actorId);

test('alarms are read for each tenant by its own clock, earliest first', async () => {
  await anHourAhead();
  const late = await alarm(other, 'live', { inMs: -2 });
  const past = await alarm(ahead, 'test', { inMs: -1 });
  const soon = await alarm(ahead, 'test', { inMs: HOUR });
  await alarm(ahead, 'test', { inMs: HOUR + 1 });
  await alarm(ahead, 'live', { inMs: 1 });
  await alarm(other, 'test', { inMs: 1 });
  await alarm(ahead, 'test', { inMs: 1, kind: 'payment' });
  const found = await due();
  expect(actorsOf(found)).toEqual([late, past, soon]);
  expect(found.map(({ tenant }) => tenant)).toEqual([
    { organisationId: other, mode: 'live' },
    { organisationId: ahead, mode: 'test' },
    { organisationId: ahead, mode: 'test' },
  ]);
  expect(actorsOf(await due({ atMost: 2 }))).toEqual([late, past]);
  expect(actorsOf(await due({ except: found.slice(1) }))).toEqual([late]);
});

test('alarms of a tenant whose clock is held are left out, but not those of its live mode', async () => {
  await anHourAhead();
  await alarm(ahead, 'test', { inMs: -1 });
  await alarm(ahead, 'test', { inMs: 1 });
  const live = await alarm(ahead, 'live', { inMs: -1 });
  expect(actorsOf(await due({ held: [ahead] }))).toEqual([live]);
});

test('alarms are read without one organisation: none of its modes, by either clock', async () => {
  await anHourAhead();
  await alarm(ahead, 'test', { inMs: -3 });
  await alarm(ahead, 'test', { inMs: 1 });
  await alarm(ahead, 'live', { inMs: -2 });
  const left = await alarm(other, 'live', { inMs: -1 });
  expect(actorsOf(await due({ without: [ahead] }))).toEqual([left]);
  expect(await due({ without: [ahead, other] })).toEqual([]);
});

test('no more alarms are read than were asked for, however many there are', async () => {
  await server.sql`
    insert into alarms (slot, actor_id, subject_id, due_at, kind, organisation_id, mode)
    select n % 1024, gen_random_uuid(), gen_random_uuid(), ${new Date(NOW)}::timestamptz - n * interval '1 ms', kind,
      ${other}, 'test'
    from generate_series(1, 10000) n, (values ('meter'), ('subscription')) k (kind) order by random()`;
  await server.sql`analyze alarms`;
  const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
  const [times, atMost] = [20, 10];
  const own = await server.sql.reserve();
  // As it may choose after five times.
  await own`set plan_cache_mode = force_generic_plan`;
  const readSoFar = async (): Promise<number> => {
    await own`select pg_stat_force_next_flush()`;
    const [row] = await own`
      select sum(idx_tup_read)::int as read from pg_stat_user_indexes where relname = 'alarms'`;
    return row!['read'] as number;
  };
  const before = await readSoFar();
  for (let time = 0; time < times; time += 1) {
    const query = { slots, now: NOW, atMost, except: [], held: [], without: [] };
    expect(await dueAlarms(own, { kind: 'meter', ...query })).toHaveLength(atMost);
  }
  expect((await readSoFar()) - before).toBeLessThan(times * atMost * 2);
  await own`reset plan_cache_mode`;
  own.release();
});

test('the next alarms: of all kinds, those close to the first, none after the end', async () => {
  const first = await alarm(ahead, 'test', { inMs: HOUR });
  const second = await alarm(ahead, 'test', { inMs: HOUR + 5, kind: 'payment' });
  const third = await alarm(ahead, 'test', { inMs: HOUR + 11 });
  await alarm(ahead, 'live', { inMs: HOUR });
  await alarm(other, 'test', { inMs: HOUR });
  expect(await next(HOUR - 1)).toEqual([[], HOUR - 1]);
  expect(await next(HOUR + 4)).toEqual([[[first, 'meter', HOUR]], HOUR + 4]);
  expect(await next(2 * HOUR)).toEqual([
    [
      [first, 'meter', HOUR],
      [second, 'payment', HOUR + 5],
    ],
    HOUR + 5,
  ]);
  const { alarms } = await nextOf(2 * HOUR);
  expect(await next(2 * HOUR, alarms)).toEqual([[[third, 'meter', HOUR + 11]], 2 * HOUR]);
});

test("the next alarms: meters' of a day together, as far as nothing else is due", async () => {
  const first = await alarm(ahead, 'test', { inMs: HOUR });
  const second = await alarm(ahead, 'test', { inMs: 2 * HOUR });
  const renewal = await alarm(ahead, 'test', { inMs: 3 * HOUR, kind: 'subscription' });
  const later = await alarm(ahead, 'test', { inMs: 4 * HOUR });
  const meters = [
    [first, 'meter', HOUR],
    [second, 'meter', 2 * HOUR],
  ];
  expect(await next(2.5 * HOUR)).toEqual([meters, 2.5 * HOUR]);
  expect(await next(9 * HOUR)).toEqual([
    [...meters, [renewal, 'subscription', 3 * HOUR]],
    3 * HOUR,
  ]);
  await server.sql`delete from alarms where actor_id = ${renewal}`;
  expect(await next(9 * HOUR)).toEqual([[...meters, [later, 'meter', 4 * HOUR]], 6 * HOUR]);
  // What it looks at changes with each step.
  await server.sql`
    insert into auto_topups (slot, customer_id, meter_id, organisation_id, mode, settings, zone, ordered, captures, declines,
      again, updated_at)
    values (1, ${second}, ${ids.next()}, ${ahead}, 'test', '{}', 'UTC', 0, 0, 0, false, now())`;
  expect(await next(9 * HOUR)).toEqual([meters, 2 * HOUR]);
  await server.sql`update auto_topups set settings = null`;
  expect((await next(9 * HOUR))[1]).toBe(6 * HOUR);
});

test('a test clock that was moved goes forward only', async () => {
  const [node] = await server.sql<{ holder: string }[]>`select holder from nodes`;
  const moved = { organisationId: ahead, mover: node!.holder };
  const stop = (to: { aheadMs: number; stoppedAt: number }) =>
    stopTestClock(server.sql, { ...moved, ...to });
  const first = await stop({ aheadMs: HOUR, stoppedAt: NOW });
  expect(first).toMatchObject({ organisationId: ahead, aheadMs: HOUR, stoppedAt: NOW });
  const second = await stop({ aheadMs: 1, stoppedAt: NOW + 1 });
  expect(second).toEqual({ ...first!, stoppedAt: NOW + 1, version: first!.version + 1 });
  expect(await listTestClocks(server.sql, ahead)).toEqual([second!]);
  const ran = await runTestClock(server.sql, moved);
  expect(ran).toEqual({ ...second!, stoppedAt: null, version: second!.version + 1 });
  expect(await runTestClock(server.sql, moved)).toBeNull();
  expect(await listTestClocks(server.sql, null)).toEqual([ran!]);
});

test('one node moves a test clock, while its lease runs', async () => {
  const [node] = await server.sql<{ holder: string }[]>`select holder from nodes`;
  const to = { organisationId: ahead, aheadMs: HOUR, stoppedAt: NOW };
  const stranger = { ...to, mover: crypto.randomUUID() };
  await stopTestClock(server.sql, { ...to, mover: node!.holder });
  expect(await stopTestClock(server.sql, stranger)).toBeNull();
  expect(await runTestClock(server.sql, stranger)).toBeNull();
  await runTestClock(server.sql, { ...to, mover: node!.holder });
  // Its node is dead: it counts as running, and any node may take it.
  expect(await stopTestClock(server.sql, stranger)).toMatchObject({ stoppedAt: NOW });
  expect(await listTestClocks(server.sql, ahead)).toMatchObject([{ stoppedAt: null }]);
  expect(await stopTestClock(server.sql, { ...to, mover: node!.holder })).not.toBeNull();
  await runTestClock(server.sql, { ...to, mover: node!.holder });
});
