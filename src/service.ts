// The service, put together: what main.ts starts and what the tests start.
import type { Tenant } from '../ledger/kernel/tenant.ts';
import type { Log } from './platform/log.ts';
import { Batcher } from '../ledger/actor/batcher.ts';
import { Ledger, type LedgerDeps } from '../ledger/ledger.ts';
import type { Clock, OrgClock } from '../ledger/ports.ts';
import type { Registry } from 'prom-client';
import { slotOf } from '../ledger/kernel/slot.ts';
import {
  flushMsMax,
  type PostgresStorage,
  postgresStorage,
} from '../ledger/store/postgres-storage.ts';
import { journalName } from '../ledger/store/nodes.ts';
import { createApp, createOperatorsApp } from './app.ts';
import type { NodePlace, Settings } from './config.ts';
import {
  type Authenticator,
  type AuthenticatorOptions,
  LOOKUPS_MAX,
  openAuthenticator,
} from './http/edge/auth.ts';
import { createEdge, type Edge } from './http/edge/edge.ts';
import { FairSql } from './http/edge/fair-sql.ts';
import { renderCheck } from './http/wire/metering.ts';
import { openKeyed } from './http/idempotency/keyed.ts';
import { openPortalDoor, type PortalDoorDeps } from './http/portal/visitor.ts';
import {
  type Change,
  type Changes,
  listenForChanges,
  type OpenChanges,
} from './platform/postgres/changes.ts';
import { openDelivery } from '../workers/delivery.ts';
import { openMailer } from '../workers/mail/open.ts';
import { attemptObserver } from './metrics/deliveries.ts';
import { mailObserver } from './metrics/mails.ts';
import { openMetrics } from './metrics/open.ts';
import { countTakes } from './metrics/rate-limits.ts';
import { openPayments, type PaymentsDeps } from './payments/open.ts';
import type { Payments } from './payments/payments.ts';
import { openSubscriptions } from './subscriptions/open.ts';
import type { Subscriptions } from './subscriptions/subscriptions.ts';
import { clock as ownClock, timers } from './platform/clock.ts';
import { openOrgClocks, type TestClock } from './platform/org-clock.ts';
import { ids } from './platform/ids.ts';
import { KeyLocks } from './platform/postgres/key-locks.ts';
import { listenOn } from './platform/net/listen.ts';
import { openNames } from './platform/net/dns.ts';
import { OpenPeers } from './platform/peers/peers.ts';
import { onEach, openPool, type Sql } from './platform/postgres/postgres.ts';
import { openRateLimiter } from './platform/redis/rate-limit.ts';
import { openRedis } from './platform/redis/redis.ts';
import { checkSecrets, openSecrets } from './platform/crypto/secrets.ts';
import { newSigningSecret, SECRET_BYTES } from './platform/crypto/signing-secret.ts';
import { openInvoiceLinks } from './invoices/links.ts';
import { newToken } from './platform/crypto/tokens.ts';
import { openProcessors } from './processors/registry.ts';
import { type Sandbox, sandbox } from './processors/sandbox.ts';
import { findKeys, markKeysUsed } from './records/api-keys.ts';
import { recordAppUrl } from './records/installation.ts';
import { type MeterCatalogue, openMeterCatalogue } from './metering/meter-catalogue.ts';
import { findActiveMeter, listMetersOfEvent } from './records/meters.ts';
import { listUsageSubscribers, openUsageSubscriptions } from './metering/usage-listeners.ts';
import { hasFormerKeys } from './records/usage-keys.ts';
import { TestClocks, type TestClocksDeps } from './test-clock/test-clocks.ts';
import { listTestClocks, runTestClock, stopTestClock } from './records/test-clocks.ts';
import { findSealedSecret } from './records/webhook-endpoints.ts';

const RECORDS_POOL = 8;
const READERS_POOL = 8;
/** Who asks: keys, and tokens of portals. */
const DOORS_POOL = 2;
const KEYS_AT_ONCE = 500;
/** Lists that run at once: of all tenants, and of one. */
const LISTS = { places: 4, perTenant: 2, waitingMax: 48, waitMs: 8000 };
const LIST_MS_MAX = 5000;
/** A long replay keeps its connection for minutes. */
const REPLAYS = { places: 4, perTenant: 1, waitingMax: 4, waitMs: 5000 };

/** Every flush runs the same two plans, over tables that may have been empty when they were made. */
const FLUSH_PLANS = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

export type ServiceOptions = {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly settings: Settings;
  /** Whether webhooks and mails are delivered by this process, too. */
  readonly deliver: boolean;
  /** What the secrets of webhook endpoints are encrypted with. */
  readonly secretsKey: Uint8Array;
  readonly leaseMs: number;
  readonly actorsMax: number;
  /** What customers and payments in memory may take, reckoned. */
  readonly actorBytesMax?: number | undefined;
  /** Where other nodes reach this one, and the secret that they share; undefined where it is alone. */
  readonly node?: NodePlace | undefined;
  readonly log: Log;
  /** This machine's clock, where that is not the one to go by. */
  readonly clock?: Clock;
  /** Where it listens for changes and where its journal writes, when not straight at `databaseUrl`. */
  readonly changesUrl?: string;
  readonly journalUrl?: string;
};

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
  /** Sends callers to other nodes: it is not ready, and each answer ends its connection. Gives how many have since. */
  leave(): () => number;
  /** Takes no new work, writes what was taken, lets the seat go, and disconnects. Stop listening before. */
  close(): Promise<void>;
  /** Refuses what has not been answered: the process must end now. */
  abandon(): void;
};

/** Joins the others at last: they give it customers at once, who wait while its thread is busy with building the routes. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { databaseUrl, settings, log, clock = ownClock, changesUrl: url = databaseUrl } = options;
  const warn = (fields: object, message: string): void => log.warn(fields, message);
  const sql = openPool(databaseUrl, { max: RECORDS_POOL, applicationName: 'tollhouse records' });
  const metrics = openMetrics({ databaseUrl, clock, timers });
  const keyLocks = new KeyLocks({ databaseUrl, clock, timers });
  const toPeers = (change: Change) => ledger.broadcast.publish({ change } satisfies PeerMessage);
  const changes = await listenForChanges({ url, timers, warn, toPeers });
  const records = { sql, changes, ...openLanes(databaseUrl) };
  const auth = openAuth(records, warn);
  const heard = { clock, timers, changes, warn };
  const orgClock = await openOrgClocks({ list: (id) => listTestClocks(sql, id), ...heard });
  const peers = openOwnPeers(options, (request) => ledger.answer(request));
  const holder = ids.next();
  const { ledger, storage } = openLedger(options, {
    holder,
    clock,
    peers,
    orgClock,
    onPaymentDue: (id) => payments.due(id),
    onSubscriptionDue: (tenant, subscription) => subscriptions.due(tenant, subscription),
    wantsUsage: (tenant) => usageSubscriptions.wantsUsage(tenant),
    onFlush: metrics.onFlush,
    onTold: (what) => take(what as PeerMessage, { changes, testClocks }),
  });
  forgetCustomers(changes, ledger);
  const usageSubscriptions = await openUsage(records);
  const signing = await openSigning(options, sql);
  const redis = openRedis({ url: options.redisUrl, warn });
  const limiter = countTakes(metrics.registry, openRateLimiter(redis));
  const edge = openEdge({ auth, sql, keyLocks, doors: records.doors, limiter, settings, log });
  const { sandbox: bank, processorFor } = openBanks(options, { sql, orgClock });
  const port = { ...records, ids, orgClock, timers, log };
  const sendsMail = settings.mail !== undefined;
  const moving = { ...port, ledger, limiter, processorFor, settings, sendsMail };
  const { payments, subscriptions } = openMoney(moving);
  const owed = [payments, subscriptions];
  const testClocks = openTestClocks({ sql, ledger, clocks: orgClock, owed, mover: holder });
  metrics.watch(ledger, { peers, orgClock });
  const delivery = await openOwnDelivery(options, metrics.registry);
  const keys = { keyLocks, hasFormerKeys: await hasFormerKeys(sql) };
  const usage = { ledger, timers, ...keys, meters: openMeters(records) };
  const money = { settings, limiter, sandbox: bank, processorFor, payments, subscriptions };
  const webhooks = { ...signing, resolve: openNames({ clock }) };
  const given = { ids, clock, orgClock, testClocks, newToken, registry: metrics.registry };
  const readiness = () => ledger.readiness();
  const app = createApp({ edge, readiness, ...usage, ...records, ...given, ...money, ...webhooks });
  await Promise.all([recordAppUrl(sql, settings.appUrl), warm({ storage, ...records })]);
  await ledger.open();
  return {
    app,
    ledger,
    payments,
    sql,
    changes,
    operatorsApp: createOperatorsApp({ edge, readiness, registry: metrics.registry, settings }),
    flush: () => auth.close(),
    leave() {
      ledger.leave();
      return edge.leave();
    },
    abandon: () => ledger.abandon(),
    async close() {
      for (const owing of [delivery, subscriptions, payments]) await owing?.close();
      for (const open of [ledger, peers, auth, changes, keyLocks, metrics]) await open?.close();
      redis.disconnect();
      await endConnections({ storage, ...records });
    },
  };
}

/**
 * Who calls is looked up over connections that nothing else waits for. What one tenant can make slow has its own, for which tenants take
 * turns.
 */
function openLanes(databaseUrl: string) {
  const lists = openPool(databaseUrl, {
    max: LISTS.places,
    applicationName: 'tollhouse lists',
    statementTimeoutMs: LIST_MS_MAX,
  });
  const replays = openPool(databaseUrl, {
    max: REPLAYS.places,
    applicationName: 'tollhouse replays',
  });
  const doors = openPool(databaseUrl, { max: DOORS_POOL, applicationName: 'tollhouse doors' });
  return {
    doors,
    lists: new FairSql(lists, 'lists', { ...LISTS, timers }),
    replays: new FairSql(replays, 'replays', { ...REPLAYS, timers }),
  };
}

async function endConnections({
  storage,
  sql,
  doors,
  lists,
  replays,
}: { readonly storage: PostgresStorage; readonly sql: Sql } & ReturnType<typeof openLanes>) {
  const pools = [sql, doors].map((pool) => pool.end({ timeout: 2 }));
  await Promise.all([storage.end(), ...pools, lists.end(), replays.end()]);
}

/** Until a new connection has read the catalogue it takes tens of milliseconds, and whoever comes with the seat would wait for that. */
async function warm({
  storage,
  sql,
  doors,
}: { storage: PostgresStorage } & Pick<Records, 'sql' | 'doors'>): Promise<void> {
  const pools = [sql, doors].map((pool) => onEach(pool, (connection) => connection`select`));
  await Promise.all([storage.warm(onEach), ...pools]);
}

function forgetCustomers(changes: Changes, ledger: Ledger): void {
  changes.subscribe({
    changed: (kind, id) => {
      if (kind === 'customer') ledger.forget(id);
    },
    reset: () => ledger.forgetAll(),
  });
}

function openTestClocks({
  sql,
  ledger,
  mover,
  ...deps
}: { sql: Sql; ledger: Ledger; mover: string } & Pick<TestClocksDeps, 'clocks' | 'owed'>) {
  return new TestClocks({
    ...deps,
    due: ledger.alarms,
    rows: {
      stop: (to) => stopTestClock(sql, { ...to, mover }),
      run: (organisationId) => runTestClock(sql, { organisationId, mover }),
    },
    tellAll: async (clock) =>
      (await ledger.broadcast.publishToAll({ clock } satisfies PeerMessage)) as number[],
    timers,
  });
}

/** What one node tells all. */
type PeerMessage = { readonly change: Change } | { readonly clock: TestClock };

async function take(
  told: PeerMessage,
  { changes, testClocks }: { changes: OpenChanges; testClocks: TestClocks },
): Promise<unknown> {
  return 'change' in told ? changes.receive(told.change) : testClocks.take(told.clock);
}

/** The way to other nodes; null where there are none. */
function openOwnPeers({ node, log }: ServiceOptions, answer: (request: unknown) => unknown) {
  if (node === undefined) return null;
  const { address: self, secret } = node;
  const { hostname, port } = new URL(`ws://${node.listen}`);
  const listen = { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  return listenOn(
    listen.port,
    () => new OpenPeers({ listen, secret, self, answer, clock: ownClock, timers, log }),
  );
}

/** Webhooks and mails delivered by this process, beside the API; null where others do it. */
async function openOwnDelivery(options: ServiceOptions, registry: Registry) {
  const [onAttempt, onMail] = [attemptObserver(registry), mailObserver(registry)];
  if (!options.deliver) return null;
  const { allowLoopbackUrls: allowLoopback, mail, appUrl } = options.settings;
  const delivery = await openDelivery({ ...options, allowLoopback, onAttempt });
  const mailer = mail && openMailer({ ...options, mail, appUrl, onAttempt: onMail });
  return {
    async close() {
      await Promise.all([delivery.close(), mailer?.close()]);
    },
  };
}

/** The sandbox on the real clock, for its own pages; and whoever takes a tenant's money, in the tenant's time. */
function openBanks(
  { settings, log }: ServiceOptions,
  { sql, orgClock }: { readonly sql: Sql; readonly orgClock: OrgClock },
) {
  const sandboxOn = openSandbox(sql, settings);
  const sandboxFor = (tenant: Tenant) => sandboxOn({ now: () => orgClock.now(tenant) });
  return {
    sandbox: sandboxOn(ownClock),
    processorFor: openProcessors({ sandboxFor, timers, log }),
  };
}

/** Each tells the other what has been decided. */
function openMoney(deps: Omit<PaymentsDeps, 'onSubscriptionPayment'>): {
  readonly payments: Payments;
  readonly subscriptions: Subscriptions;
} {
  const payments = openPayments({
    ...deps,
    onSubscriptionPayment: (scope, id) => subscriptions.paymentSettled(scope, id),
  });
  const subscriptions = openSubscriptions({ ...deps, collect: (id) => payments.collect(id) });
  return { payments, subscriptions };
}

type Records = { readonly sql: Sql; readonly doors: Sql; readonly changes: Changes };

/** However many keys are not known here yet, they are looked up together: who invents some makes nobody wait. */
function openAuth({ doors, changes }: Records, warn: AuthenticatorOptions['warn']): Authenticator {
  const keys = new Batcher({
    keysMax: KEYS_AT_ONCE,
    concurrentMax: DOORS_POOL,
    waitingMax: LOOKUPS_MAX,
    timers,
    nameOf: (hash: string) => hash,
    load: async (hashes) => [...(await findKeys(doors, hashes))],
  });
  return openAuthenticator({
    find: (hash) => keys.get(hash.toString('hex')),
    markUsed: (keyIds) => markKeysUsed(doors, { ids: keyIds, now: ownClock.now() }),
    changes,
    clock: ownClock,
    timers,
    warn,
  });
}

type EdgeParts = {
  readonly auth: Authenticator;
  readonly sql: Sql;
  /** Who comes is looked up here: nobody's work is before it. */
  readonly doors: Sql;
  readonly keyLocks: KeyLocks;
  readonly limiter: PortalDoorDeps['limiter'];
  readonly settings: Settings;
  readonly log: Log;
};

function openEdge({
  auth: { authenticate },
  sql,
  doors,
  keyLocks,
  limiter,
  settings,
  log,
}: EdgeParts): Edge {
  const admitPortal = openPortalDoor({ sql: doors, limiter, settings, clock: ownClock });
  const keyed = openKeyed({ sql, keyLocks, clock: ownClock, timers });
  return createEdge({
    authenticate,
    admitPortal,
    keyed,
    clock: ownClock,
    timers,
    log,
    newRequestId: () => ids.next(),
  });
}

/** The secrets that webhooks are signed with: how they are kept, and how one is made. And what links in mails are made with. */
async function openSigning({ secretsKey }: ServiceOptions, sql: Sql) {
  const secrets = openSecrets(secretsKey);
  checkSecrets(secrets, await findSealedSecret(sql));
  const random = () => crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const invoiceLinks = openInvoiceLinks(secretsKey);
  return { secrets, newSigningSecret: () => newSigningSecret(random()), invoiceLinks };
}

function openUsage({ sql, changes }: Records): ReturnType<typeof openUsageSubscriptions> {
  return openUsageSubscriptions({ list: () => listUsageSubscribers(sql), changes, timers });
}

function openMeters({ sql, changes }: Records): MeterCatalogue {
  return openMeterCatalogue({
    source: {
      findBySlug: (scope, slug) => findActiveMeter(sql, scope, slug),
      listByEventName: (scope, name) => listMetersOfEvent(sql, scope, name),
    },
    changes,
  });
}

function openSandbox(
  sql: Sql,
  { baseUrl, sandboxSettleMs: settleMs }: Settings,
): (its: Pick<Clock, 'now'>) => Sandbox {
  const challengeUrl = (key: string): string => `${baseUrl}/sandbox/challenges/${key}`;
  return (its) => sandbox({ sql, clock: its, settleMs, challengeUrl });
}

function openLedger(
  options: ServiceOptions,
  {
    holder,
    ...given
  }: { holder: string } & Omit<
    LedgerDeps,
    'storage' | 'address' | 'leaseMs' | 'render' | 'room' | 'bounds' | 'ids' | 'timers' | 'log'
  >,
) {
  const { log, leaseMs, actorsMax, actorBytesMax = Infinity } = options;
  const address = options.node?.address ?? null;
  const storage = postgresStorage({
    openWriter: () =>
      openPool(options.journalUrl ?? options.databaseUrl, {
        max: 1,
        applicationName: journalName(holder),
        statementTimeoutMs: flushMsMax(options.leaseMs),
        settings: FLUSH_PLANS,
      }),
    openReader: () =>
      openPool(options.databaseUrl, { max: READERS_POOL, applicationName: 'tollhouse loads' }),
    leaseMs,
    holder,
    address,
    slotOf,
    ids,
    timers,
  });
  const room = { actors: actorsMax, bytes: actorBytesMax };
  const { metersPerCustomer, grantsPerCustomerMeter, subscriptionsPerCustomer } =
    options.settings.bounds;
  const bounds = {
    meters: metersPerCustomer || Infinity,
    grantsPerMeter: grantsPerCustomerMeter,
    subscriptions: subscriptionsPerCustomer || Infinity,
  };
  const own = { address, leaseMs, bounds, room, render: renderCheck };
  const ledger = new Ledger({ storage, ids, timers, log, ...own, ...given });
  return { ledger, storage };
}
