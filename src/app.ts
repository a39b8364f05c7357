import { Elysia } from 'elysia';
import type { Registry } from 'prom-client';
import type { Clock, Ids, OrgClock, Timers } from '../ledger/ports.ts';
import type { Settings } from './config.ts';
import type { Acting } from './http/edge/acting.ts';
import { clientAddress, wholeClientAddress } from './http/edge/client-address.ts';
import type { Edge, Route } from './http/edge/edge.ts';
import { refuse } from './http/edge/errors.ts';
import type { FairSql } from './http/edge/fair-sql.ts';
import { CsvDownloads } from './http/csv-downloads.ts';
import { UsageCsv } from './http/usage-csv.ts';
import { createFallback, type Fallback, withFallback } from './http/edge/fallback.ts';
import { apiKeyRoutes } from './http/routes/api-keys.ts';
import { auditLogRoutes } from './http/routes/audit-log.ts';
import { alertRoutes } from './http/routes/alerts.ts';
import { annotationRoutes } from './http/routes/annotations.ts';
import { balanceRoutes } from './http/routes/balances.ts';
import { brandingRoutes } from './http/routes/branding.ts';
import { buyLinkRoutes } from './http/routes/buy-links.ts';
import { checkRoutes } from './http/routes/check.ts';
import { checkoutRoutes } from './http/routes/checkouts.ts';
import { embedRoutes } from './http/routes/embed.ts';
import { entitlementRoutes } from './http/routes/entitlements.ts';
import { grantRoutes } from './http/routes/grants.ts';
import { ingestRoutes } from './http/routes/ingest.ts';
import { trackRoutes } from './http/routes/track.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import type { Door } from './dashboard/serve/door.ts';
import type { OpenPage } from './dashboard/serve/page.ts';
import { decisionRoutes } from './http/routes/decisions.ts';
import { customerRoutes } from './http/routes/customers.ts';
import { documentRoutes } from './http/routes/documents.ts';
import { deliveryRoutes } from './http/routes/deliveries.ts';
import { discountRoutes } from './http/routes/discounts.ts';
import { eventRoutes } from './http/routes/events.ts';
import { healthRoutes, type Readiness } from './http/routes/health.ts';
import { invoiceLinkRoutes } from './http/routes/invoice-links.ts';
import { invoiceRoutes } from './http/routes/invoices.ts';
import { memberRoutes } from './http/routes/members.ts';
import { meterRoutes } from './http/routes/meters.ts';
import { metricsRoutes } from './http/routes/metrics.ts';
import { organizationRoutes } from './http/routes/organization.ts';
import { partnerRoutes } from './http/routes/partner.ts';
import { payRoutes } from './http/routes/pay.ts';
import { paymentRoutes } from './http/routes/payments.ts';
import { portalRoutes } from './http/routes/portal.ts';
import { portalTokenRoutes } from './http/routes/portal-tokens.ts';
import { processorRoutes } from './http/routes/processors.ts';
import { processorWebhookRoutes } from './http/routes/processor-webhooks.ts';
import { productRoutes } from './http/routes/products.ts';
import { reportRoutes } from './http/routes/reports.ts';
import { reservationRoutes } from './http/routes/reservations.ts';
import { sandboxRoutes } from './http/routes/sandbox.ts';
import { autoTopupRoutes } from './http/routes/auto-topups.ts';
import { creditRoutes } from './http/routes/credit.ts';
import { spendCapRoutes } from './http/routes/spend-cap.ts';
import { subscriptionPreviewRoutes } from './http/routes/subscription-previews.ts';
import { subscriptionRoutes } from './http/routes/subscriptions.ts';
import { testClockRoutes } from './http/routes/test-clock.ts';
import { usageRoutes } from './http/routes/usage.ts';
import { usagePriceRoutes } from './http/routes/usage-prices.ts';
import { webhookEndpointRoutes } from './http/routes/webhook-endpoints.ts';
import type { Denials } from './decisions/denials.ts';
import type { EventStreams } from './event-stream/event-streams.ts';
import type { Openings } from './payments/openings.ts';
import type { Payments } from './payments/payments.ts';
import type { UserMailer } from './people/user-mailer.ts';
import type { Changes } from './platform/postgres/changes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MeterCatalogue } from './metering/meter-catalogue.ts';
import type { InvoiceLinks } from './invoices/links.ts';
import type { Late } from './platform/late.ts';
import type { KeyLocks } from './platform/postgres/key-locks.ts';
import type { Sql } from './platform/postgres/postgres.ts';
import type { Resolve } from './platform/net/public-url.ts';
import type { RateLimiter } from './platform/redis/rate-limit.ts';
import type { Secrets } from './platform/crypto/secrets.ts';
import type { ProcessorAccounts } from './processors/connecting.ts';
import type { ProcessorWebhooks } from './processors/incoming.ts';
import type { Processors } from './processors/processor.ts';
import type { Sandbox } from './processors/sandbox.ts';
import type { TestClocks } from './test-clock/test-clocks.ts';
import type { Subscriptions } from './subscriptions/subscriptions.ts';

export type OperatorsAppDeps = Pick<AppDeps, 'edge' | 'readiness' | 'registry' | 'settings'>;

export type AppDeps = {
  readonly edge: Edge;
  readonly clients: Late<(request: Request) => string>;
  readonly sql: Sql;
  readonly lists: FairSql;
  readonly replays: FairSql;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly orgClock: OrgClock;
  readonly keyLocks: KeyLocks;
  readonly hasFormerKeys: boolean;
  readonly changes: Changes;
  readonly readiness: Readiness;
  readonly ledger: Ledger;
  readonly meters: MeterCatalogue;
  readonly settings: Settings;
  readonly limiter: RateLimiter;
  readonly newToken: () => string;
  readonly openings: Openings;
  readonly registry: Registry;
  readonly secrets: Secrets;
  readonly newSigningSecret: () => string;
  readonly invoiceLinks: InvoiceLinks;
  readonly resolve: Resolve;
  readonly payments: Payments;
  readonly testClocks: TestClocks;
  readonly subscriptions: Subscriptions;
  readonly sandbox: Sandbox;
  readonly processors: Processors;
  readonly processorAccounts: ProcessorAccounts;
  readonly processorWebhooks: ProcessorWebhooks;
  readonly eventStreams: EventStreams;
  readonly acting: Acting;
  readonly door: Door;
  readonly openPages: readonly OpenPage[];
  readonly userMailer: UserMailer;
  readonly denials: Denials;
};

/** The whole HTTP surface. Pure: nothing here connects, listens or reads a clock. */
export function createApp(deps: AppDeps) {
  const { edge, settings } = deps;
  let fallback: Fallback | undefined;
  // The edge bounds bodies, and answers in the contract's words.
  const serve = { maxRequestBodySize: Number.MAX_SAFE_INTEGER };
  const app = new Elysia({ normalize: false, serve });
  const peerOf = (request: Request) => app.server?.requestIP(request)?.address ?? '';
  const forwarded = (request: Request) => ({
    forwardedFor: request.headers.get('x-forwarded-for'),
    hops: settings.proxyHops,
  });
  const addressOf = (request: Request) => clientAddress(peerOf(request), forwarded(request));
  deps.clients.bind((request) => wholeClientAddress(peerOf(request), forwarded(request)));
  const idleAtMost = (request: Request, seconds: number): void =>
    app.server?.timeout(request, seconds);
  const downloads = new CsvDownloads({ ...deps, idleAtMost });
  const usageCsv = new UsageCsv({ ...deps, downloads });
  const routes = () => app.routes;
  const handle = (request: Request) => app.handle(request);
  app.use(
    withFallback(edge, () => (fallback ??= createFallback({ edge, routes: routes(), handle }))),
  );
  mount(app, apiRoutes({ ...deps, addressOf, idleAtMost, downloads, usageCsv }));
  app.use(dashboardRoutes({ ...deps, handle, addressOf }));
  mount(app, [
    ...healthRoutes(deps),
    ...metricsRoutes({ ...deps, peerOf }),
    ...documentRoutes({ edge, settings, routes }),
  ]);
  return app;
}

type RouteDeps = AppDeps & {
  readonly addressOf: (request: Request) => string;
  readonly idleAtMost: (request: Request, seconds: number) => void;
  readonly downloads: CsvDownloads;
  readonly usageCsv: UsageCsv;
};

/** In the order in which the document shows them. */
const apiRoutes = (deps: RouteDeps): Route[] => [
  ...meterRoutes(deps),
  ...customerRoutes(deps),
  ...grantRoutes(deps),
  ...balanceRoutes(deps),
  ...spendCapRoutes(deps),
  ...creditRoutes(deps),
  ...autoTopupRoutes(deps),
  ...meteringRoutes(deps),
  ...alertRoutes(deps),
  ...productRoutes(deps),
  ...entitlementRoutes(deps),
  ...usagePriceRoutes(deps),
  ...discountRoutes(deps),
  ...checkoutRoutes(deps),
  ...buyLinkRoutes(deps),
  ...payRoutes(deps),
  ...embedRoutes(deps),
  ...paymentRoutes(deps),
  ...reportRoutes(deps),
  ...subscriptionRoutes(deps),
  ...subscriptionPreviewRoutes(deps),
  ...invoiceRoutes({ ...deps, appUrl: deps.settings.appUrl }),
  ...invoiceLinkRoutes(deps),
  ...portalTokenRoutes(deps),
  ...portalRoutes(deps),
  ...eventRoutes(deps),
  ...webhookEndpointRoutes(deps),
  ...deliveryRoutes(deps),
  ...partnerRoutes(deps),
  ...organizationRoutes(deps),
  ...brandingRoutes(deps),
  ...processorRoutes(deps),
  ...processorWebhookRoutes(deps),
  ...apiKeyRoutes(deps),
  ...memberRoutes(deps),
  ...auditLogRoutes(deps),
  ...annotationRoutes(deps),
  ...testClockRoutes({ ...deps, patient: (request) => deps.idleAtMost(request, 0) }),
  ...sandboxRoutes(deps),
];

const meteringRoutes = (deps: AppDeps): Route[] => [
  ...checkRoutes(deps),
  ...reservationRoutes(deps),
  ...trackRoutes(deps),
  ...ingestRoutes(deps),
  ...decisionRoutes(deps),
  ...usageRoutes(deps),
];

/** Each where its operation says. */
function mount(app: Elysia, routes: readonly Route[]): void {
  for (const [handler, hook] of routes) {
    const { method, path } = hook.detail.operation;
    app.route(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), handler, hook);
  }
}

/** What operators ask of one process, where several share a port. */
export function createOperatorsApp(deps: OperatorsAppDeps) {
  const app = new Elysia();
  const peerOf = (request: Request) => app.server?.requestIP(request)?.address ?? '';
  mount(app, [...healthRoutes(deps), ...metricsRoutes({ ...deps, peerOf })]);
  return app.all('/*', ({ request }) =>
    deps.edge.finish(request, refuse('not_found', 'no such route')),
  );
}
