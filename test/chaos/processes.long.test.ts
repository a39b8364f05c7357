// `--processes 3`: nodes on one port. One of them may die, and a planned stop fails no request.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { type ServiceProcess, startProcess } from './service-process.ts';
import { createTenant, OPEN_METER, type Tenant } from './tenant.ts';

const NODES = 3;
const SLOTS = 1024;
const CALLERS = 24;
const LEASE_MS = 2000;
const REFUSED = 'ECONNREFUSED';
const RESET = 'ECONNRESET';

let database: FreshDatabase;
let operatorsPort: number;
let fleet: ServiceProcess;

const nodeUrls = () =>
  Array.from({ length: NODES }, (_, index) => `http://127.0.0.1:${operatorsPort + index}`);

beforeEach(async () => {
  database = await freshDatabase();
  operatorsPort = 20_000 + NODES * Math.floor(Math.random() * 3000);
  fleet = await startProcess({
    databaseUrl: database.url,
    leaseMs: LEASE_MS,
    args: ['--processes', String(NODES)],
    env: { METRICS_PORT: String(operatorsPort), DELIVER_WEBHOOKS: 'false' },
  });
  await fleet.ready();
  await until('every node is ready', everyNodeIsReady);
}, 30_000);

afterEach(async () => {
  await fleet.kill();
  await database.drop();
}, 30_000);

async function everyNodeIsReady(): Promise<boolean> {
  const ready = nodeUrls().map((url) =>
    fetch(`${url}/ready`, { signal: AbortSignal.timeout(1000) }).then(
      (answer) => answer.ok,
      () => false,
    ),
  );
  return (await Promise.all(ready)).every(Boolean);
}

/** A number from each node, by its own port. */
async function numbersOf(name: string): Promise<readonly number[]> {
  const texts = nodeUrls().map(async (url) => (await fetch(`${url}/metrics`)).text());
  const line = new RegExp(`^${name} (.*)$`, 'm');
  return (await Promise.all(texts)).map((text) => Number(line.exec(text)?.[1]));
}

/** Identifies the process behind each node. */
const startTimes = () => numbersOf('process_start_time_seconds');

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** The nodes' processes: those whose parent is this one, as the system says. */
async function nodePids(): Promise<readonly number[]> {
  const listed = await Bun.$`ps -o pid= --ppid ${fleet.pid}`.nothrow().text();
  return listed.trim().split(/\s+/).filter(Boolean).map(Number);
}

type Load = {
  /** Answers by status, refusals with what they say, and requests without an answer. */
  readonly seen: Map<string, number>;
  readonly recorded: Set<string>;
  /** When connections were reset. */
  readonly resets: number[];
  more(answers: number): Promise<void>;
  stop(): Promise<void>;
};

/** Callers of /track on kept connections; they continue until a connection is refused. */
function startLoad({ customers, key }: Tenant): Load {
  const seen = new Map<string, number>();
  const recorded = new Set<string>();
  const resets: number[] = [];
  const stopping = new AbortController();
  let next = 0;
  async function one(): Promise<string> {
    const usage = `usage-${(next += 1)}`;
    try {
      const answer = await fetch(`${fleet.url}/track`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          customer_id: customers[next % customers.length],
          feature_key: OPEN_METER,
          idempotency_key: usage,
        }),
        signal: AbortSignal.timeout(10_000),
      });
      const said = await answer.text();
      if (!answer.ok) return `${answer.status} ${said}`;
      recorded.add(usage);
      return String(answer.status);
    } catch (error) {
      return String((error as { code?: string }).code ?? error);
    }
  }
  async function call(): Promise<void> {
    while (!stopping.signal.aborted) {
      const result = await one();
      seen.set(result, (seen.get(result) ?? 0) + 1);
      if (result === RESET) resets.push(Date.now());
      if (result === REFUSED) return;
    }
  }
  const calling = Promise.all(Array.from({ length: CALLERS }, call));
  return {
    seen,
    recorded,
    resets,
    async more(answers) {
      const goal = recorded.size + answers;
      await until(`${answers} more answers`, () => recorded.size >= goal);
    },
    async stop() {
      stopping.abort();
      await calling;
    },
  };
}

/** When the last node was told to stop. */
function lastLeaves(): number {
  const line = fleet.logged.findLast((said) => said.includes('"draining"'));
  return Date.parse((JSON.parse(line ?? '{}') as { time: string }).time);
}

/** @throws where a process still listens */
async function claimPort(): Promise<void> {
  const port = Number(new URL(fleet.url).port);
  await Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() }).stop(true);
}

async function countRecorded(): Promise<number> {
  const sql = openPool(database.url, { max: 1, applicationName: 'chaos count' });
  try {
    const [row] = await sql`select count(*)::int as count from transfers`;
    return row?.['count'] as number;
  } finally {
    await sql.end();
  }
}

test('a node that is killed is started again, and no acknowledged write is lost', async () => {
  const tenant = await createTenant(fleet.url, { databaseUrl: database.url, customers: 32 });
  const before = await startTimes();
  expect(new Set(before).size).toBe(NODES);
  const grants = await countRecorded();
  const load = startLoad(tenant);
  await load.more(500);
  expect(await numbersOf('tollhouse_ledger_live_nodes')).toEqual([NODES, NODES, NODES]);
  expect(sum(await numbersOf('tollhouse_ledger_slots'))).toBe(SLOTS);
  const forwarded = await numbersOf('tollhouse_ledger_forwarded_calls_total');
  expect(Math.min(...forwarded)).toBeGreaterThan(0);
  expect(sum(await numbersOf('tollhouse_peers_asked_total'))).toBeGreaterThanOrEqual(
    sum(forwarded),
  );
  const [victim] = await nodePids();
  process.kill(victim!, 'SIGKILL');
  await until('another one is there', async () => !(await nodePids()).includes(victim!));
  await until('every node is ready', everyNodeIsReady);
  await load.more(500);
  await load.stop();
  const after = await startTimes();
  expect(after.filter((time) => before.includes(time))).toHaveLength(NODES - 1);
  expect(await countRecorded()).toBeGreaterThanOrEqual(grants + load.recorded.size);
  expect(fleet.logged.filter((line) => line.includes('a service runs again'))).toHaveLength(1);
}, 60_000);

test('a cluster stopped under load answers every call it took, and leaves no process behind', async () => {
  const tenant = await createTenant(fleet.url, { databaseUrl: database.url, customers: 32 });
  const grants = await countRecorded();
  const load = startLoad(tenant);
  await load.more(500);
  const pids = await nodePids();
  expect(pids).toHaveLength(NODES);
  fleet.signal('SIGTERM');
  expect(await fleet.exited).toBe(0);
  await load.stop();
  const {
    '200': recorded,
    [REFUSED]: refused,
    [RESET]: reset = 0,
    ...failed
  } = Object.fromEntries(load.seen);
  expect(failed).toEqual({});
  expect(recorded).toBe(load.recorded.size);
  expect(refused).toBe(CALLERS);
  // A connection that was made just as the last node stopped listening. Its requests were not
  // accepted.
  expect(reset).toBeLessThanOrEqual(CALLERS);
  expect(load.resets.filter((at) => at < lastLeaves())).toEqual([]);
  expect(await countRecorded()).toBe(grants + load.recorded.size);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  await claimPort();
}, 60_000);

test('the nodes leave when their parent process is killed', async () => {
  fleet.signal('SIGKILL');
  // Its output ends with the last of them.
  await fleet.exited;
  await claimPort();
  expect(fleet.logged.filter((line) => line.includes('"stopped"'))).toHaveLength(NODES);
}, 60_000);

test('invalid arguments of the command, and a port in use, are one line each', async () => {
  const start = async (args: readonly string[], env: Record<string, string>, port: number) => {
    const started = await startProcess({
      databaseUrl: database.url,
      leaseMs: LEASE_MS,
      args,
      env,
      port,
    });
    expect(await started.exited).toBe(1);
    return started.logged;
  };
  for (const processes of ['0', '65', 'two', '-1']) {
    expect(await start([`--processes=${processes}`], {}, 1)).toEqual([
      'the arguments must be --processes N, from 1 to 64, or none',
    ]);
  }
  const port = Number(new URL(fleet.url).port);
  // A node logs this before it joins: customers that it took would wait for its lease to end.
  const node = {
    NODE_ADDRESS: `127.0.0.1:${await freePort()}`,
    NODE_SECRET: 'of nobody else, and 32 characters long',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  };
  const taken = { ...node, METRICS_PORT: String(operatorsPort) };
  for (const [inUse, lines] of [
    [port, await start([], {}, port)],
    [port, await start([], node, port)],
    [operatorsPort, await start([], taken, await freePort())],
  ] as const) {
    expect(lines).toHaveLength(1);
    expect(lines[0]).toStartWith(`cannot listen on port ${inUse}: `);
  }
}, 60_000);
