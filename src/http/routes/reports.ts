import type { Route } from '../edge/edge.ts';
import { type OverviewDeps, overviewRoutes } from './overview.ts';
import { payoutRoutes } from './payouts.ts';
import { webhookHealthRoutes } from './webhook-health.ts';

/** What came of it, for the books and at a glance. */
export function reportRoutes(deps: OverviewDeps): Route[] {
  return [...overviewRoutes(deps), ...payoutRoutes(deps), ...webhookHealthRoutes(deps)];
}
