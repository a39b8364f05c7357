// The service under test, as its user starts it: `bun src/main.ts`, an organisation through the admin
// command, and a meter, customers and grants over HTTP.
import { join } from 'node:path';
import postgres from 'postgres';
import { CUSTOMERS, customerName, FEATURE_KEY } from '../generator/workload.ts';
import { backendPid, serviceFootprint } from '../probes/database.ts';
import { parentOf, secondsOf, secondsOfTree } from '../probes/processor-time.ts';
import { type Child, freePort, startChild } from './child.ts';
import type { Closers } from './closers.ts';
import type { Target } from './target.ts';

const ROOT = join(import.meta.dir, '../../..');
/** Enough for every event of a run, so that the answer is never a denial. */
const GRANT = 100_000_000;
const SEEDS_AT_ONCE = 128;

export interface Stores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly dataDir: string;
}

export function startService(
  { databaseUrl, redisUrl, dataDir }: Stores,
  env: Readonly<Record<string, string>> = {},
): Promise<Child> {
  return freePort().then((port) =>
    startChild({
      name: 'service',
      command: [process.execPath, join(ROOT, 'src/main.ts')],
      port,
      env: {
        PORT: String(port),
        HOST: '127.0.0.1',
        DATABASE_URL: databaseUrl,
        REDIS_URL: redisUrl,
        DATA_DIR: join(dataDir, 'service'),
        ...env,
      },
      directory: dataDir,
      ready: { path: '/ready', status: 200 },
    }),
  );
}

export async function openService(stores: Stores, closers: Closers): Promise<Target> {
  const child = await startService(stores);
  closers.push(() => child.stop());
  const { authorization } = await createOrganisation(stores);
  await seed(child.port, authorization);
  const sql = postgres(stores.databaseUrl, { max: 1 });
  closers.push(() => sql.end({ timeout: 5 }));
  const postmaster = parentOf(await backendPid(sql));
  return {
    name: 'tollhouse',
    portFor: () => child.port,
    authorization,
    serverSeconds: () => secondsOf(child.pid),
    databaseSeconds: () => secondsOfTree(postmaster),
    footprint: () => serviceFootprint(sql),
    reset: () => Promise.resolve(),
  };
}

export interface Organisation {
  readonly id: string;
  readonly authorization: string;
}

export async function createOrganisation(stores: Stores): Promise<Organisation> {
  const command = [process.execPath, join(ROOT, 'src/admin.ts')];
  const admin = Bun.spawn([...command, 'org', 'create', '--name', 'bench', '--json'], {
    env: {
      ...process.env,
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      DATA_DIR: join(stores.dataDir, 'service'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await new Response(admin.stdout).text();
  if ((await admin.exited) !== 0) throw new Error('no organisation could be made');
  const made = JSON.parse(output) as { organization_id: string; live_key: string };
  return { id: made.organization_id, authorization: `Bearer ${made.live_key}` };
}

/** Gives each customer more than a run can use up. */
async function seed(port: number, authorization: string): Promise<void> {
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
