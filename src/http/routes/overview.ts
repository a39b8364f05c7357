import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Clock, OrgClock } from '../../../ledger/ports.ts';
import { Kept } from '../../platform/kept.ts';
import type { Executor } from '../../platform/postgres/postgres.ts';
import { findOrganisation } from '../../records/organisations.ts';
import {
  countDenialsByHour,
  countFailedPayments,
  countSubscriptions,
  type Days,
  hasBins,
  listCountedMeters,
  readRevenue,
  readUsageByHour,
} from '../../records/overview.ts';
import { countEndpoints } from '../../records/webhook-health.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { daysOf, fromNumbers, Overview } from '../wire/overview.ts';
import { NoQuery } from '../wire/values.ts';
import { weekOf } from '../wire/webhook-health.ts';

export type OverviewDeps = {
  readonly edge: Edge;
  readonly lists: FairSql;
  readonly orgClock: OrgClock;
  /** Deliveries are made on the real time, in test mode too. */
  readonly clock: Clock;
};

const READ = {
  operationId: 'getOverview',
  method: 'GET',
  path: '/reports/overview',
  client: 'reports.overview',
  summary: 'Get the numbers of today, compared with a week ago',
  description:
    "Revenue, usage and denials by hour in the organization's time zone; subscriptions and " +
    'webhooks as of now. The numbers are read one after the other: revenue, subscriptions and ' +
    'failed payments may be one second old, the others include all that was acknowledged.',
  tag: 'Reports',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: NoQuery,
  answers: { 200: Overview },
} as const;

export function overviewRoutes(deps: OverviewDeps): Route[] {
  return [readOverview(deps)];
}

/** What is counted from so many rows is counted once a second, however many look at it. */
const KEPT_MS = 1000;
/** Organizations that are looked at on a node: each has an answer of a few kilobytes. */
const KEPT_MAX = 1000;

type Counted = Awaited<ReturnType<typeof countRows>>;

function readOverview({ edge, lists, orgClock, clock }: OverviewDeps): Route {
  const kept = new Kept<Counted>({ ms: KEPT_MS, max: KEPT_MAX, clock });
  return edge.organisation(READ, ({ principal }) =>
    lists.run(principal, async (sql) => {
      const { timezone: zone } = await findOrganisation(sql, principal);
      const now = orgClock.now(principal);
      const days = daysOf(now, zone);
      const meters = await listCountedMeters(sql, principal);
      // A day that ends, another zone and a test clock that moves: what was counted before is of
      // another day.
      const aheadS = Math.round((now - clock.now()) / 1000);
      const key = [principal.organisationId, principal.mode, days.today[0], aheadS].join();
      const counted = await kept.get(key, () => countRows(sql, principal, { days, now }));
      return Response.json(
        fromNumbers({
          now,
          zone,
          days,
          meters,
          ...counted,
          usage: (await hasBins(sql)) ? await readUsageByHour(sql, meters, days) : null,
          denials: await countDenialsByHour(sql, principal, days),
          webhooks: await countEndpoints(sql, principal, weekOf(clock.now(), zone).today),
        }),
      );
    }),
  );
}

/** What is read from the rows of payments, refunds and subscriptions. */
async function countRows(
  sql: Executor,
  tenant: Tenant,
  { days, now }: { readonly days: Days; readonly now: number },
) {
  return {
    revenue: await readRevenue(sql, tenant, days),
    subscriptions: await countSubscriptions(sql, tenant, now),
    failed: await countFailedPayments(sql, tenant, days),
  };
}
