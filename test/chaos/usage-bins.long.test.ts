// Nodes are killed and frozen while they record usage and fold it into bins: bins and deltas have
// each event once, for whoever reads meanwhile too.
import { afterEach, expect, test } from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase } from '../support/database.ts';
import { type Random, withSeed } from '../support/random.ts';
import { until } from '../support/until.ts';
import { killAt } from './kill-at.ts';
import { startKillable } from './killable.ts';
import { withSql, wrongBooks } from './money.ts';
import { nodeEnvironment, type ServiceProcess, startProcess } from './service-process.ts';
import { openSteps, type Step, type Steps } from './steps.ts';
import { createKeys } from './tenant.ts';
import { UsageOverTime } from './usage-over-time.ts';

const CUSTOMERS = 8;
const PROGRAMS = 8;
const READERS = 2;
const NODES = 3;
const LEASE_MS = 1000;
const DISTURBANCES = 5;
const DISTURBED_MS_MAX = 800;

/** What one fold does, in its order. */
const FOLD: readonly Step[] = [
  { name: 'deltas are gone', on: 'delete on usage_deltas' },
  { name: 'corrections are gone', on: 'delete on usage_corrections' },
  { name: 'a bin is new', on: 'insert on usage_bins' },
  { name: 'a bin grows', on: 'update on usage_bins' },
  { name: 'a total grows', on: 'update on usage_totals' },
];

/** Each second the deltas until then are folded, and not when they have waited for others. */
const foldAtOnce = (sql: Sql) =>
  sql`alter table usage_deltas alter column written_at set default '2000-01-01Z'`;

/** Bins hold what the ledger does, and the answers say what was acknowledged. */
async function expectExact(sql: Sql, usage: UsageOverTime): Promise<void> {
  expect(usage.faults).toEqual([]);
  expect(usage.readings).toBeGreaterThan(0);
  await usage.expectAll();
  expect(await wrongBooks(sql)).toEqual([]);
  await until('usage is in bins', async () => {
    return (await sql`select from usage_deltas limit 1`).length === 0;
  });
  await usage.expectAll();
  expect(await wrongBooks(sql)).toEqual([]);
}

test('kill -9 in the middle of a usage bin fold: it is done, or done again', async () => {
  const service = await startKillable();
  const steps = await openSteps(service.databaseUrl, FOLD);
  try {
    await withSeed((random) =>
      withSql(service.databaseUrl, async (sql) => {
        await foldAtOnce(sql);
        const { testKey: key } = await createKeys(service.databaseUrl);
        const { target } = service;
        const usage = await UsageOverTime.open({ key, random, target, customers: CUSTOMERS });
        const stop = usage.start(PROGRAMS, READERS);
        for (const step of FOLD) await killAt({ service, steps, random }, step, () => undefined);
        await stop();
        await expectExact(sql, usage);
      }),
    );
  } finally {
    await steps.stop();
    await service.stop();
  }
}, 120_000);

const started: ServiceProcess[] = [];
afterEach(async () => {
  for (const node of started.splice(0)) await node.kill();
});

async function startNode(databaseUrl: string): Promise<ServiceProcess> {
  const node = await startProcess({ databaseUrl, leaseMs: LEASE_MS, env: await nodeEnvironment() });
  started.push(node);
  await node.up();
  return node;
}

type Place = {
  readonly databaseUrl: string;
  readonly nodes: ServiceProcess[];
  readonly steps: Steps;
  readonly random: Random;
};

const aWhile = (random: Random) => Bun.sleep(random.integer(1, DISTURBED_MS_MAX));

/** Each is over when it resolves. */
const DISTURBED: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  async killed({ databaseUrl, nodes, random }) {
    const [node] = nodes.splice(random.integer(0, nodes.length - 1), 1);
    await node!.kill();
    nodes.push(await startNode(databaseUrl));
  },
  async frozen({ nodes, random }) {
    const node = random.pick(nodes);
    node.signal('SIGSTOP');
    await aWhile(random);
    node.signal('SIGCONT');
  },
  /** A fold takes long, and then the database ends its connection, or it goes on. */
  async slow({ steps, random }) {
    const held = await steps.hold(random.pick(FOLD.slice(2)));
    await held.reached();
    await aWhile(random);
    await held.end(random.pick(['rolled back', 'committed']));
  },
};

test('three nodes killed or frozen at any moment, with long folds: usage bins are right', async () => {
  const database = await freshDatabase();
  const databaseUrl = database.url;
  const nodes: ServiceProcess[] = [];
  for (let made = 0; made < NODES; made += 1) nodes.push(await startNode(databaseUrl));
  for (const node of nodes) await node.ready();
  const steps = await openSteps(databaseUrl, FOLD);
  await withSeed((random) =>
    withSql(databaseUrl, async (sql) => {
      await foldAtOnce(sql);
      const { testKey: key } = await createKeys(databaseUrl);
      const target = async (): Promise<string> => random.pick(nodes).url;
      const usage = await UsageOverTime.open({ key, random, target, customers: CUSTOMERS });
      const stop = usage.start(PROGRAMS, READERS);
      for (let count = 0; count < DISTURBANCES; count += 1) {
        const disturb = Object.values(DISTURBED)[count % 3]!;
        await disturb({ databaseUrl, nodes, steps, random });
        await aWhile(random);
      }
      await stop();
      await expectExact(sql, usage);
    }),
  );
  await steps.stop();
  for (const node of started.splice(0)) await node.kill();
  await database.drop();
}, 120_000);
