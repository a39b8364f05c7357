// Metrics from PostgreSQL, read when Prometheus scrapes: what is late, stuck or owed.
//
// Holds: a scrape uses one connection at most, and QUERY_MS_MAX for each of a few queries;
// concurrent scrapes share the answers. A value that does not come in time is NaN, and the other
// metrics are sent all the same. No query reads more than an index of what is late or open.
// Does not: run without a scrape.
import type { Registry } from 'prom-client';
import type { Timers } from '../../ledger/ports.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { gauge, gaugeBy } from './numbers.ts';

/** The statement timeout of the pool that asks. */
export const QUERY_MS_MAX = 500;
/** All queries together, also where the database does not answer. */
const ANSWER_MS_MAX = 2000;

type Row = Readonly<Record<string, number>>;

/**
 * Each column is a gauge, and `help` says what it is. An age is 0 where there is nothing to wait
 * for.
 */
type Query = {
  readonly help: Readonly<Record<string, string>>;
  readonly sql: string;
};

/** What an account at a processor and these books may differ in. */
const DIFFERENCE_KINDS = ['missing', 'extra', 'amount', 'currency', 'state'] as const;

const AGE = (of: string): string =>
  `coalesce(greatest(extract(epoch FROM now() - ${of}), 0), 0)::float8`;

const QUERIES: readonly Query[] = [
  {
    help: {
      alarms_customers_overdue_seconds:
        'How late the oldest alarm of a customer is: of its meters or its subscriptions.',
      alarms_payments_overdue_seconds:
        'How long ago the processor should have been asked again about a payment or a refund.',
    },
    sql: `
      SELECT ${AGE("min(due_at) FILTER (WHERE kind <> 'payment')")} AS alarms_customers_overdue_seconds,
        ${AGE("min(due_at) FILTER (WHERE kind = 'payment')")} AS alarms_payments_overdue_seconds
      FROM alarms WHERE due_at <= now()`,
  },
  {
    help: {
      refunds_pending: 'Refunds that are not settled.',
      refunds_pending_oldest_seconds: 'How long ago the oldest of them was asked for.',
    },
    sql: `
      SELECT count(*)::float8 AS refunds_pending, ${AGE('min(created_at)')} AS refunds_pending_oldest_seconds
      FROM refunds WHERE ask_at IS NOT NULL AND status = 'pending'`,
  },
  {
    help: {
      followups_oldest_seconds: 'How long a commit has owed its checkout or invoice.',
      followups_failing: 'Follow-ups that failed and are tried again.',
      followups_dead: 'Follow-ups that were given up: an operator has to look.',
    },
    sql: `
      SELECT ${AGE('(SELECT min(written_at) FROM followups WHERE failing_since IS NULL)')} AS followups_oldest_seconds,
        count(*) FILTER (WHERE dead_at IS NULL)::float8 AS followups_failing,
        count(dead_at)::float8 AS followups_dead
      FROM followups WHERE failing_since IS NOT NULL`,
  },
  {
    help: {
      events_waiting:
        'Events that were committed and that the relay has not passed on yet, a million at most.',
      events_waiting_oldest_seconds: 'How long ago the oldest of them was written.',
      events_set_aside: 'Events that could not be passed on, and that nobody is told of.',
    },
    // The oldest of each organisation, skipping from one organisation to the next: there is no
    // index by time.
    sql: `
      WITH RECURSIVE oldest AS (
        (SELECT organisation_id, written_at FROM event_queue ORDER BY organisation_id, place LIMIT 1)
        UNION ALL
        SELECT next.* FROM oldest CROSS JOIN LATERAL (
          SELECT organisation_id, written_at FROM event_queue q WHERE q.organisation_id > oldest.organisation_id
          ORDER BY organisation_id, place LIMIT 1
        ) next
      )
      SELECT ${AGE('min(written_at)')} AS events_waiting_oldest_seconds,
        (SELECT count(*) FROM (SELECT FROM event_queue LIMIT 1000000) q)::float8 AS events_waiting,
        (SELECT count(*) FROM event_faults)::float8 AS events_set_aside
      FROM oldest`,
  },
  {
    help: {
      usage_waiting: 'Accounts in flushes whose usage is not in bins yet.',
      usage_waiting_oldest_seconds: 'How long ago the oldest of these flushes was written.',
      usage_backfills:
        'Tables with usage or corrections of an earlier release that are not in bins yet.',
    },
    sql: `
      SELECT coalesce(sum(cardinality(slots)), 0)::float8 AS usage_waiting,
        ${AGE('min(written_at)')} AS usage_waiting_oldest_seconds,
        ((SELECT count(*) FROM usage_backfills) + (SELECT count(*) FROM correction_backfills))::float8 AS usage_backfills
      FROM (SELECT slots, written_at FROM usage_deltas ORDER BY node, seq LIMIT 10000) d`,
  },
  {
    help: {
      deliveries_due_oldest_seconds:
        'How long the oldest delivery has been due that no worker has in hand, of endpoints that take some.',
      deliveries_paused_oldest_seconds:
        'The same, of endpoints whose breaker is open: they fail, and are only probed.',
    },
    sql: `
      SELECT ${AGE('min(next_at) FILTER (WHERE paused_until IS NULL)')} AS deliveries_due_oldest_seconds,
        ${AGE('min(next_at) FILTER (WHERE paused_until IS NOT NULL)')} AS deliveries_paused_oldest_seconds
      FROM webhook_endpoints w CROSS JOIN LATERAL (
        SELECT next_at FROM deliveries d
        WHERE d.endpoint_id = w.id AND d.status = 'pending' AND d.worker IS NULL ORDER BY next_at LIMIT 1
      ) AS first
      WHERE w.deleted_at IS NULL AND w.status = 'enabled'`,
  },
  {
    help: {
      endpoints_enabled: 'Webhook endpoints that are enabled.',
      endpoints_breaker_open: 'Of them, those that fail and are only probed.',
      endpoints_disabled_by_us:
        'Endpoints that were disabled because they were gone or failed for too long.',
    },
    sql: `
      SELECT count(*) FILTER (WHERE status = 'enabled')::float8 AS endpoints_enabled,
        count(*) FILTER (WHERE status = 'enabled' AND paused_until IS NOT NULL)::float8 AS endpoints_breaker_open,
        count(*) FILTER (WHERE disabled_reason IS NOT NULL)::float8 AS endpoints_disabled_by_us
      FROM webhook_endpoints WHERE deleted_at IS NULL`,
  },
  {
    help: {
      mails_due_oldest_seconds:
        'How long the oldest mail to a buyer that could be sent has been due.',
      mails_pending: 'Mails to buyers that are neither sent nor given up.',
    },
    sql: `
      SELECT ${AGE('min(next_at)')} AS mails_due_oldest_seconds, count(*)::float8 AS mails_pending
      FROM mails WHERE status = 'pending'`,
  },
  {
    help: {
      mails_given_up: 'Mails that could not be sent within a day, in the last 24 hours.',
      mails_refused: 'Mails that the mail server refused for good, in the last 24 hours.',
    },
    sql: `
      SELECT count(*) FILTER (WHERE status = 'given_up')::float8 AS mails_given_up,
        count(*) FILTER (WHERE status = 'refused')::float8 AS mails_refused
      FROM mails WHERE status IN ('given_up', 'refused') AND settled_at > now() - interval '1 day'`,
  },
  {
    help: {
      reconciliation_oldest_seconds:
        'How long ago the connected account was reconciled that has waited longest, or connected where it never was.',
    },
    sql: `
      SELECT ${AGE('min(coalesce(last.finished_at, a.connected_at))')} AS reconciliation_oldest_seconds
      FROM processor_accounts a LEFT JOIN LATERAL (
        SELECT finished_at FROM reconciliation_runs r
        WHERE r.account_id = a.id AND r.finished_at IS NOT NULL AND r.error IS NULL ORDER BY begun_at DESC LIMIT 1
      ) last ON true
      WHERE a.ended_at IS NULL`,
  },
  {
    help: {},
    sql: `
      SELECT ${DIFFERENCE_KINDS.map((kind) => `count(*) FILTER (WHERE kind = '${kind}')::float8 AS differences_${kind}`).join(', ')}
      FROM reconciliation_differences WHERE resolved_at IS NULL AND accepted_at IS NULL`,
  },
  {
    help: {
      processors_failing: 'Connected accounts whose key the processor refuses: nothing is charged.',
    },
    sql: `SELECT count(*)::float8 AS processors_failing FROM processor_accounts
      WHERE status = 'failing' AND ended_at IS NULL`,
  },
  {
    help: { deliveries_in_flight: 'Deliveries that a worker has in hand, of all processes.' },
    sql: `SELECT count(*)::float8 AS deliveries_in_flight FROM deliveries WHERE worker IS NOT NULL`,
  },
  {
    help: { deliveries_held: 'Deliveries that wait for their endpoint to be enabled.' },
    sql: `SELECT count(*)::float8 AS deliveries_held FROM deliveries WHERE status = 'held'`,
  },
];

/** `sql` is a pool of its own, with one connection and QUERY_MS_MAX. */
export function watchDatabase(
  registry: Registry,
  { sql, timers }: { readonly sql: Sql; readonly timers: Timers },
): void {
  let asking: Promise<Row> | null = null;
  const answers = (): Promise<Row> => (asking ??= ask(sql, timers).finally(() => (asking = null)));
  const names = QUERIES.flatMap(({ help }) => Object.entries(help));
  for (const [name, help] of names) {
    const read = async (): Promise<number> => (await answers())[name] ?? NaN;
    gauge(registry, { name: `tollhouse_${name}`, help, read });
  }
  gaugeBy(registry, {
    name: 'tollhouse_reconciliation_differences',
    help: 'Differences between accounts at processors and these books that are neither resolved nor accepted.',
    label: 'kind',
    values: DIFFERENCE_KINDS,
    read: async (kind) => (await answers())[`differences_${kind}`] ?? NaN,
  });
  gauge(registry, {
    name: 'tollhouse_database_up',
    help: '1 where it answered all that it was asked for these numbers.',
    async read() {
      const row = await answers();
      return names.every(([name]) => name in row) ? 1 : 0;
    },
  });
}

/** The values that came in time. */
async function ask(sql: Sql, timers: Timers): Promise<Row> {
  const row: Record<string, number> = {};
  let isLate = false;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(ANSWER_MS_MAX, () => {
    isLate = true;
    resolve();
  });
  const all = async (): Promise<void> => {
    for (const query of QUERIES) {
      if (isLate) return;
      try {
        const [found] = await sql.unsafe<Row[]>(query.sql);
        Object.assign(row, found);
      } catch {
        // A failed query leaves its values unknown; the next may succeed.
      }
    }
  };
  await Promise.race([all(), late]);
  cancel();
  return { ...row };
}
