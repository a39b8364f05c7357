// A thousand readers: of one organisation, which costs one read, and of a thousand organisations.
// It says what they cost the server in memory and processor time.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { Readable } from 'node:stream';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import { tell } from '../../../src/platform/postgres/tell.ts';
import { secondsOf } from '../../bench/probes/processor-time.ts';
import { type ServiceProcess, startProcess } from '../../chaos/service-process.ts';
import { createOrganisation } from '../../../src/accounts/onboarding.ts';
import { ids } from '../../../src/platform/ids.ts';
import { startWorker, type WorkerProcess } from '../../chaos/worker-process.ts';
import { freshDatabase, type FreshDatabase } from '../../support/database.ts';
import type { CrowdSays } from '../../support/stream-crowd.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';

setDefaultTimeout(180_000);

const READERS = 1000;
/** Of the server: what each has of its own, and what is being sent. */
const MEMORY_MIB_MAX = 250;

let database: FreshDatabase;
let sql: Sql;
let service: ServiceProcess;
let worker: WorkerProcess;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 1, applicationName: 'test' });
  const SECRETS_KEY = Buffer.from(TEST_SECRETS_KEY).toString('base64');
  const env = { DELIVER_WEBHOOKS: 'false', SECRETS_KEY };
  service = await startProcess({ databaseUrl: database.url, leaseMs: 30_000, env });
  await service.ready();
  worker = await startWorker(database.url);
});
afterAll(async () => {
  await worker.kill();
  await service.kill();
  await sql.end();
  await database.drop();
});

async function memoryMib(): Promise<number> {
  const status = await Bun.file(`/proc/${service.pid}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

class Crowd {
  readonly #child;
  readonly #lines: AsyncIterator<string>;

  constructor(keys: readonly string[]) {
    const program = join(import.meta.dir, '../../support/stream-crowd.ts');
    this.#child = Bun.spawn([process.execPath, program, service.url, ...keys], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: String(2 * READERS) },
    });
    const lines: Interface = createInterface(Readable.fromWeb(this.#child.stdout as never));
    this.#lines = lines[Symbol.asyncIterator]();
  }

  async opened(): Promise<number> {
    return JSON.parse((await this.#lines.next()).value as string).open;
  }

  async says(): Promise<CrowdSays> {
    await this.#child.stdin.write('\n');
    await this.#child.stdin.flush();
    return JSON.parse((await this.#lines.next()).value as string);
  }

  /** What they say when each has so many. */
  async untilEachHas(count: number): Promise<CrowdSays> {
    for (let looks = 0; looks < 1200; looks += 1) {
      const says = await this.says();
      if (says.least >= count || says.over > 0) return says;
      await Bun.sleep(50);
    }
    throw new Error(`they do not have ${count}: ${JSON.stringify(await this.says())}`);
  }

  async leave(): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }
}

async function organisation() {
  const made = await createOrganisation(
    { sql, ids, now: Date.now() },
    { name: 'One', groupId: null },
  );
  if (typeof made === 'string') throw new Error(made);
  return made;
}

/** One event for each, in one transaction, told as the service does. */
async function write(organisations: readonly string[]): Promise<void> {
  await sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data)
    select uuidv7(), id, 'test', 'tag.created', 'TAG', uuidv7(), 1, clock_timestamp(),
      jsonb_build_object('name', repeat('x', 300))
    from unnest(${[...organisations]}::uuid[]) id`;
  tell(sql, 'tollhouse_events');
}

/** Reads of the index that streams are read by. */
async function reads(): Promise<number> {
  const [row] = await sql<{ reads: number }[]>`
    select idx_scan::int as reads from pg_stat_user_indexes where indexrelname = 'event_fanouts_streamed'`;
  return row!.reads;
}

test('many event streams of one organisation read each event once for all', async () => {
  const { id, testKey } = await organisation();
  const before = await memoryMib();
  const crowd = new Crowd(Array.from({ length: READERS }, () => testKey));
  expect(await crowd.opened()).toBe(READERS);
  const [opened, readBefore] = [await memoryMib(), await reads()];
  // One after the other: how long it takes until they have it.
  const cpuAlone = secondsOf(service.pid);
  for (let n = 1; n <= 50; n += 1) {
    await write([id]);
    await crowd.untilEachHas(n);
  }
  const alone = await crowd.says();
  expect(alone.orders).toBe(1);
  const cpuOfOne = (secondsOf(service.pid) - cpuAlone) / 50;
  // And many at once: what one costs.
  const cpuBefore = secondsOf(service.pid);
  const burst = 500;
  await write(Array.from({ length: burst }, () => id));
  const says = await crowd.untilEachHas(50 + burst);
  const cpu = secondsOf(service.pid) - cpuBefore;
  expect(says).toMatchObject({ least: 50 + burst, most: 50 + burst, orders: 1, over: 0 });
  const memory = await memoryMib();
  console.log({
    'KiB for a reader': Math.round(((opened - before) * 1024) / READERS),
    'MiB more after all': Math.round(memory - opened),
    'us for an event and reader': (cpu * 1e6) / (burst * READERS),
    'us for a reader of an event alone': (cpuOfOne * 1e6) / READERS,
    'commit to reader': `${alone.p50} ms, p99 ${alone.p99} ms`,
  });
  expect(memory - before).toBeLessThan(MEMORY_MIB_MAX);
  // Statistics are a second behind.
  await Bun.sleep(1500);
  expect((await reads()) - readBefore).toBeLessThan(READERS);
  await crowd.leave();
});

test('event streams of many organisations each get their own events, by a few queries', async () => {
  const tenants: { readonly id: string; readonly testKey: string }[] = [];
  for (let n = 0; n < READERS; n += 1) tenants.push(await organisation());
  const before = await memoryMib();
  const crowd = new Crowd(tenants.map(({ testKey }) => testKey));
  expect(await crowd.opened()).toBe(READERS);
  const rounds = 10;
  const organisations = tenants.map(({ id }) => id);
  const cpuBefore = secondsOf(service.pid);
  for (let n = 1; n <= rounds; n += 1) {
    await write(organisations);
    await crowd.untilEachHas(n);
  }
  const cpu = secondsOf(service.pid) - cpuBefore;
  const says = await crowd.says();
  expect(says).toMatchObject({ least: rounds, most: rounds, orders: READERS, over: 0 });
  const idleBefore = secondsOf(service.pid);
  await Bun.sleep(5000);
  console.log({
    'us for an event': (cpu * 1e6) / (rounds * READERS),
    'share of a processor while nothing happens': (secondsOf(service.pid) - idleBefore) / 5,
    'MiB more': Math.round((await memoryMib()) - before),
  });
  expect((await memoryMib()) - before).toBeLessThan(MEMORY_MIB_MAX);
  await crowd.leave();
});
