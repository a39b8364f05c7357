// The health of an endpoint, and what follows from it: it is paused while it fails, resumed when it
// answers, and disabled when it says so or has failed for too long.
import type { Executor } from '../src/platform/postgres/postgres.ts';
import { tell } from '../src/platform/postgres/tell.ts';
import { WINDOW_MS } from './retry-policy.ts';

/** The outcome of one batch of attempts at one endpoint. */
export type Tally = {
  readonly endpointId: string;
  readonly successes: number;
  readonly failures: number;
  readonly exhausted: number;
  /** It answered 410. */
  readonly isGone: boolean;
  /** The URL of the attempts. It counts for nothing where the endpoint has another one by now. */
  readonly url: string;
  readonly at: number;
};

/**
 * After so many failures in a row an endpoint is only probed: its deliveries wait, and no attempt
 * is spent on them.
 */
export const FAILURES_OPEN = 5;
const PAUSE_MS_MIN = 5000;
const PAUSE_MS_MAX = 300_000;
/** All failures for a day, and so many deliveries given up: the endpoint is gone. */
const DISABLE_AFTER_EXHAUSTED = 10;
/** How late the last attempt may be: a pause, a sweep, a queue. */
const LATE_MS_MAX = 60_000;
const GIVEN_UP_MAX = 2000;
/**
 * Rows that one result may move: the results of other endpoints are written in the same statement.
 */
const MOVED_MAX = 2000;

/**
 * A circuit breaker, opened by failures in a row: until `paused_until`, which grows with the
 * outage, nothing is sent, and then one probe is. An endpoint that answers again gets all waiting
 * deliveries now, not at the next step of a schedule of hours.
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
 * Gives up deliveries that were first tried more than a day ago, at endpoints that are only probed:
 * no attempt has reached them again, and nothing is sent later than that. Each counts against the
 * endpoint as an exhausted one.
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

/** The new value in a row that is being updated. */
const isHopeless = (sql: Executor, at: number) => sql`
  failing_since <= ${new Date(at - WINDOW_MS)} and exhausted >= ${DISABLE_AFTER_EXHAUSTED} as "isHopeless"`;

/**
 * Makes the endpoint's waiting deliveries due, the oldest first. Where they are too many for one
 * result, `failing_since` stays until the next results have moved the rest.
 */
async function revive(
  sql: Executor,
  { id, at }: { readonly id: string; readonly at: number },
): Promise<void> {
  const now = new Date(at);
  const due = await sql`
    with before as (
      select failures from webhook_endpoints where id = ${id} and (failures > 0 or failing_since is not null)
    ), waiting as (
      -- Skips rows that another transaction is changing: it may be waiting for the endpoint, which
      -- is locked here.
      select id from deliveries
      where endpoint_id = ${id} and status = 'pending' and worker is null and next_at > ${now}
        and exists (select from before where failures = 0 or failures >= ${FAILURES_OPEN})
      order by next_at limit ${MOVED_MAX} for update skip locked
    ), made_due as (
      update deliveries d set next_at = ${now} from waiting where d.id = waiting.id
      returning 1
    ), revived as (
      update webhook_endpoints set failures = 0, exhausted = 0, paused_until = null,
        failing_since = case when (select count(*) from made_due) = ${MOVED_MAX} then failing_since end
      where id = ${id} and exists (select from before)
    )
    select from made_due limit 1`;
  if (due.length > 0) tell(sql, 'tollhouse_deliveries', id);
}

/**
 * Holds the endpoint's deliveries until its owner enables it again. This moves the first rows; the
 * sweep moves the others, and those that a worker has (src/records/delivery-reconciliation.ts).
 * Meanwhile none of them is claimed.
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
