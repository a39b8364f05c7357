// Renewals by the service as it is started. A hundred thousand monthly subscriptions, whose period
// ended within the last hour, are due at its start, and it gets `/check` calls meanwhile. Then the
// same calls while nothing is due, then as many with two features, as many that are billed for
// usage of both, and the plain way.
import postgres from 'postgres';
import { audit } from '../../../src/database/audit.ts';
import { clock } from '../../../src/platform/clock.ts';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import type { Closers } from '../../support/closers.ts';
import { ask, sessionOf, submit } from '../../support/shop.ts';
import {
  createMeter,
  createOrganisation,
  poster,
  startService,
  type Stores,
} from '../bed/service.ts';
import { customerName, FEATURE_KEY } from '../generator/workload.ts';
import { Histogram } from '../histogram.ts';
import { generate } from '../measure.ts';
import { postmasterOf } from '../probes/database.ts';
import { residentBytes } from '../probes/processor-time.ts';
import { metered, type Taken } from './meter.ts';
import type { PlainSettings } from './plain.ts';
import { cloneSubscriber } from './subscribers.ts';

const PLAIN = Bun.fileURLToPath(import.meta.resolve('./plain.ts'));
// Renewals a second with 4, 8, 16 and 32 connections, two runs each, on a machine with other load:
// 403 and 1,181, 928 and 1,109, 805 and 899, 694 and 524.
const PLAIN_POOL = 8;
const PLAIN_MAX = 20_000;
const PLAIN_DATABASE = 'bench_plain_renewals';
const GRANT = 1000;
/** Of each of two features: within what is included, or beyond where usage is sold. */
const USED = { 'two features': 900, 'usage of both': 2500 } as const;
const FEATURES = [FEATURE_KEY, 'storage'] as const;
/** The period's price, and one line for each feature. */
const LINES_WITH_USAGE = 1 + FEATURES.length;

/** What a subscription of the service has. */
type Way = 'one feature' | keyof typeof USED;
const CHECKS_PER_SECOND = 200;
const SEGMENT_MS = 2000;
const POLL_MS = 200;
const PATIENCE_MS = 1_200_000;

export type Latencies = { readonly p50: number; readonly p99: number; readonly count: number };

/** The cost of renewing this many. */
export type Renewed = Taken & {
  readonly way: Way | 'plain';
  readonly renewals: number;
};

export type Renewals = {
  readonly results: readonly Renewed[];
  readonly checkMs: { readonly idle: Latencies; readonly during: Latencies };
  /** Peak memory of the server: before, and during the renewals. */
  readonly residentMib: { readonly before: number; readonly peak: number; readonly after: number };
  /** Must be empty. */
  readonly problems: readonly string[];
};

type Run = {
  readonly stores: Stores;
  readonly closers: Closers;
  readonly signal: AbortSignal;
  readonly count: number;
  readonly say: (line: string) => void;
};
type Bed = Run & {
  readonly sql: Sql;
  readonly postmaster: number;
  readonly way: Way;
};

export async function runRenewals(
  stores: Stores,
  closers: Closers,
  options: Pick<Run, 'count' | 'signal' | 'say'>,
): Promise<Renewals> {
  const run = { ...options, stores, closers };
  const ours = await renewByService(run, 'one feature');
  const others = [];
  for (const way of ['two features', 'usage of both'] as const) {
    const databaseUrl = await createDatabase(stores, `bench_${way.replaceAll(' ', '_')}`);
    others.push(await renewByService({ ...run, stores: { ...stores, databaseUrl } }, way));
  }
  const plain = await renewPlainly(run, ours.postmaster);
  return {
    results: [ours.result, ...others.map(({ result }) => result), plain],
    checkMs: ours.checkMs,
    residentMib: ours.residentMib,
    problems: [ours, ...others].flatMap(({ problems }) => problems),
  };
}

async function renewByService(run: Run, way: Way) {
  const { stores, closers, count, say } = run;
  const sql = openPool(stores.databaseUrl, {
    max: 2,
    applicationName: 'bench',
    statementTimeoutMs: 0,
  });
  closers.push(() => sql.end({ timeout: 5 }));
  const bed = { ...run, sql, way, postmaster: await postmasterOf(sql) };
  const authorization = await seed(bed);
  const seeded = await audit(sql);
  say(`${count} subscriptions are due: ${way}`);
  const renewed = await renewAll(bed, authorization);
  const problems = [...seeded, ...(await audit(sql))].map(
    ({ check, detail }) => `${check}: ${detail}`,
  );
  if (way === 'usage of both') problems.push(...(await linesMissing(bed)));
  say(JSON.stringify(renewed));
  const { postmaster } = bed;
  return { ...renewed, postmaster, problems: [...problems, ...renewed.problems] };
}

/** Where not every renewal has billed what was used. */
async function linesMissing({ sql, count }: Bed): Promise<string[]> {
  const [billed] = await sql<{ invoices: bigint }[]>`
    select count(*) as invoices from invoices where jsonb_array_length(lines) = ${LINES_WITH_USAGE}`;
  const invoices = Number(billed?.invoices);
  return invoices === count ? [] : [`of ${count} invoices ${invoices} have their usage`];
}

/**
 * Gives the header value of a key. The service runs only for the one subscriber that is then
 * copied.
 */
async function seed({ stores, sql, count, way }: Bed): Promise<string> {
  const child = await startService(stores);
  let authorization: string;
  try {
    const organisation = await createOrganisation(stores);
    authorization = organisation.authorization;
    const seller = { url: `http://127.0.0.1:${child.port}`, key: organisation.key };
    const post = poster(child.port, authorization);
    await createMeter(post);
    const prices = [{ currency: 'USD', amount: '30.00', interval: 'month' }];
    const product = await ask(seller, 'POST', '/products', { name: 'Pro', prices });
    const given = { feature_key: FEATURE_KEY, limit: GRANT };
    await ask(seller, 'POST', `/products/${product.id}/entitlements`, given);
    if (way !== 'one feature') await giveStorage(post, String(product.id));
    if (way === 'usage of both') await sellUsage(post, String(product.id));
    const buyer = {
      external_customer_id: customerName(0),
      customer_email: `${customerName(0)}@example.com`,
    };
    const wanted = { product_id: product.id, currency: 'USD', ...buyer };
    const session = sessionOf(await ask(seller, 'POST', '/checkouts', wanted));
    await submit(seller.url, session, 'good');
    if (way !== 'one feature') await use(post, USED[way]);
  } finally {
    await child.stop();
  }
  await cloneSubscriber(sql, { count, now: clock.now() });
  await sql`checkpoint`;
  return authorization;
}

async function giveStorage(post: ReturnType<typeof poster>, productId: string): Promise<void> {
  await post('/meters', { slug: 'storage', name: 'Storage', aggregation: 'sum' });
  await post(`/products/${productId}/entitlements`, { feature_key: 'storage', limit: GRANT });
}

/** Beyond what is included, by the unit. */
async function sellUsage(post: ReturnType<typeof poster>, productId: string): Promise<void> {
  for (const feature_key of FEATURES) {
    const price = { feature_key, currency: 'USD', model: 'per_unit', unit_amount: '0.002' };
    await post(`/products/${productId}/usage-prices`, price);
  }
}

async function use(post: ReturnType<typeof poster>, value: number): Promise<void> {
  for (const feature_key of FEATURES) {
    await post('/track', { feature_key, external_customer_id: customerName(0), value });
  }
}

async function renewAll(bed: Bed, authorization: string) {
  const { stores, closers, sql, count, signal } = bed;
  let child = await startService(stores);
  closers.push(() => child.stop());
  const plan = {
    authorization,
    shape: 'check',
    ids: [],
    connections: 32,
    warmUpMs: 0,
    ratePerSecond: CHECKS_PER_SECOND,
    customers: count,
  } as const;
  const mib = (): number => residentBytes(child.pid) / 2 ** 20;
  const before = mib();
  let [peak, run, others] = [before, 0, 0];
  const problems: string[] = [];
  async function check(latency: Histogram, measureMs: number): Promise<void> {
    const load = await generate(
      { ...plan, ports: [child.port], measureMs, run: (run += 1) },
      signal,
    );
    latency.add(load.latency);
    others += load.cpuSeconds;
    if (load.errors > 0) problems.push(`${load.errors} errors, such as`, ...load.samples);
  }
  const [during, idle] = [new Histogram(), new Histogram()];
  const taken = metered({ server: child.pid, postmaster: bed.postmaster });
  const renewed = new AbortController();
  const sampling = setInterval(() => (peak = Math.max(peak, mib())), 100);
  const checking = (async () => {
    while (!renewed.signal.aborted) await check(during, SEGMENT_MS);
  })();
  try {
    await until(bed, () => areRenewed(sql, count));
  } finally {
    renewed.abort();
  }
  const result: Renewed = { way: bed.way, renewals: count, ...taken(others) };
  await checking.finally(() => clearInterval(sampling));
  const after = mib();
  // Restarted: the same share of the customers is not in memory.
  await child.stop();
  child = await startService(stores);
  await check(idle, SEGMENT_MS * 2);
  const checkMs = { idle: latenciesOf(idle), during: latenciesOf(during) };
  await child.stop();
  return { result, checkMs, residentMib: { before, peak, after }, problems };
}

function latenciesOf(histogram: Histogram): Latencies {
  const ms = (share: number): number => histogram.percentile(share) / 1000;
  return { p50: ms(0.5), p99: ms(0.99), count: histogram.count };
}

/**
 * Whether every subscription has its new period, allowance, invoice and payment, and no outbox task
 * is open.
 */
async function areRenewed(sql: Sql, count: number): Promise<boolean> {
  // One row says whether the others are worth a look.
  const [counter] = await sql<{ last: bigint }[]>`select max(last) as last from invoice_counters`;
  if (Number(counter?.last) < 2 * count) return false;
  const left = await sql`
    (select from followups limit 1) union all
    (select from alarms where due_at <= now() + interval '1 hour' limit 1) union all
    (select from subscriptions where period_index = 0 limit 1) union all
    (select from customer_meters where period_end <= now() limit 1) union all
    (select from payments where status <> 'succeeded' limit 1) union all
    (select from invoices where status <> 'paid' limit 1)`;
  return left.length === 0;
}

async function until({ signal }: Bed, isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline;) {
    signal.throwIfAborted();
    if (await isDone()) return;
    await Bun.sleep(POLL_MS);
  }
  throw new Error('what is due does not get done');
}

/** Its address. */
async function createDatabase({ databaseUrl }: Stores, name: string): Promise<string> {
  const server = postgres(databaseUrl, { max: 1 });
  await server`create database ${server(name)}`;
  await server.end();
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function renewPlainly(run: Run, postmaster: number): Promise<Renewed> {
  const { stores, signal } = run;
  const databaseUrl = await createDatabase(stores, PLAIN_DATABASE);
  const count = Math.min(run.count, PLAIN_MAX);
  const settings: PlainSettings = { databaseUrl, pool: PLAIN_POOL, count, postmaster };
  const child = Bun.spawn([process.execPath, PLAIN], {
    env: { ...process.env, BENCH_PLAIN: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = (): void => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  const output = await new Response(child.stdout).text();
  await child.exited;
  signal.removeEventListener('abort', kill);
  signal.throwIfAborted();
  if (child.exitCode !== 0) throw new Error('the plain way failed');
  return { way: 'plain', renewals: count, ...(JSON.parse(output) as Taken) };
}
