// The memory case: a million customers, and a cache for a twentieth of them. Nearly every request
// loads one actor and evicts another, so what eviction leaks shows as growth.
//
// The first half of the time is the warm-up: the heap reaches its size, and the memory of recent
// keys fills. The second half must be flat.
import postgres from 'postgres';
import type { Closers } from '../../support/closers.ts';
import {
  createMeter,
  createOrganisation,
  poster,
  startService,
  type Stores,
} from '../bed/service.ts';
import { customerName, FEATURE_KEY } from '../generator/workload.ts';
import type { LoadPlan } from '../generator/plan.ts';
import { Histogram } from '../histogram.ts';
import { generate } from '../measure.ts';
import { residentBytes, secondsOf } from '../probes/processor-time.ts';
import { cloneCustomer } from './clone.ts';

export const CACHED = 50_000;
const PLAN = {
  shape: 'mixed',
  ids: [],
  connections: 64,
  warmUpMs: 0,
  measureMs: 10_000,
  ratePerSecond: null,
} as const;
const SAMPLE_MS = 2000;
const GRANT = 1000;

export interface Segment {
  readonly atSeconds: number;
  readonly requestsPerSecond: number;
  readonly p99Micros: number;
  /** Samples of the server's resident memory within the segment: time and bytes. */
  readonly resident: readonly (readonly [atSeconds: number, bytes: number])[];
  readonly serverProcessors: number;
  readonly errors: number;
  readonly samples: readonly string[];
}

export async function runMemory(
  stores: Stores,
  closers: Closers,
  options: {
    customers: number;
    seconds: number;
    signal: AbortSignal;
    readonly say: (line: string) => void;
  },
): Promise<readonly Segment[]> {
  const { customers, seconds, signal, say } = options;
  const authorization = await seed(stores, customers);
  signal.throwIfAborted();
  say(`${customers} customers are there`);
  const child = await startService(stores, { ACTOR_CACHE_MAX: String(CACHED) });
  closers.push(() => child.stop());
  const segments: Segment[] = [];
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1000;
  while (elapsed() < seconds) {
    const plan = {
      ...PLAN,
      ports: [child.port],
      authorization,
      customers,
      run: 1000 + segments.length,
    };
    const segment = await runSegment(plan, { pid: child.pid, elapsed, signal });
    segments.push(segment);
    const [rate, mib] = [segment.requestsPerSecond, (segment.resident.at(-1)?.[1] ?? 0) / 2 ** 20];
    say(`${Math.round(elapsed())} s: ${Math.round(rate)} requests/s, ${Math.round(mib)} MiB`);
    if (segment.errors > 0) break;
  }
  return segments;
}

async function runSegment(
  plan: LoadPlan,
  { pid, elapsed, signal }: { pid: number; elapsed: () => number; signal: AbortSignal },
): Promise<Segment> {
  const resident: [number, number][] = [];
  const timer = setInterval(() => resident.push([elapsed(), residentBytes(pid)]), SAMPLE_MS);
  const [atSeconds, used] = [elapsed(), secondsOf(pid)];
  const load = await generate(plan, signal).finally(() => clearInterval(timer));
  const latency = new Histogram();
  latency.add(load.latency);
  return {
    atSeconds,
    requestsPerSecond: load.completed / (load.measuredMs / 1000),
    p99Micros: latency.percentile(0.99),
    resident,
    serverProcessors: (secondsOf(pid) - used) / (elapsed() - atSeconds),
    errors: load.errors,
    samples: load.samples,
  };
}

/**
 * Gives the header value of a key. The service runs only for the one customer that is then copied.
 */
async function seed(stores: Stores, customers: number): Promise<string> {
  const child = await startService(stores);
  let made: { authorization: string; customerId: string };
  try {
    const { authorization } = await createOrganisation(stores);
    const post = poster(child.port, authorization);
    await createMeter(post);
    const customer = await post('/customers', { external_customer_id: customerName(0) });
    const customerId = String(customer['id']);
    await post(`/customers/${customerId}/grants`, { feature_key: FEATURE_KEY, amount: GRANT });
    made = { authorization, customerId };
  } finally {
    await child.stop();
  }
  const sql = postgres(stores.databaseUrl, { max: 1 });
  try {
    await cloneCustomer(sql, { customerId: made.customerId, count: customers });
  } finally {
    await sql.end();
  }
  return made.authorization;
}
