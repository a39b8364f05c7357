import type { Sql } from 'postgres';
import type { Mode } from '../kernel/tenant.ts';
import { SLOTS } from '../limits.ts';
import type { Alarm, AlarmKind, NextAlarms, Storage } from '../storage.ts';
import type { Bigints } from './bigints.ts';

/**
 * See `Storage.dueAlarms`. A moved clock is ahead of the wall clock, so an alarm that is due by the
 * wall clock is due by every clock.
 */
export async function dueAlarms<K extends AlarmKind>(
  sql: Sql<Bigints>,
  query: Parameters<Storage['dueAlarms']>[0] & {
    readonly kind: K;
    readonly except: readonly Alarm<K>[];
  },
): Promise<Alarm<K>[]> {
  const { kind, atMost, held, except, without } = query;
  const isOwn = sql`get_bit(${bitsOf(query.slots)}::bytea, a.slot) <> 0`;
  const now = new Date(query.now);
  const rows = await sql<Row[]>`
    (select ${columns(sql)} from alarms a
      where kind = ${kind} and due_at <= ${now} and ${isOwn} and not (mode = 'test' and organisation_id = any(${[...held]}::uuid[]))
        and organisation_id <> all(${[...without]}::uuid[]) and ${isNoneOf(sql, except)}
      order by due_at limit ${atMost})
    union all
    (select ahead.* from test_clocks c cross join lateral (
        select ${columns(sql)} from alarms a
        where mode = 'test' and organisation_id = c.organisation_id and kind = ${kind}
          and due_at > ${now} and due_at <= ${now}::timestamptz + c.ahead_ms * interval '1 ms' and ${isOwn}
          and ${isNoneOf(sql, except)}
        order by due_at limit ${atMost}) as ahead
      where c.organisation_id <> all(${[...held, ...without]}::uuid[]))
    order by "dueAt" limit ${atMost}`;
  return rows.map((row) => ({ ...alarmOf(row), kind }));
}

/** Of the alarms that are due, so many are looked at to know what fires together: some 10 ms. */
const LOOKED_AT_MAX = 5000;

/** See `Storage.nextAlarms`. */
export async function nextAlarms(
  sql: Sql<Bigints>,
  query: Parameters<Storage['nextAlarms']>[0],
): Promise<NextAlarms> {
  const { organisationId, withinMs, metersWithinMs, atMost, except } = query;
  const until = new Date(query.until);
  const isDue = sql`a.organisation_id = ${organisationId} and a.mode = 'test' and a.due_at <= ${until} and ${isNoneOf(sql, except)}`;
  const rows = await sql<(Row & { at: Date })[]>`
    with due as materialized (
      select a.* from alarms a where ${isDue} order by a.due_at, a.kind limit ${LOOKED_AT_MAX}
    ), known as (
      select min(due_at) as first, case count(*) when ${LOOKED_AT_MAX} then max(due_at) end as last,
        min(due_at) filter (where kind <> 'meter' or exists (select from auto_topups t
          where t.slot = due.slot and t.customer_id = due.actor_id and t.settings is not null)) as timed
      from due
    ), together as (
      select case when timed <= first + ${withinMs} * interval '1 ms'
          then (select max(due_at) from due where due_at <= first + ${withinMs} * interval '1 ms')
          else least(${until}, last, timed, first + ${metersWithinMs} * interval '1 ms') end as at
      from known
    )
    select ${columns(sql)}, at from due a, together where a.due_at <= at order by a.due_at, a.kind limit ${atMost}`;
  const alarms = rows.map((row) => ({ ...alarmOf(row), dueAt: row.dueAt.getTime() }));
  return { alarms, at: rows[0]?.at.getTime() ?? query.until };
}

type Row = {
  kind: AlarmKind;
  actorId: string;
  subjectId: string;
  organisationId: string;
  mode: Mode;
  dueAt: Date;
};

function columns(sql: Sql<Bigints>) {
  return sql`a.kind, a.actor_id as "actorId", a.subject_id as "subjectId", a.organisation_id as "organisationId", a.mode,
    a.due_at as "dueAt"`;
}

/**
 * As a value that no index fits: as an array, a plan that is made without it reads all alarms of
 * these slots, due or not.
 */
function bitsOf(slots: readonly number[]): Buffer {
  const bits = Buffer.alloc(SLOTS / 8);
  for (const slot of slots) bits[slot >> 3] = (bits[slot >> 3] ?? 0) | (1 << (slot & 7));
  return bits;
}

function isNoneOf(sql: Sql<Bigints>, alarms: readonly Alarm<AlarmKind>[]) {
  const actors = alarms.map((alarm) => alarm.actorId);
  const subjects = alarms.map((alarm) => alarm.subjectId);
  return sql`(actor_id, subject_id) not in (select * from unnest(${actors}::uuid[], ${subjects}::uuid[]))`;
}

function alarmOf({ kind, actorId, subjectId, organisationId, mode }: Row): Alarm<AlarmKind> {
  return { kind, actorId, subjectId, tenant: { organisationId, mode } };
}
