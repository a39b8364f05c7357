// The service, put together: what main.ts starts and what the tests start.
//
//     connections ─▶ node (ledger, peers) ─▶ callers, business (payments, subscriptions) ─▶ routes
//
// Each stage gets what the stages before it return. Where a part calls one that is made later, it
// holds a `Late`, and the later stage binds it.
import { createApp, createOperatorsApp } from './app.ts';
import type { Ledger, LedgerDeps } from '../ledger/ledger.ts';
import { type MeterCatalogue, openMeterCatalogue } from './metering/meter-catalogue.ts';
import { openAlertBook } from './metering/alert-book.ts';
import { openPoolBook } from './metering/pool-book.ts';
import { listListeners, openEventListeners } from './metering/event-listeners.ts';
import { countTakes } from './metrics/rate-limits.ts';
import { openInvoiceLinks } from './invoices/links.ts';
import type { Payments } from './payments/payments.ts';
import { timers } from './platform/clock.ts';
import { checkSecrets, openSecrets } from './platform/crypto/secrets.ts';
import { newSigningSecret, SECRET_BYTES } from './platform/crypto/signing-secret.ts';
import { newToken } from './platform/crypto/tokens.ts';
import { ids } from './platform/ids.ts';
import { Late } from './platform/late.ts';
import { openNames } from './platform/net/dns.ts';
import type { Denials } from './decisions/denials.ts';
import type { EventStreams } from './event-stream/event-streams.ts';
import type { Changes } from './platform/postgres/changes.ts';
import { onEach, type Sql } from './platform/postgres/postgres.ts';
import { openRateLimiter } from './platform/redis/rate-limit.ts';
import { openRedis } from './platform/redis/redis.ts';
import { recordAddresses } from './records/installation.ts';
import { listAlertsForAll } from './records/alerts.ts';
import { listCountedPools, listLaterLists, listMembers } from './records/credit-costs.ts';
import { findActiveMeter, listMetersOfEvent } from './records/meters.ts';
import { findSealedProcessorKey } from './records/processor-accounts.ts';
import { findSealedSecondFactor } from './records/second-factors.ts';
import { hasFormerKeys } from './records/usage-keys.ts';
import { findSealedSecret } from './records/webhook-endpoints.ts';
import { type Business, openBusiness, openOwnDelivery } from './service/business.ts';
import { type Callers, openCallers } from './service/callers.ts';
import {
  type Connections,
  endConnections,
  openConnections,
  warmConnections,
} from './service/connections.ts';
import { openEventStreams } from './service/event-streams.ts';
import { openAlertLooks } from './service/alert-looks.ts';
import { openUsageFolder } from './service/usage-folder.ts';
import { type Node, openNode } from './service/node.ts';
import { openDenials } from './service/denials.ts';
import { openPeople, type People } from './service/people.ts';
import type { ServiceOptions } from './service/options.ts';
import type { Subscriptions } from './subscriptions/subscriptions.ts';
import type { TopUps } from './topups/topups.ts';
import type { TestClocks } from './test-clock/test-clocks.ts';

export type Service = {
  readonly app: ReturnType<typeof createApp>;
  /** What operators ask of this process alone. */
  readonly operatorsApp: ReturnType<typeof createOperatorsApp>;
  readonly ledger: Ledger;
  readonly payments: Payments;
  readonly sql: Sql;
  readonly changes: Changes;
  /** Writes what is written now and then. */
  flush(): Promise<void>;
  /** Ends the answers that stay open, and opens no more: their callers go on at another node. */
  endStreams(): void;
  /**
   * Sends callers to other nodes: /ready says 503, and each answer ends its connection. Returns a
   * function that counts the answers since then.
   */
  leave(): () => number;
  /**
   * Takes no new work, writes what was taken, lets the seat go, and disconnects. Stop listening
   * before.
   */
  close(): Promise<void>;
  /** Refuses what has not been answered: the process must end now. */
  abandon(): void;
};

/**
 * Joins the other nodes last: they hand over customers at once, and these would wait while this
 * process is busy building its routes.
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const late = {
    ledger: new Late<Ledger>('ledger'),
    payments: new Late<Payments>('payments'),
    subscriptions: new Late<Subscriptions>('subscriptions'),
    topUps: new Late<TopUps>('automatic top-ups'),
    testClocks: new Late<TestClocks>('test clocks'),
  };
  const connections = await openConnections(options, late.ledger);
  const { sql, changes, metrics, keyLocks } = connections;
  const node = openNode(options, connections, {
    ...late,
    ...calledByLedger(late),
    ...(await openAsked(connections)),
  });
  const signing = await openSigning(options, sql);
  const redis = openRedis({ url: options.redisUrl, warn: connections.warn });
  const limiter = countTakes(metrics.registry, openRateLimiter(redis));
  const callers = openCallers(options, connections, limiter);
  const { secrets } = signing;
  const business = await openBusiness(options, { connections, node, limiter, secrets }, late);
  metrics.watch(node.ledger, { peers: node.peers, orgClock: connections.orgClock });
  const delivery = await openOwnDelivery(options, connections);
  const eventStreams = openEventStreams(options, connections, callers);
  const denials = openDenials(options, connections, node);
  const people = openPeople(options, connections, { limiter, secrets });
  const parts = { connections, node, callers, business, eventStreams, denials, people };
  const app = await openApp(options, { ...parts, limiter, signing });
  const { storage, ledger, peers } = node;
  await Promise.all([
    recordAddresses(sql, options.settings),
    storage.warm(onEach),
    warmConnections(connections),
    eventStreams.open(),
  ]);
  await ledger.open();
  const beside = [
    openUsageFolder(options, connections),
    openAlertLooks(options, connections, ledger),
  ];
  const { payments, subscriptions, topUps, hints, reconciler } = business;
  const { auth, edge } = callers;
  return {
    ...app,
    ledger,
    payments,
    sql,
    changes,
    async flush() {
      await Promise.all([auth.close(), denials.flush()]);
    },
    endStreams: () => eventStreams.end(),
    leave() {
      ledger.leave();
      return edge.leave();
    },
    abandon: () => ledger.abandon(),
    async close() {
      await eventStreams.close();
      const owing = [...beside, delivery, hints, reconciler, topUps, subscriptions, payments];
      for (const part of [people.userMailer, ...owing]) await part?.close();
      for (const open of [ledger, peers, auth, denials, changes, keyLocks, metrics])
        await open?.close();
      redis.disconnect();
      await Promise.all([storage.end(), endConnections(connections)]);
    },
  };
}

/** Alarms that are due, and charges that are ordered. */
function calledByLedger(late: {
  readonly payments: Late<Payments>;
  readonly subscriptions: Late<Subscriptions>;
  readonly topUps: Late<TopUps>;
}): Pick<LedgerDeps, 'onPaymentDue' | 'onSubscriptionDue' | 'onTopUpsOrdered'> {
  return {
    onPaymentDue: (id) => late.payments.get().due(id),
    onSubscriptionDue: (tenant, id) => late.subscriptions.get().due(tenant, id),
    onTopUpsOrdered: (orders) => late.topUps.get().ordered(orders),
  };
}

type Parts = {
  readonly connections: Connections;
  readonly node: Node;
  readonly callers: Callers;
  readonly business: Business;
  readonly limiter: ReturnType<typeof openRateLimiter>;
  readonly signing: Awaited<ReturnType<typeof openSigning>>;
  readonly eventStreams: EventStreams;
  readonly denials: Denials;
  readonly people: People;
};

/** The last stage: the routes. */
async function openApp(
  options: ServiceOptions,
  {
    connections,
    node: { ledger },
    callers: { edge, acting, clients },
    business,
    limiter,
    signing,
    eventStreams,
    denials,
    people,
  }: Parts,
) {
  const { settings } = options;
  const { sql, clock, metrics } = connections;
  const { registry } = metrics;
  const readiness = () => ledger.readiness();
  const app = createApp({
    ...connections,
    ...business,
    ...signing,
    edge,
    acting,
    ...people,
    clients,
    eventStreams,
    denials,
    readiness,
    ledger,
    limiter,
    settings,
    registry,
    ids,
    timers,
    newToken,
    hasFormerKeys: await hasFormerKeys(sql),
    meters: openMeters(connections),
    resolve: openNames({ clock }),
  });
  return { app, operatorsApp: createOperatorsApp({ edge, readiness, registry, settings }) };
}

/** The secrets of webhooks: how they are stored, how one is made. And the links in mails. */
async function openSigning({ secretsKey }: ServiceOptions, sql: Sql) {
  const secrets = openSecrets(secretsKey);
  const stored = await Promise.all([
    findSealedSecret(sql),
    findSealedProcessorKey(sql),
    findSealedSecondFactor(sql),
  ]);
  checkSecrets(secrets, ...stored);
  const random = () => crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const invoiceLinks = openInvoiceLinks(secretsKey);
  return { secrets, newSigningSecret: () => newSigningSecret(random()), invoiceLinks };
}

/**
 * What each decision on usage asks, without a promise: who hears of it, which alerts there are,
 * what pays.
 */
async function openAsked({
  sql,
  changes,
}: Connections): Promise<Pick<LedgerDeps, 'wants' | 'alertsOf' | 'poolOf'>> {
  const listeners = await openEventListeners({ list: () => listListeners(sql), changes, timers });
  const heard = { changes, timers };
  const [alerts, pools] = await Promise.all([
    openAlertBook({ ...heard, list: (organisationId) => listAlertsForAll(sql, organisationId) }),
    openPoolBook({
      ...heard,
      pools: (organisationId) => listCountedPools(sql, organisationId),
      listsAfter: (known, limit) => listLaterLists(sql, known, limit),
      meters: (meterIds) => listMembers(sql, meterIds),
    }),
  ]);
  return {
    wants: (tenant, type) => listeners.wants(tenant, type),
    alertsOf: alerts.of,
    poolOf: pools.of,
  };
}

function openMeters({ sql, changes }: Connections): MeterCatalogue {
  return openMeterCatalogue({
    source: {
      findBySlug: (scope, slug) => findActiveMeter(sql, scope, slug),
      listByEventName: (scope, name) => listMetersOfEvent(sql, scope, name),
    },
    changes,
  });
}
