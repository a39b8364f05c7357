// Streams of events while nodes and the relay are killed: each reader has every acknowledged event
// exactly once, in the order of positions, over all of its connections.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { type Random, shuffled, withSeed } from '../support/random.ts';
import { StreamReader } from '../support/event-stream.ts';
import { until } from '../support/until.ts';
import { nodeEnvironment, type ServiceProcess, startProcess } from './service-process.ts';
import { StubbornReader } from './stream-load.ts';
import { createKeys } from './tenant.ts';
import { startWorker, type WorkerProcess } from './worker-process.ts';

const LEASE_MS = 1000;
const NODES = 2;
const READERS = 12;
const WRITERS = 4;
const HOLDS_MS = 1500;

let database: FreshDatabase;
let sql: Sql;
let worker: WorkerProcess;
let nodes: ServiceProcess[] = [];

/** Positions are given by the worker alone. */
async function startNode(): Promise<ServiceProcess> {
  const env = { ...(await nodeEnvironment()), DELIVER_WEBHOOKS: 'false' };
  const node = await startProcess({ databaseUrl: database.url, leaseMs: LEASE_MS, env });
  await node.ready();
  return node;
}

/** @param blows how many at least; each kind comes as often as the others */
export function testStreams(blows: number): void {
  openNodesForEach();
  test(
    'an event stream across nodes that are killed misses nothing and repeats nothing',
    () => withSeed((random) => nothingIsMissing(random, blows)),
    120_000 + 20_000 * blows,
  );
  test(
    'a node that shuts down ends its event streams cleanly, and is not held up by them',
    aNodeStops,
    120_000,
  );
}

function openNodesForEach(): void {
  beforeEach(async () => {
    database = await freshDatabase();
    sql = openPool(database.url, { max: 2, applicationName: 'test' });
    nodes = [await startNode()];
    while (nodes.length < NODES) nodes.push(await startNode());
    worker = await startWorker(database.url);
  }, 60_000);

  afterEach(async () => {
    await Promise.all([worker.kill(), ...nodes.map((node) => node.kill())]);
    await sql.end();
    await database.drop();
  }, 60_000);
}

const urls = (): readonly string[] => nodes.map(({ url }) => url);

/** Makes customers, and says which of its calls were acknowledged. */
function startWriters(key: string) {
  const acknowledged = new Set<string>();
  const stopping = new AbortController();
  let next = 0;
  const write = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const name = `customer-${(next += 1)}`;
      const all = urls();
      const answer = await fetch(`${all[next % all.length]}/customers`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ external_customer_id: name }),
        signal: AbortSignal.timeout(5000),
      }).catch(() => null);
      if (answer?.status === 201) acknowledged.add(name);
      await answer?.text().catch(() => undefined);
      await Bun.sleep(3);
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, write));
  return {
    acknowledged,
    async stop() {
      stopping.abort();
      await writing;
    },
  };
}

const BLOWS = ['kill', 'stop', 'relay', 'cut'] as const;

/** Kills a node or the relay, or stops a node as an operator does; and starts another. */
async function strike(what: (typeof BLOWS)[number], random: Random): Promise<void> {
  if (what === 'relay') {
    await worker.kill();
    await Bun.sleep(random.integer(0, 500));
    worker = await startWorker(database.url);
  } else if (what === 'cut') {
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'tollhouse event streams'`;
  } else {
    const victim = nodes.shift()!;
    if (what === 'kill') await victim.kill();
    else victim.signal('SIGTERM');
    nodes.push(await startNode());
    if (what === 'stop') expect(await victim.exited).toBe(0);
  }
  await Bun.sleep(random.integer(200, 1000));
}

async function nothingIsMissing(random: Random, blows: number): Promise<void> {
  const { id, testKey: key } = await createKeys(database.url);
  const options = { random, urls, key, holdsMs: HOLDS_MS };
  const readers = Array.from({ length: READERS }, () => new StubbornReader(options, id));
  const writers = startWriters(key);
  const struck: string[] = [];
  while (struck.length < blows) {
    for (const what of shuffled(BLOWS, random)) {
      await strike(what, random);
      struck.push(what);
    }
  }
  await writers.stop();
  const passed = async () => (await sql`select from event_queue limit 1`).length === 0;
  await until('the relay has passed all', passed);
  const positioned = await sql<{ id: string; name: string }[]>`
      select e.id, c.external_customer_id as name from event_fanouts f join events e on e.id = f.event_id
      join customers c on c.id = e.object_id where e.organisation_id = ${id} order by f.position`;
  const all = positioned.map((row) => row.id);
  expect(writers.acknowledged.size).toBeGreaterThan(100);
  const told = new Set(positioned.map(({ name }) => name));
  expect([...writers.acknowledged].filter((name) => !told.has(name))).toEqual([]);
  // They hand over what they have when a connection ends.
  const haveAll = () => readers.every((reader) => reader.ids.length >= all.length);
  await until('the readers have all', haveAll, 30_000).catch(() => undefined);
  await Promise.all(readers.map((reader) => reader.stop()));
  for (const reader of readers) {
    expect(reader.ids).toEqual(all);
    expect(reader.refused).toEqual([]);
    expect(reader.connections).toBeGreaterThan(5);
  }
  console.log({ events: all.length, blows: struck.join(' ') });
}

async function aNodeStops(): Promise<void> {
  const { id, testKey: key } = await createKeys(database.url);
  const [leaving, staying] = nodes as [ServiceProcess, ServiceProcess];
  const open = (node: ServiceProcess, after: string) => StreamReader.open(node.url, { key, after });
  const readers = await Promise.all(Array.from({ length: READERS }, () => open(leaving, id)));
  const writers = startWriters(key);
  await Promise.all(readers.map((reader) => reader.has(20)));
  leaving.signal('SIGTERM');
  expect(await Promise.all(readers.map(({ over }) => over))).toEqual(readers.map(() => true));
  let code: number | null = null;
  const exited = leaving.exited.then((ended) => (code = ended));
  await until('it has ended', () => code !== null, 20_000);
  expect(await exited).toBe(0);
  nodes = [staying];
  await writers.stop();
  const all = await open(staying, id);
  await all.has(writers.acknowledged.size);
  for (const reader of readers) {
    const rest = await open(staying, reader.lastId!);
    await rest.has(all.ids.length - reader.ids.length);
    expect([...reader.ids, ...rest.ids]).toEqual(
      all.ids.slice(0, reader.ids.length + rest.ids.length),
    );
    await rest.close();
  }
  await all.close();
}
