// kill -9 while customers use and hold what they have prepaid: each call counts once, each hold ends
// once, and a pool has paid exactly what its members used beyond what they have of their own.
import { expect } from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase } from '../support/database.ts';
import { type Random, withSeed } from '../support/random.ts';
import { until } from '../support/until.ts';
import { statusOf } from './call.ts';
import { killAt } from './kill-at.ts';
import { startKillable } from './killable.ts';
import { withSql } from './money.ts';
import { PrepaidBook } from './prepaid-book.ts';
import { openPrepaid } from './prepaid-customers.ts';
import { PrepaidLoad } from './prepaid-load.ts';
import { expired, wrongPrepaid } from './prepaid-verdict.ts';
import { nodeEnvironment, type ServiceProcess, startProcess } from './service-process.ts';
import { openSteps, type Step } from './steps.ts';
import { createKeys } from './tenant.ts';

const CUSTOMERS = 8;
const CALLERS = 12;
const ANSWERS_BEFORE_KILL_MAX = 250;
const FAULTS_SHOWN = 5;

type Place = {
  readonly sql: Sql;
  readonly random: Random;
  readonly databaseUrl: string;
  readonly target: () => Promise<string>;
};

type Kills = {
  readonly count: number;
  /** The number counts from 0. Resolves when everybody is served again. */
  readonly kill: (
    seen: { readonly book: PrepaidBook; readonly key: string },
    number: number,
  ) => Promise<void>;
};

/** Kills under load, and a last one while holds are open and nobody calls. */
async function killWhilePrepaid(
  { sql, random, databaseUrl, target }: Place,
  { count, kill }: Kills,
): Promise<void> {
  const { testKey: key } = await createKeys(databaseUrl);
  const seller = async () => ({ url: await target(), key });
  const book = new PrepaidBook(await openPrepaid(await seller(), { random, count: CUSTOMERS }));
  const load = new PrepaidLoad({ book, random, key, target });
  const expectExact = async (): Promise<void> => {
    expect(book.faults.slice(0, FAULTS_SHOWN)).toEqual([]);
    await expired(sql, book);
    expect(await wrongPrepaid({ sql, seller: await seller() }, book)).toEqual([]);
  };
  load.start(CALLERS);
  for (let number = 0; number < count; number += 1) {
    await book.moreAnswers(random.integer(1, ANSWERS_BEFORE_KILL_MAX));
    await kill({ book, key }, number);
  }
  await book.moreAnswers(ANSWERS_BEFORE_KILL_MAX);
  await load.stop();
  await expectExact();
  await kill({ book, key }, count);
  await expectExact();
  await load.resolveAll();
  await expectExact();
  const rows = book.customers.flatMap((customer) => book.expected(customer));
  expect(rows.filter(({ reserved }) => !reserved.eq(0))).toEqual([]);
  // Otherwise no kill came during a call, no call was repeated, or nobody looked.
  for (const times of [book.unanswered, book.repeated, load.readings]) {
    expect(times).toBeGreaterThan(0);
  }
}

/** What is written of a pool beside what is written of its member. */
const STEPS: readonly Step[] = [
  { name: 'a pool pays', on: 'insert on transfers', when: `new.answer ? 'drawnFor'` },
  { name: 'a pool holds', on: 'insert on reservations', when: 'new.member_account_id is not null' },
  { name: 'a hold expires', on: 'update on reservations', when: `new.status = 'expired'` },
];

/** kill -9 while a pool pays, holds and lets go, and then at random: so many kills in all. */
export async function killAlone(kills: number): Promise<void> {
  const service = await startKillable();
  const { databaseUrl, target } = service;
  const steps = await openSteps(databaseUrl, STEPS);
  try {
    await withSeed((random) =>
      withSql(databaseUrl, async (sql) => {
        const kill = async (_seen: object, number: number): Promise<void> => {
          const step = STEPS[number];
          if (step !== undefined) return killAt({ service, steps, random }, step, () => undefined);
          await service.kill();
          await service.restart();
        };
        await killWhilePrepaid({ sql, random, databaseUrl, target }, { count: kills, kill });
      }),
    );
  } finally {
    await steps.stop();
    await service.stop();
  }
}

const NODES = 3;
const LEASE_MS = 1000;

/** One node of three is killed after another. */
export async function killOfThree(kills: number): Promise<void> {
  const database = await freshDatabase();
  const databaseUrl = database.url;
  const nodes: ServiceProcess[] = [];
  const start = async (): Promise<void> => {
    const env = await nodeEnvironment();
    const node = await startProcess({ databaseUrl, leaseMs: LEASE_MS, env });
    await node.ready();
    nodes.push(node);
  };
  try {
    for (let made = 0; made < NODES; made += 1) await start();
    await withSeed((random) =>
      withSql(databaseUrl, async (sql) => {
        const target = async (): Promise<string> => random.pick(nodes).url;
        const kill: Kills['kill'] = async ({ book, key }) => {
          const [node] = nodes.splice(random.integer(0, nodes.length - 1), 1);
          await node?.kill();
          for (const { id } of book.customers) {
            const path = `/customers/${id}/balances`;
            await until('another node serves its customers', async () => {
              return (await statusOf({ url: await target(), key }, path)) === 200;
            });
          }
          await start();
        };
        await killWhilePrepaid({ sql, random, databaseUrl, target }, { count: kills, kill });
      }),
    );
  } finally {
    for (const node of nodes) await node.kill();
    await database.drop();
  }
}
