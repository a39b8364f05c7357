import { Elysia } from 'elysia';
import type { Clock, OrgClock } from '../../../ledger/ports.ts';
import { findOrganisation } from '../../records/organisations.ts';
import {
  countDenialsByHour,
  countFailedPayments,
  countSubscriptions,
  hasBins,
  listCountedMeters,
  readRevenue,
  readUsageByHour,
} from '../../records/overview.ts';
import { countEndpoints } from '../../records/webhook-health.ts';
import type { Edge, Route } from '../edge/edge.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { daysOf, fromNumbers, Overview } from '../wire/overview.ts';
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
  summary: 'How the day goes, beside the same weekday a week before',
  description:
    "Revenue, usage and denials by hour in the organization's time zone; subscriptions and webhooks as they stand. Each number is read by itself, at most a moment apart.",
  tag: 'Reports',
  answers: { 200: Overview },
} as const;

export function overviewRoutes(deps: OverviewDeps) {
  return new Elysia().get('/reports/overview', ...readOverview(deps));
}

function readOverview({ edge, lists, orgClock, clock }: OverviewDeps): Route {
  return edge.organisation(READ, ({ principal }) =>
    lists.run(principal, async (sql) => {
      const { timezone: zone } = await findOrganisation(sql, principal);
      const now = orgClock.now(principal);
      const days = daysOf(now, zone);
      const meters = await listCountedMeters(sql, principal);
      return Response.json(
        fromNumbers({
          now,
          zone,
          days,
          meters,
          revenue: await readRevenue(sql, principal, days),
          subscriptions: await countSubscriptions(sql, principal, now),
          usage: (await hasBins(sql)) ? await readUsageByHour(sql, meters, days) : null,
          denials: await countDenialsByHour(sql, principal, days),
          failed: await countFailedPayments(sql, principal, days),
          webhooks: await countEndpoints(sql, principal, weekOf(clock.now(), zone).today),
        }),
      );
    }),
  );
}
