// Renewals by the service as it is started. A hundred thousand monthly subscriptions, whose period
// ended within the last hour, are due at its start, and it gets `/check` calls meanwhile. Then the
// same calls while nothing is due, and the plain way.
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
const CHECKS_PER_SECOND = 200;
const SEGMENT_MS = 2000;
const POLL_MS = 200;
const PATIENCE_MS = 1_200_000;

export type Latencies = { readonly p50: number; readonly p99: number; readonly count: number };

/** The cost of renewing this many. */
export type Renewed = Taken & {
  readonly way: 'tollhouse' | 'plain';
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

type Bed = {
  readonly stores: Stores;
  readonly closers: Closers;
  readonly sql: Sql;
  readonly signal: AbortSignal;
  readonly postmaster: number;
  readonly count: number;
  readonly say: (line: string) => void;
};

export async function runRenewals(
  stores: Stores,
  closers: Closers,
  options: Pick<Bed, 'count' | 'signal' | 'say'>,
): Promise<Renewals> {
  const { count, say } = options;
  const sql = openPool(stores.databaseUrl, {
    max: 2,
    applicationName: 'bench',
    statementTimeoutMs: 0,
  });
  closers.push(() => sql.end({ timeout: 5 }));
  const bed = { ...options, stores, closers, sql, postmaster: await postmasterOf(sql) };
  const authorization = await seed(bed);
  const seeded = await audit(sql);
  say(`${count} subscriptions are due`);
  const ours = await renewAll(bed, authorization);
  const problems = [...seeded, ...(await audit(sql))].map(
    ({ check, detail }) => `${check}: ${detail}`,
  );
  say(JSON.stringify(ours));
  const plain = await renewPlainly(bed);
  const { result, checkMs, residentMib } = ours;
  return {
    results: [result, plain],
    checkMs,
    residentMib,
    problems: [...problems, ...ours.problems],
  };
}

/**
 * Gives the header value of a key. The service runs only for the one subscriber that is then
 * copied.
 */
async function seed({ stores, sql, count }: Bed): Promise<string> {
  const child = await startService(stores);
  let authorization: string;
  try {
    const organisation = await createOrganisation(stores);
    authorization = organisation.authorization;
    const seller = { url: `http://127.0.0.1:${child.port}`, key: organisation.key };
    await createMeter(poster(child.port, authorization));
    const prices = [{ currency: 'USD', amount: '30.00', interval: 'month' }];
    const product = await ask(seller, 'POST', '/products', { name: 'Pro', prices });
    const given = { feature_key: FEATURE_KEY, limit: GRANT };
    await ask(seller, 'POST', `/products/${product.id}/entitlements`, given);
    const buyer = {
      external_customer_id: customerName(0),
      customer_email: `${customerName(0)}@example.com`,
    };
    const wanted = { product_id: product.id, currency: 'USD', ...buyer };
    const session = sessionOf(await ask(seller, 'POST', '/checkouts', wanted));
    await submit(seller.url, session, 'good');
  } finally {
    await child.stop();
  }
  await cloneSubscriber(sql, { count, now: clock.now() });
  await sql`checkpoint`;
  return authorization;
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
  const result = { way: 'tollhouse', renewals: count, ...taken(others) } as const;
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

async function renewPlainly(bed: Bed): Promise<Renewed> {
  const { stores, signal, postmaster } = bed;
  const server = postgres(stores.databaseUrl, { max: 1 });
  await server`create database ${server(PLAIN_DATABASE)}`;
  await server.end();
  const url = new URL(stores.databaseUrl);
  url.pathname = `/${PLAIN_DATABASE}`;
  const count = Math.min(bed.count, PLAIN_MAX);
  const settings: PlainSettings = { databaseUrl: url.href, pool: PLAIN_POOL, count, postmaster };
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
