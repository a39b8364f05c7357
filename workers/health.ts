// How an endpoint fares, and what follows: it is paused while it fails, woken when it answers, disabled when it says so or has
// failed for too long.
import type { Executor } from '../src/platform/postgres/postgres.ts';
import { WINDOW_MS } from './retry-policy.ts';

/** What the attempts at one endpoint in one batch came to. */
export type Tally = {
  readonly endpointId: string;
  readonly successes: number;
  readonly failures: number;
  readonly exhausted: number;
  /** It answered 410. */
  readonly isGone: boolean;
  /** The address that it is about: one that the endpoint does not have any more counts for nothing. */
  readonly url: string;
  readonly at: number;
};

/** After so many failures in a row an endpoint is only probed: what is due waits, and no attempt is spent on it. */
export const FAILURES_OPEN = 5;
const PAUSE_MS_MIN = 5000;
const PAUSE_MS_MAX = 300_000;
/** Nothing but failures for a day, and so many deliveries given up: nobody is there. */
const DISABLE_AFTER_EXHAUSTED = 10;
/** What its last attempt may be late by: a pause, a sweep, a queue. */
const LATE_MS_MAX = 60_000;
const GIVEN_UP_MAX = 2000;
/** Rows that one result may move: the results of others are written with it. */
const MOVED_MAX = 2000;

/**
 * Failures in a row open a breaker: until `paused_until`, which grows with the outage, nothing is sent, and then one probe is. An
 * endpoint that answers again gets all that waits for it now, not at the next step of a schedule of hours.
 */
export async function recordHealth(sql: Executor, tally: Tally): Promise<void> {
  const { endpointId: id, at, url } = tally;
  const [endpoint] =
    await sql`select 1 from webhook_endpoints where id = ${id} and url = ${url} for no key update`;
  if (endpoint === undefined) return;
  if (tally.isGone) return disable(sql, { id, reason: 'gone', at });
  if (tally.successes > 0) return revive(sql, { id, at });
  const [row] = await sql<{ isHopeless: boolean }[]>`
    update webhook_endpoints set
      failures = failures + ${tally.failures},
      exhausted = exhausted + ${tally.exhausted},
      failing_since = coalesce(failing_since, ${new Date(at)}),
      paused_until = case when failures + ${tally.failures} < ${FAILURES_OPEN} then null else
        ${new Date(at)}::timestamptz + greatest(${PAUSE_MS_MIN}::float8, least(${PAUSE_MS_MAX}::float8,
          extract(epoch from ${new Date(at)}::timestamptz - coalesce(failing_since, ${new Date(at)})) * 500))
          * interval '1 millisecond' end
    where id = ${id}
    returning ${isHopeless(sql, at)}`;
  if (row?.isHopeless === true) await disable(sql, { id, reason: 'failing', at });
}

/**
 * Gives up what was first tried more than a day ago at endpoints that are only probed: nobody has come to it again, and nothing is sent
 * later than that. It counts against the endpoint as if it had been tried to the end.
 */
export async function giveUp(sql: Executor, at: number): Promise<void> {
  const hopeless = await sql<{ id: string; isHopeless: boolean }[]>`
    with over as (
      select d.id from deliveries d join webhook_endpoints w on w.id = d.endpoint_id
      where d.status = 'pending' and d.worker is null and d.first_at < ${new Date(at - WINDOW_MS - LATE_MS_MAX)}
        and w.failures >= ${FAILURES_OPEN}
      limit ${GIVEN_UP_MAX} for update of d skip locked
    ), given_up as (
      update deliveries d set status = 'exhausted', settled_at = ${new Date(at)} from over where d.id = over.id
      returning d.endpoint_id
    ), counted as (
      select endpoint_id, count(*)::int from given_up group by endpoint_id
    )
    update webhook_endpoints w set exhausted = w.exhausted + counted.count from counted where w.id = counted.endpoint_id
    returning w.id, ${isHopeless(sql, at)}`;
  for (const row of hopeless) {
    if (row.isHopeless) await disable(sql, { id: row.id, reason: 'failing', at });
  }
}

/** Of a row that is being updated, as it becomes. */
const isHopeless = (sql: Executor, at: number) => sql`
  failing_since <= ${new Date(at - WINDOW_MS)} and exhausted >= ${DISABLE_AFTER_EXHAUSTED} as "isHopeless"`;

/**
 * What waits for it is due, the oldest first; where that is too much for one result, `failing_since` stays until the next ones have moved
 * the rest.
 */
async function revive(
  sql: Executor,
  { id, at }: { readonly id: string; readonly at: number },
): Promise<void> {
  const now = new Date(at);
  await sql`
    with before as (
      select failures from webhook_endpoints where id = ${id} and (failures > 0 or failing_since is not null)
    ), waiting as (
      -- What somebody is changing at this moment is skipped: they may be waiting for the endpoint, which is locked here.
      select id from deliveries
      where endpoint_id = ${id} and status = 'pending' and worker is null and next_at > ${now}
        and exists (select from before where failures = 0 or failures >= ${FAILURES_OPEN})
      order by next_at limit ${MOVED_MAX} for update skip locked
    ), woken as (
      update deliveries d set next_at = ${now} from waiting where d.id = waiting.id
      returning 1
    ), revived as (
      update webhook_endpoints set failures = 0, exhausted = 0, paused_until = null,
        failing_since = case when (select count(*) from woken) = ${MOVED_MAX} then failing_since end
      where id = ${id} and exists (select from before)
    )
    select pg_notify('tollhouse_deliveries', ${id}) where exists (select from woken)`;
}

/**
 * What it is owed is held until its owner enables it again: the first rows here, the others and what is in a worker's hands by the sweep
 * (owed.ts). Meanwhile nothing of it is claimed.
 */
async function disable(
  sql: Executor,
  { id, reason, at }: { readonly id: string; readonly reason: string; readonly at: number },
): Promise<void> {
  await sql`
    with disabled as (
      update webhook_endpoints set status = 'disabled', disabled_reason = ${reason}, updated_at = ${new Date(at)}
      where id = ${id} and status = 'enabled' returning id
    )
    update deliveries set status = 'held'
    where id in (select id from deliveries
      where endpoint_id in (select id from disabled) and status = 'pending' and worker is null
      limit ${MOVED_MAX} for update skip locked)`;
}
