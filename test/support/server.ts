// The HTTP edge on a real port and a real database, with two organisations and a group to call as.
//
// TEST_NODES=3 serves each test by three nodes behind one address, and every call goes to the next
// of them: what holds for one node holds for several. TEST_PROCESSOR=stripe has a fake of Stripe
// charge in test mode, in place of the sandbox.
import type { Clock } from '../../ledger/ports.ts';
import type { Settings } from '../../src/config.ts';
import { type Changes, notifyChange } from '../../src/platform/postgres/changes.ts';
import { clock } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openLog } from '../../src/platform/log.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { createGroup, createOrganisation, type FirstKeys } from '../../src/accounts/onboarding.ts';
import { openService, type Service } from '../../src/service.ts';
import type { ServiceOptions } from '../../src/service/options.ts';
import { balanced } from './balanced.ts';
import { undocumented } from './documented.ts';
import { freshDatabase } from './database.ts';
import { freePort } from './free-port.ts';
import { newPlace } from './new-place.ts';
import { type Proxy, startProxy, UNCUT } from './proxy.ts';
import { testServices } from './services.ts';
import { IS_SHARED, reuse } from './reused.ts';
import { TEST_SECRETS_KEY, TEST_SETTINGS } from './settings.ts';
import {
  closeStripeSide,
  connectStripe,
  IS_STRIPE,
  openStripeSide,
  type StripeSide,
} from './stripe-side.ts';

export type Call = {
  readonly key?: string | null;
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string | Buffer | URLSearchParams | ReadableStream<Uint8Array>;
  readonly headers?: Record<string, string>;
};

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Each test checks the type of what it reads.
  readonly json: ReturnType<typeof JSON.parse>;
};

export type TestServer = {
  readonly url: string;
  readonly databaseUrl: string;
  readonly sql: Sql;
  readonly changes: Changes;
  /** The connection on which `changes` listens. */
  readonly proxy: Proxy;
  /** The connection of the ledger's journal. */
  readonly journal: Proxy;
  readonly ledger: Service['ledger'];
  readonly payments: Service['payments'];
  readonly app: Service['app'];
  readonly endStreams: Service['endStreams'];
  readonly organisation: FirstKeys;
  readonly other: FirstKeys;
  readonly group: FirstKeys;
  /** The fake of Stripe, where it charges; null for the sandbox. */
  readonly stripe: StripeSide | null;
  /** The whole log. */
  readonly logged: string[];
  /** As the organisation in test mode, unless `key` says otherwise; null sends no key. */
  call(method: string, path: string, call?: Call): Promise<Reply>;
  /** Resolves when every change committed before has been received: they come in order. */
  untilHeard(): Promise<void>;
  /** Writes what the server writes periodically. */
  flush(): Promise<void>;
  stop(): Promise<void>;
};

export type ServerOptions = {
  /** A server and a database of its own: the test counts all that is there, damages or ends it. */
  readonly own?: boolean;
  /**
   * The test writes rows that the service would not write (a checkout that is paid without a
   * payment): it shares a server with others that do, where no audit closes.
   */
  readonly edited?: boolean;
  /** One node, even when TEST_NODES asks for several: the test is about one node. */
  readonly alone?: boolean;
  /** One more node of the cluster of this server. Its organisations are the same. */
  readonly beside?: TestServer | undefined;
  /** The address for other nodes; without one, it is alone. */
  readonly node?: ServiceOptions['node'];
  /** Of a file that empties it. */
  readonly redisUrl?: string;
  /** Whether webhooks are delivered. */
  readonly deliver?: boolean;
  readonly leaseMs?: number;
  readonly actorsMax?: number;
  readonly actorBytesMax?: number;
  /** Its organisations charge there in test mode, whatever TEST_PROCESSOR says. */
  readonly stripe?: StripeSide;
  /** Its source of time. */
  readonly clock?: Clock;
  /** A function of the server's own address, for settings that name it. */
  readonly settings?: Partial<Settings> | ((url: string) => Partial<Settings>) | undefined;
};

const LEASE_MS = 5000;
/**
 * No test waits for its end, and the database timeouts are a part of it: so it is long, because
 * several files share the machine.
 */
const LEASE_MS_ALONE = 30_000;

const NODES = Number(process.env['TEST_NODES'] ?? 1);

/**
 * A server of the worker that other files have used, with organisations that nobody has; or one of
 * its own, where the options say more than settings.
 */
export function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const { settings = {}, edited = false, ...special } = options;
  const isOwn = !IS_SHARED || Object.values(special).some((value) => value !== undefined);
  if (isOwn) return start(options);
  const known = typeof settings === 'function' ? settings('http://here') : settings;
  return reuse(JSON.stringify([edited, known]), {
    open: () => start(options, { isReused: true }),
    enter: (server) => {
      server.logged.length = 0;
      return withTenants(server);
    },
  });
}

/** The same server, with organisations that nobody has. */
export async function withTenants(server: TestServer): Promise<TestServer> {
  return { ...server, ...callingAs(server, await createTenants(server.sql, server)) };
}

type Use = {
  /** By one file after the other: nobody cuts its connections. */
  readonly isReused?: boolean;
  readonly logged?: string[];
};

function start(options: ServerOptions, use: Use = {}): Promise<TestServer> {
  const { alone, node, beside } = options;
  const isOne = NODES === 1 || alone === true || node !== undefined || beside !== undefined;
  return isOne ? startNode(options, use) : startSeveral(options, use);
}

function callingAs(server: TestServer, tenants: Tenants): Tenants & Pick<TestServer, 'call'> {
  const key = tenants.organisation.testKey;
  return {
    ...tenants,
    call: (method, path, call = {}) => server.call(method, path, { key, ...call }),
  };
}

/** Calls and connections go to them in turn; all else goes to the first. */
async function startSeveral(options: ServerOptions, use: Use): Promise<TestServer> {
  const nodes: TestServer[] = [];
  let turn = 0;
  const next = (): TestServer => nodes[turn++ % nodes.length]!;
  const front = await startProxy('http://127.0.0.1', () => next().url);
  const { origin: url } = new URL(front.url);
  const settings =
    typeof options.settings === 'function' ? options.settings(url) : options.settings;
  const logged: string[] = [];
  const join = async (beside?: TestServer): Promise<TestServer> => {
    return startNode({ ...options, settings, node: await newPlace(), beside }, { ...use, logged });
  };
  const first = await join();
  const others = await Promise.all(Array.from({ length: NODES - 1 }, () => join(first)));
  nodes.push(first, ...others);
  await balanced(nodes);
  const all = (task: (node: TestServer) => Promise<void>) => Promise.all(nodes.map(task));
  return {
    ...first,
    url,
    call: (...args) => next().call(...args),
    async untilHeard() {
      await all((node) => node.untilHeard());
    },
    async flush() {
      await all((node) => node.flush());
    },
    async stop() {
      await front.stop();
      await Promise.all(others.map((node) => node.stop()));
      // The database goes with it.
      await first.stop();
    },
  };
}

async function startNode(
  options: ServerOptions,
  { isReused = false, logged = [] }: Use,
): Promise<TestServer> {
  const { beside } = options;
  const isAlone = beside === undefined && options.node === undefined;
  const database =
    beside === undefined
      ? await freshDatabase()
      : { url: beside.databaseUrl, drop: () => Promise.resolve() };
  const log = openLog('debug', (line) => logged.push(line));
  const proxy = isReused ? null : await startProxy(database.url);
  const journal = isReused ? null : await startProxy(database.url);
  // Known before the server starts: its settings name it.
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const stripe = await stripeSideOf(options);
  const settings = settingsOf(options, { url, stripe });
  const service = await openService({
    databaseUrl: patient(database.url),
    redisUrl: options.redisUrl ?? testServices().redisUrl,
    settings,
    secretsKey: TEST_SECRETS_KEY,
    deliver: options.deliver ?? false,
    ...(proxy !== null && { changesUrl: proxy.url }),
    ...(journal !== null && { journalUrl: journal.url }),
    leaseMs: options.leaseMs ?? (isAlone ? LEASE_MS_ALONE : LEASE_MS),
    actorsMax: options.actorsMax ?? 10_000,
    actorBytesMax: options.actorBytesMax,
    node: options.node,
    ...(options.clock !== undefined && { clock: options.clock }),
    log,
  });
  const { app, sql, changes } = service;
  app.listen({ port, hostname: '127.0.0.1' });
  const tenants = beside ?? (await createTenants(sql, { changes, stripe }));
  const { group, organisation, other } = tenants;
  return {
    url,
    databaseUrl: database.url,
    sql,
    changes,
    proxy: proxy ?? UNCUT,
    journal: journal ?? UNCUT,
    ledger: service.ledger,
    payments: service.payments,
    app,
    endStreams: () => service.endStreams(),
    organisation,
    other,
    group,
    stripe,
    logged,
    call: (method, path, call = {}) =>
      send(method, `${url}${path}`, { key: organisation.testKey, ...call }),
    untilHeard: () => hearMarker(sql, changes),
    flush: () => service.flush(),
    async stop() {
      await app.server!.stop(true);
      await service.close();
      await proxy?.stop();
      await journal?.stop();
      await database.drop();
      const isOwn = options.stripe === undefined && beside === undefined;
      if (stripe !== null && isOwn) await closeStripeSide(stripe);
    },
  };
}

/** Nobody cuts its connections: a busy machine may take its time to open them. */
const patient = (url: string): string => `${url}?connect_timeout=30`;

async function stripeSideOf({ beside, stripe }: ServerOptions): Promise<StripeSide | null> {
  const known = stripe ?? beside?.stripe ?? null;
  return known === null && IS_STRIPE ? openStripeSide() : known;
}

function settingsOf(
  { settings }: ServerOptions,
  { url, stripe }: { readonly url: string; readonly stripe: StripeSide | null },
): Settings {
  const own = typeof settings === 'function' ? settings(url) : settings;
  const stripeApiUrl = stripe === null ? undefined : new URL(stripe.apiUrl);
  return { ...TEST_SETTINGS, stripeApiUrl, ...own };
}

type Tenants = Pick<TestServer, 'group' | 'organisation' | 'other'>;

async function createTenants(
  sql: Sql,
  { changes, stripe }: Pick<TestServer, 'changes' | 'stripe'>,
): Promise<Tenants> {
  const setting = { sql, ids, now: clock.now() };
  const group = await createGroup(setting, { name: 'Group' });
  const organisation = must(await createOrganisation(setting, { name: 'One', groupId: group.id }));
  const other = must(await createOrganisation(setting, { name: 'Other', groupId: null }));
  if (stripe !== null) {
    for (const { id } of [organisation, other]) await connectStripe(sql, stripe, id);
    await hearMarker(sql, changes);
  }
  return { group, organisation, other };
}

async function hearMarker(sql: Sql, changes: Changes): Promise<void> {
  const marker = ids.next();
  const heard = Promise.withResolvers<void>();
  changes.subscribe({
    changed: (_kind, id) => (id === marker ? heard.resolve() : undefined),
    reset: () => undefined,
  });
  await notifyChange(sql, 'customer', marker);
  await heard.promise;
}

function must<T>(made: T | string): T {
  if (typeof made === 'string') throw new Error(made);
  return made;
}

async function send(
  method: string,
  url: string,
  { key, body, raw, headers }: Call,
): Promise<Reply> {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url, {
    method,
    ...(payload !== undefined && { body: payload }),
    headers: {
      ...(typeof key === 'string' && { authorization: `Bearer ${key}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const reply = {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
  const fault = undocumented(method, url, reply);
  if (fault !== null) throw new Error(`not as the document says: ${fault}`);
  return reply;
}
