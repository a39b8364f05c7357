import { Elysia } from 'elysia';
import type { Clock, Ids } from '../ledger/ports.ts';
import type { Settings } from './config.ts';
import type { Edge } from './http/edge.ts';
import { createFallback, type Fallback, withFallback } from './http/fallback.ts';
import { balanceRoutes } from './http/routes/balances.ts';
import { checkRoutes } from './http/routes/check.ts';
import { grantRoutes } from './http/routes/grants.ts';
import { ingestRoutes } from './http/routes/ingest.ts';
import { trackRoutes } from './http/routes/track.ts';
import { customerRoutes } from './http/routes/customers.ts';
import { documentRoutes } from './http/routes/documents.ts';
import { discountRoutes } from './http/routes/discounts.ts';
import { eventRoutes } from './http/routes/events.ts';
import { healthRoutes, type Readiness } from './http/routes/health.ts';
import { invoiceRoutes } from './http/routes/invoices.ts';
import { meterRoutes } from './http/routes/meters.ts';
import { productRoutes } from './http/routes/products.ts';
import type { Changes } from './platform/changes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MeterCatalogue } from './records/meter-catalogue.ts';
import type { Sql } from './platform/postgres.ts';

export type AppDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly changes: Changes;
  readonly readiness: Readiness;
  readonly ledger: Ledger;
  readonly meters: MeterCatalogue;
  readonly settings: Settings;
};

/** The whole HTTP surface. Pure: nothing here connects, listens or reads a clock. */
export function createApp(deps: AppDeps) {
  const { edge, settings } = deps;
  let fallback: Fallback | undefined;
  const app = new Elysia({
    normalize: false,
    // The edge bounds bodies, and answers in the contract's words.
    serve: { maxRequestBodySize: Number.MAX_SAFE_INTEGER },
  });
  const routes = () => app.routes;
  const handle = (request: Request) => app.handle(request);
  return app
    .use(
      withFallback(edge, () => (fallback ??= createFallback({ edge, routes: routes(), handle }))),
    )
    .use(healthRoutes(deps))
    .use(meterRoutes(deps))
    .use(customerRoutes(deps))
    .use(grantRoutes(deps))
    .use(balanceRoutes(deps))
    .use(checkRoutes(deps))
    .use(trackRoutes(deps))
    .use(ingestRoutes(deps))
    .use(productRoutes(deps))
    .use(discountRoutes(deps))
    .use(invoiceRoutes({ edge, sql: deps.sql, appUrl: settings.appUrl }))
    .use(eventRoutes(deps))
    .use(documentRoutes({ edge, baseUrl: settings.baseUrl, routes }));
}
