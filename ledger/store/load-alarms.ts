import type { Sql } from 'postgres';
import type { Mode } from '../kernel/tenant.ts';
import { SLOTS } from '../limits.ts';
import type { Alarm, AlarmKind, DueAlarm, Storage } from '../storage.ts';
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

/** See `Storage.nextAlarms`. */
export async function nextAlarms(
  sql: Sql<Bigints>,
  query: Parameters<Storage['nextAlarms']>[0],
): Promise<DueAlarm[]> {
  const { organisationId, until, withinMs, atMost, except } = query;
  const rows = await sql<Row[]>`
    with due as materialized (
      select ${columns(sql)} from alarms a
      where organisation_id = ${organisationId} and mode = 'test' and due_at <= ${new Date(until)}
        and ${isNoneOf(sql, except)}
      order by due_at, kind limit ${atMost}
    )
    select * from due where "dueAt" <= (select min("dueAt") from due) + ${withinMs} * interval '1 ms'
    order by "dueAt", kind`;
  return rows.map((row) => ({ ...alarmOf(row), dueAt: row.dueAt.getTime() }));
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
