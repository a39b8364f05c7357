// The service under test, as its user starts it: `bun src/main.ts`, an organisation through the
// admin command, and a meter, customers, grants and payments over HTTP.
//
// Holds: `openService` takes any checkout. It starts PostgreSQL and Redis as that checkout does,
// and knows no more of its tables than probes/database.ts and the names of refunds, checkouts and
// follow-ups.
import { join } from 'node:path';
import postgres from 'postgres';
import type { Closers } from '../../support/closers.ts';
import type { Shape } from '../generator/plan.ts';
import {
  CURRENCY,
  CUSTOMERS,
  customerName,
  FEATURE_KEY,
  PAYMENTS,
  PRICE,
} from '../generator/workload.ts';
import { readRuntime } from '../../../src/platform/embedded/services.ts';
import { footprintOf, postmasterOf, type Traces } from '../probes/database.ts';
import { residentBytes, secondsOf, secondsOfTree } from '../probes/processor-time.ts';
import { redisPid } from '../probes/redis.ts';
import { buy, sell, type Seller } from '../../support/shop.ts';
import { freePort } from '../../support/free-port.ts';
import { type Child, startChild } from './child.ts';
import { makeDataDir, removeDataDir } from './data-dir.ts';
import type { Target } from './target.ts';

/** This checkout. */
export const ROOT = join(import.meta.dir, '../../..');
/** Enough for every event of a run, so that no answer is a denial. */
const GRANT = 100_000_000;
const SEEDS_AT_ONCE = 128;
const PURCHASES_AT_ONCE = 16;
const SETTLED_MS_MAX = 30_000;
const SETTLED_POLL_MS = 20;
const UNLIMITED = {
  RATE_LIMIT_REFUNDS_PER_ORG: '0',
  RATE_LIMIT_REFUNDS_PER_PAYMENT: '0',
  // More than a run opens.
  LIMIT_OPEN_CHECKOUTS: '1000000',
};

// The tables of usage differ between commits: `survivors` counts its events.
const USAGE: Traces = { rows: null, flushed: true };
const TRACES: Readonly<Record<Shape, Traces>> = {
  check: USAGE,
  track: USAGE,
  ingest: USAGE,
  mixed: USAGE,
  refund: { rows: 'refunds', flushed: true },
  checkout: { rows: 'checkouts', flushed: false },
};
const CHECKS_AT_ONCE = 100;

export interface Stores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly dataDir: string;
}

/** @param fixedPort any free port by default */
export function startService(
  stores: Stores,
  env: Readonly<Record<string, string>> = {},
  fixedPort?: number,
): Promise<Child> {
  return startProgram(
    { root: ROOT, directory: stores.dataDir },
    { ...envOf(stores), ...env },
    fixedPort,
  );
}

/** Of a service on these stores. */
function envOf({ databaseUrl, redisUrl, dataDir }: Stores): Readonly<Record<string, string>> {
  const DATA_DIR = join(dataDir, 'service');
  return { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR };
}

async function startProgram(
  { root, directory }: { readonly root: string; readonly directory: string },
  env: Readonly<Record<string, string>>,
  fixedPort?: number,
): Promise<Child> {
  const port = fixedPort ?? (await freePort());
  return startChild({
    name: 'service',
    command: [process.execPath, join(root, 'src/main.ts')],
    port,
    env: { PORT: String(port), HOST: '127.0.0.1', ...env },
    directory,
    ready: { path: '/ready', status: 200 },
  });
}

/** The service of the checkout in `root`, with PostgreSQL and Redis of its own. */
export async function openService(
  closers: Closers,
  { name, root, withMoney }: { name: 'tollhouse' | 'before'; root: string; withMoney: boolean },
): Promise<Target> {
  const dataDir = makeDataDir();
  closers.push(() => removeDataDir(dataDir));
  const own = { DATABASE_URL: '', REDIS_URL: '', DATA_DIR: dataDir };
  const start = () => startProgram({ root, directory: dataDir }, { ...own, ...UNLIMITED });
  let child = await start();
  closers.push(() => child.stop());
  const runtime = readRuntime(dataDir);
  if (runtime === undefined) throw new Error('the service says nowhere what it runs on');
  const { authorization, key } = await makeOrganisation(own, root);
  await seed(child.port, authorization);
  const seller = { url: `http://127.0.0.1:${child.port}`, key };
  const shop = withMoney ? await openShop(seller) : { product: '', payments: [] };
  const sql = postgres(runtime.databaseUrl, { max: 1 });
  closers.push(() => sql.end({ timeout: 5 }));
  const postmaster = await postmasterOf(sql);
  const redis = await redisPid(runtime.redisUrl);
  return {
    name,
    portFor: () => child.port,
    authorization,
    idsFor: ({ shape, spread }) =>
      shape === 'checkout' ? [shop.product] : shop.payments.slice(0, spread),
    spent: () => ({
      server: secondsOf(child.pid),
      postgres: secondsOfTree(postmaster),
      redis: secondsOf(redis),
    }),
    memoryBytes: () => residentBytes(child.pid),
    footprint: ({ shape }) => footprintOf(sql, TRACES[shape]),
    async checkpoint() {
      await sql`checkpoint`;
    },
    reset: () => Promise.resolve(),
    settled: ({ shape }) => (shape === 'refund' ? noneOwed(sql) : Promise.resolve()),
    async survivors() {
      await child.kill();
      child = await start();
      return consumedBy(poster(child.port, authorization));
    },
  };
}

/** Of all customers together. */
async function consumedBy(post: Post): Promise<number> {
  let total = 0;
  for (let from = 0; from < CUSTOMERS; from += CHECKS_AT_ONCE) {
    const checks = Array.from({ length: Math.min(CHECKS_AT_ONCE, CUSTOMERS - from) }, (_, at) => ({
      feature_key: FEATURE_KEY,
      external_customer_id: customerName(from + at),
    }));
    const { results } = await post('/check/batch', { checks });
    for (const { consumed } of results as { readonly consumed: number }[]) total += consumed;
  }
  return total;
}

/** A refund is answered before its invoice shows it. */
async function noneOwed(sql: postgres.Sql): Promise<void> {
  for (const deadline = performance.now() + SETTLED_MS_MAX; performance.now() < deadline;) {
    const owed = await sql`select from followups limit 1`;
    if (owed.length === 0) return;
    await Bun.sleep(SETTLED_POLL_MS);
  }
  throw new Error('what was answered is not done');
}

/** Makes every payment as a buyer would. */
async function openShop(seller: Seller) {
  const product = await sell(seller, { [CURRENCY]: PRICE });
  const payments: string[] = [];
  async function buySome(): Promise<void> {
    for (let left = PAYMENTS / PURCHASES_AT_ONCE; left > 0; left -= 1) {
      payments.push(await buy(seller, { means: ['good'], product_id: product }));
    }
  }
  await Promise.all(Array.from({ length: PURCHASES_AT_ONCE }, buySome));
  return { product, payments: payments.slice(0, PAYMENTS) };
}

export interface Organisation {
  readonly id: string;
  /** In test mode, whose processor is the sandbox. */
  readonly key: string;
  readonly authorization: string;
}

export function createOrganisation(stores: Stores): Promise<Organisation> {
  return makeOrganisation(envOf(stores), ROOT);
}

/** @param env where its service keeps what it has */
async function makeOrganisation(
  env: Readonly<Record<string, string>>,
  root: string,
): Promise<Organisation> {
  const command = [process.execPath, join(root, 'src/admin.ts')];
  const admin = Bun.spawn([...command, 'org', 'create', '--name', 'bench', '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await new Response(admin.stdout).text();
  if ((await admin.exited) !== 0) throw new Error('no organisation could be made');
  const { organization_id: id, test_key: key } = JSON.parse(output) as Record<string, string>;
  if (id === undefined || key === undefined) throw new Error('no organisation was made');
  return { id, key, authorization: `Bearer ${key}` };
}

/** Grants each customer more than a run can use up. */
export async function seed(port: number, authorization: string): Promise<void> {
  const post = poster(port, authorization);
  await createMeter(post);
  let next = 0;
  async function seedSome(): Promise<void> {
    for (let index = next; index < CUSTOMERS; index = next) {
      next += 1;
      const customer = await post('/customers', { external_customer_id: customerName(index) });
      await post(`/customers/${String(customer['id'])}/grants`, {
        feature_key: FEATURE_KEY,
        amount: GRANT,
      });
    }
  }
  await Promise.all(Array.from({ length: SEEDS_AT_ONCE }, seedSome));
}

type Post = (path: string, body: object) => Promise<Record<string, unknown>>;

export function createMeter(post: Post): Promise<Record<string, unknown>> {
  return post('/meters', { slug: FEATURE_KEY, name: 'API calls', aggregation: 'sum' });
}

export function poster(port: number, authorization: string): Post {
  return async (path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
}
