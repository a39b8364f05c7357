// Usage is sold while nodes are killed: between any two commits of its billing, and at random while
// the test clock moves over three nodes. Programs report usage all the time, late and again. In the
// end each closed span is on one line, and the invoices come to what was acknowledged.
import { afterEach, expect, test } from 'bun:test';
import { freshDatabase } from '../support/database.ts';
import { withSeed } from '../support/random.ts';
import { until } from '../support/until.ts';
import { killAt } from './kill-at.ts';
import { startKillable } from './killable.ts';
import { isDone, MONEY_ENV, withSql, wrongBooks } from './money.ts';
import { nodeEnvironment, type ServiceProcess, startProcess } from './service-process.ts';
import { openSteps, type Step } from './steps.ts';
import { createKeys } from './tenant.ts';
import { wrongUsage } from './usage-reckoning.ts';
import { UsageSales } from './usage-sales.ts';

const BUYERS = 6;
const PROGRAMS = 8;
const NODES = 3;
const WEEKS = 2;
const LEASE_MS = 1000;
const KILL_MS_MAX = 700;

/** The commits of a late event, and of a renewal that bills usage. */
const BILLED: readonly Step[] = [
  {
    name: 'a late event moves the end of a span',
    on: 'update on usage_spans',
    when: 'old.closing_aggregate <> new.closing_aggregate',
  },
  {
    name: 'spans close',
    on: 'update on usage_spans',
    when: 'old.ended_at is null and new.ended_at is not null',
  },
  {
    name: 'spans are billed',
    on: 'update on usage_spans',
    when: 'old.billed_as is null and new.billed_as is not null',
  },
  {
    name: 'the invoice is issued',
    on: 'insert on invoices',
    when: `new.billing_reason <> 'usage'`,
  },
];
/** The commits of a change that is paid first. */
const CHANGED: readonly Step[] = [
  {
    name: 'the change waits for its payment',
    on: 'update on subscriptions',
    when: 'old.waiting is null and new.waiting is not null',
  },
  {
    name: 'the change is paid',
    on: 'update on subscriptions',
    when: 'old.waiting is not null and new.waiting is null',
  },
];
/** The commits of an end. */
const ENDED: readonly Step[] = [
  {
    name: 'the subscription ends',
    on: 'update on subscriptions',
    when: 'old.ended_at is null and new.ended_at is not null',
  },
  {
    name: 'the last invoice is issued',
    on: 'insert on invoices',
    when: `new.billing_reason = 'usage'`,
  },
];

test('kill -9 between the commits of billed usage: one line for each span, and the same money', async () => {
  const service = await startKillable(MONEY_ENV);
  const steps = await openSteps(service.databaseUrl, [...BILLED, ...CHANGED, ...ENDED]);
  try {
    await withSeed((random) =>
      withSql(service.databaseUrl, async (sql) => {
        const { testKey: key } = await createKeys(service.databaseUrl);
        const { target } = service;
        const sales = await UsageSales.open({ key, random, target, buyers: BUYERS });
        const stop = sales.report(PROGRAMS);
        await sales.passWeek();
        for (const step of BILLED) {
          let passed = Promise.resolve();
          await killAt({ service, steps, random }, step, () => (passed = sales.passWeek()));
          await passed;
        }
        for (const [index, step] of CHANGED.entries()) {
          let changed = Promise.resolve();
          await killAt({ service, steps, random }, step, () => (changed = sales.change(2 + index)));
          await changed;
        }
        await sales.passWeek();
        await stop();
        for (const step of ENDED) {
          let ended = Promise.resolve();
          await killAt(
            { service, steps, random },
            step,
            () => (ended = sales.end(BUYERS / ENDED.length)),
          );
          await ended;
        }
        await until('nothing is left to do', () => isDone(sql));
        expect(await wrongUsage(sql, sales)).toEqual([]);
        expect(await wrongBooks(sql)).toEqual([]);
      }),
    );
  } finally {
    await steps.stop();
    await service.stop();
  }
}, 180_000);

const started: ServiceProcess[] = [];
afterEach(async () => {
  for (const node of started.splice(0)) await node.kill();
});

async function startNode(databaseUrl: string): Promise<ServiceProcess> {
  const env = { ...MONEY_ENV, ...(await nodeEnvironment()) };
  const node = await startProcess({ databaseUrl, leaseMs: LEASE_MS, env });
  started.push(node);
  await node.up();
  return node;
}

test('kill -9 of one of three nodes while weeks pass: every acknowledged event is in one line', async () => {
  const database = await freshDatabase();
  await withSeed((random) =>
    withSql(database.url, async (sql) => {
      const { testKey: key } = await createKeys(database.url);
      const nodes: ServiceProcess[] = [];
      for (let made = 0; made < NODES; made += 1) nodes.push(await startNode(database.url));
      await until('it is served', () => nodes[0]!.isReady());
      const target = async (): Promise<string> => random.pick(nodes).url;
      const sales = await UsageSales.open({ key, random, target, buyers: BUYERS });
      const stop = sales.report(PROGRAMS);
      /** The customers of the dead node go to the others; another one joins. */
      const killOneDuring = async (work: Promise<void>): Promise<void> => {
        await Bun.sleep(random.integer(1, KILL_MS_MAX));
        await nodes.splice(random.integer(0, NODES - 1), 1)[0]!.kill();
        nodes.push(await startNode(database.url));
        await work;
      };
      for (let week = 0; week < WEEKS; week += 1) await killOneDuring(sales.passWeek());
      await stop();
      await killOneDuring(sales.end(BUYERS));
      await until('nothing is left to do', () => isDone(sql));
      expect(await wrongUsage(sql, sales)).toEqual([]);
      expect(await wrongBooks(sql)).toEqual([]);
    }),
  );
  for (const node of started.splice(0)) await node.kill();
  await database.drop();
}, 180_000);
