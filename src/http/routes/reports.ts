import { Elysia } from 'elysia';
import { type OverviewDeps, overviewRoutes } from './overview.ts';
import { payoutRoutes } from './payouts.ts';
import { webhookHealthRoutes } from './webhook-health.ts';

/** What came of it, for the books and at a glance. */
export function reportRoutes(deps: OverviewDeps) {
  const parts = [overviewRoutes(deps), payoutRoutes(deps), webhookHealthRoutes(deps)];
  const routes = new Elysia();
  for (const part of parts) routes.use(part);
  return routes;
}
