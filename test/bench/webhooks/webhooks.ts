// Deliveries of webhooks by the service as it is started, to 500 endpoints on a sink of our own.
//
// - deliveries: this many are due at once, after one commit; the rate at which they are signed,
//   received and logged.
// - steady: a thousand events a second, each for one endpoint; from the commit to the sink.
// - backlog: the same while one endpoint has a hundred thousand due.
// - hanging: the same while three endpoints of five never answer.
import postgres, { type Sql } from 'postgres';
import { clock } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import type { Closers } from '../../support/closers.ts';
import { freePort } from '../../support/free-port.ts';
import { startChild } from '../bed/child.ts';
import { createOrganisation, poster, startService, type Stores } from '../bed/service.ts';
import { Histogram } from '../histogram.ts';
import { microsOfEach, type Processors, watchProcessors } from './processors.ts';
import type { Arrival, Seen, SinkSettings } from './sink.ts';

const SINK = Bun.fileURLToPath(import.meta.resolve('./sink.ts'));
const ENDPOINTS = 500;
/** The limit of an organisation. */
const ENDPOINTS_OF_ONE = 50;
const HANGING = 300;
const BACKLOG = 100_000;
// A thousand a second.
const STEADY_GAP_MS = 20;
const STEADY_EVENTS = 20;
const POLL_MS = 50;
const PATIENCE_MS = 120_000;

export type Delivered = {
  readonly name: 'deliveries' | 'steady' | 'backlog' | 'hanging';
  readonly owed: number;
  readonly missing: number;
  /** Received more than once. */
  readonly again: number;
  readonly unsigned: number;
  /** Failed attempts at endpoints that do answer. */
  readonly failed: number;
  /** Until all were received and logged; null where they were paced. */
  readonly perSecond: number | null;
  /** Microseconds of processor for each delivery, its share of the relay included. */
  readonly micros: Processors | null;
  /** From the commit to the sink, for paced ones. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number } | null;
};

type Bed = {
  readonly sql: Sql;
  /** Organisations by endpoint. */
  readonly owners: ReadonlyMap<string, string>;
  readonly sinkUrl: string;
  readonly processors: () => Processors;
  /** By the number at the end of their path. */
  readonly endpoints: readonly string[];
  readonly signal: AbortSignal;
};

export async function runWebhooks(
  stores: Stores,
  closers: Closers,
  options: {
    readonly seconds: number;
    readonly due: number;
    readonly signal: AbortSignal;
    readonly say: (line: string) => void;
  },
): Promise<readonly Delivered[]> {
  const { seconds, due, say } = options;
  const bed = await openBed(stores, closers, options.signal);
  const { sql, endpoints } = bed;
  const results: Delivered[] = [];
  async function run(load: Promise<Delivered>): Promise<void> {
    const result = await load;
    results.push(result);
    say(JSON.stringify(result));
  }
  say(`${ENDPOINTS} endpoints are there`);
  await flood(bed, ENDPOINTS);
  await run(flood(bed, due));
  await run(pace(bed, 'steady', { seconds, to: endpoints }));
  await owe(
    bed,
    Array.from({ length: BACKLOG }, () => endpoints[0] ?? null),
  );
  await run(pace(bed, 'backlog', { seconds, to: endpoints.slice(1) }));
  await sql`delete from deliveries where status = 'pending' and worker is null`;
  const hanging = endpoints.slice(0, HANGING);
  await sql`update webhook_endpoints set url = replace(url, '/ok/', '/hang/') where id = any(${hanging}::uuid[])`;
  await run(pace(bed, 'hanging', { seconds, to: endpoints }));
  return results;
}

async function openBed(stores: Stores, closers: Closers, signal: AbortSignal): Promise<Bed> {
  const port = await freePort();
  const settings: SinkSettings = { port };
  const sink = await startChild({
    name: 'sink',
    command: [process.execPath, SINK],
    port,
    env: { BENCH_SINK: JSON.stringify(settings) },
    directory: stores.dataDir,
    ready: { path: '/seen', status: 200 },
  });
  closers.push(() => sink.stop());
  const service = await startService(stores, { ALLOW_LOOPBACK_URLS: 'true' });
  closers.push(() => service.stop());
  const sinkUrl = `http://127.0.0.1:${port}`;
  const owners = new Map<string, string>();
  for (let made = 0; made < ENDPOINTS; made += ENDPOINTS_OF_ONE) {
    const { id, authorization } = await createOrganisation(stores);
    const post = poster(service.port, authorization);
    for (let index = made; index < made + ENDPOINTS_OF_ONE; index += 1) {
      const wanted = { url: `${sinkUrl}/ok/${index}`, event_types: ['*'] };
      owners.set(String((await post('/webhook-endpoints', wanted))['id']), id);
    }
  }
  const sql = postgres(stores.databaseUrl, { max: 2 });
  closers.push(() => sql.end({ timeout: 5 }));
  const processors = await watchProcessors(stores, { sql, service, sink });
  return { sql, owners, sinkUrl, processors, endpoints: [...owners.keys()], signal };
}

/** Commits one event for each of these endpoints, null for all endpoints. Returns their ids. */
async function owe(bed: Bed, to: readonly (string | null)[]): Promise<readonly string[]> {
  const everyone = [...new Set(bed.owners.values())];
  const events = to.flatMap<{ id: string; owner: string; endpoint: string | null }>((endpoint) =>
    endpoint === null
      ? everyone.map((owner) => ({ id: ids.next(), owner, endpoint }))
      : [{ id: ids.next(), owner: bed.owners.get(endpoint) ?? '', endpoint }],
  );
  const eventIds = events.map(({ id }) => id);
  await bed.sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data, endpoint_id)
    select id, owner, 'test', 'usage.recorded', 'USAGE', id, 1, now(), '{"value":"1"}', endpoint_id
    from unnest(${eventIds}::uuid[], ${events.map(({ owner }) => owner)}::uuid[],
      ${events.map(({ endpoint }) => endpoint)}::uuid[]) as e (id, owner, endpoint_id)`;
  return eventIds;
}

/** All at once. */
async function flood(bed: Bed, due: number): Promise<Delivered> {
  const before = bed.processors();
  await owe(
    bed,
    Array.from({ length: due / ENDPOINTS }, () => null),
  );
  const startedAt = performance.now();
  await until(bed, async () => (await seen(bed)).unique >= due);
  await until(bed, async () => (await pending(bed)) === 0);
  const perSecond = due / ((performance.now() - startedAt) / 1000);
  const micros = microsOfEach(before, bed.processors(), due);
  const [{ logged } = { logged: '0' }] = await bed.sql<{ logged: string }[]>`
    select count(*) as logged from deliveries d join delivery_attempts a on a.delivery_id = d.id
    where d.status = 'delivered' and a.status_code = 204`;
  const failed = await failures(bed);
  const { again, unsigned } = await seen(bed);
  const received = (await take(bed)).length;
  await bed.sql`truncate deliveries, delivery_attempts, event_fanouts, events`;
  const missing = due - Math.min(received, Number(logged));
  const faults = { missing, again, unsigned, failed };
  return { name: 'deliveries', owed: due, ...faults, perSecond, micros, latencyMs: null };
}

/** Events for these endpoints in turn. Only arrivals at endpoints that answer count. */
async function pace(
  bed: Bed,
  name: 'steady' | 'backlog' | 'hanging',
  { seconds, to }: { readonly seconds: number; readonly to: readonly string[] },
): Promise<Delivered> {
  const healthy = new Set(name === 'hanging' ? to.slice(HANGING) : to);
  const committed = new Map<string, number>();
  let turn = 0;
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    bed.signal.throwIfAborted();
    const now = clock.now();
    const next: (string | null)[] = [];
    for (; next.length < STEADY_EVENTS; turn += 1) next.push(to[turn % to.length] ?? null);
    for (const [index, id] of (await owe(bed, next)).entries()) {
      if (healthy.has(next[index] ?? '')) committed.set(id, now);
    }
    await Bun.sleep(Math.max(0, STEADY_GAP_MS - (clock.now() - now)));
  }
  const latency = new Histogram();
  const arrived = new Set<string>();
  let [again, unsigned] = [0, 0];
  await until(bed, async () => {
    const faults = await seen(bed);
    [again, unsigned] = [again + faults.again, unsigned + faults.unsigned];
    for (const [, id, at] of await take(bed)) {
      const since = committed.get(id);
      if (since === undefined) continue;
      if (arrived.has(id)) again += 1;
      else latency.record((at - since) * 1000);
      arrived.add(id);
    }
    return arrived.size === committed.size;
  });
  const owed = committed.size;
  const ms = (share: number): number => latency.percentile(share) / 1000;
  const latencyMs = { p50: ms(0.5), p99: ms(0.99), max: latency.maxMicros / 1000 };
  const faults = { missing: owed - arrived.size, again, unsigned, failed: await failures(bed) };
  return { name, owed, ...faults, perSecond: null, micros: null, latencyMs };
}

/** Gives up after a while and reports what is missing. */
async function until(bed: Bed, isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline;) {
    bed.signal.throwIfAborted();
    if (await isDone()) return;
    await Bun.sleep(POLL_MS);
  }
}

async function seen({ sinkUrl }: Bed): Promise<Seen> {
  return (await (await fetch(`${sinkUrl}/seen`)).json()) as Seen;
}

async function take({ sinkUrl }: Bed): Promise<readonly Arrival[]> {
  return (await (await fetch(`${sinkUrl}/arrivals`)).json()) as readonly Arrival[];
}

async function failures({ sql }: Bed): Promise<number> {
  const rows = await sql`
    select from delivery_attempts a join deliveries d on d.id = a.delivery_id join webhook_endpoints w on w.id = d.endpoint_id
    where a.status_code is distinct from 204 and w.url like '%/ok/%'`;
  return rows.length;
}

async function pending({ sql }: Bed): Promise<number> {
  const rows = await sql`select from deliveries where status = 'pending' limit 1`;
  return rows.length;
}
