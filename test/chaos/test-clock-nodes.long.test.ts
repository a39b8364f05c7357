// Nodes are killed while a test clock moves: the clock of a dead node blocks nobody, due work is
// done once, and a retry continues the move.
import { afterEach, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase } from '../support/database.ts';
import { type Random, withSeed } from '../support/random.ts';
import { ask, buy } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { nodeEnvironment, type ServiceProcess, startProcess } from './service-process.ts';
import { createKeys } from './tenant.ts';

const LEASE_MS = 1000;
const SUBSCRIPTIONS = 12;
const MONTHS = 24;
const KILLS = 2;
const KILL_MS_MAX = 1500;

const started: ServiceProcess[] = [];
afterEach(async () => {
  for (const node of started.splice(0)) await node.kill();
});

async function startNode(databaseUrl: string): Promise<ServiceProcess> {
  const env = await nodeEnvironment();
  const node = await startProcess({ databaseUrl, leaseMs: LEASE_MS, env });
  started.push(node);
  await node.up();
  return node;
}

type Clock = { readonly now: string; readonly status: string };

for (const victim of ['the node that moves it', 'another'] as const) {
  test(`kill -9 of ${victim} while two years pass on three nodes bills each month once`, async () => {
    const database = await freshDatabase();
    const sql = openPool(database.url, { max: 1, applicationName: 'chaos verdict' });
    const { testKey: key } = await createKeys(database.url);
    let nodes: ServiceProcess[] = [];
    for (let made = 0; made < 3; made += 1) nodes.push(await startNode(database.url));
    const seller = (node: ServiceProcess) => ({ url: node.url, key });
    /** Retries while the node is not ready. */
    const insist = async <T>(work: () => Promise<T>): Promise<T> => {
      let result: { value: T } | null = null;
      await until('it is answered', async () => {
        result = await work().then(
          (value) => ({ value }),
          () => null,
        );
        return result !== null;
      });
      return result!.value;
    };
    await until('it is served', () => nodes[0]!.isReady());
    const plan = { amount: '10', currency: 'USD', type: 'recurring', interval: 'month' };
    const { id } = await insist(() =>
      ask(seller(nodes[0]!), 'POST', '/products', { name: 'Plan', prices: [plan] }),
    );
    for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
      const who = { customer_email: `${index}@example.com`, external_customer_id: `${index}` };
      await buy(seller(nodes[index % 3]!), { means: ['good'], product_id: id, ...who });
    }
    const read = (node: ServiceProcess): Promise<Clock> =>
      insist(() => ask(seller(node), 'GET', '/test-clock'));
    const target = new Date((await read(nodes[0]!)).now);
    target.setUTCMonth(target.getUTCMonth() + MONTHS, target.getUTCDate() + 1);
    const ends: string[] = [];
    await withSeed(async (random: Random) => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = await read(nodes[0]!);
        if (Date.parse(before.now) >= target.getTime()) break;
        const mover = random.pick(nodes);
        const killed =
          victim === 'another' ? random.pick(nodes.filter((node) => node !== mover)) : mover;
        const moving = ask(seller(mover), 'POST', '/test-clock', {
          now: target.toISOString(),
        }).then(
          () => 'arrived',
          () => 'stopped',
        );
        await Bun.sleep(random.integer(1, KILL_MS_MAX));
        await killed.kill();
        ends.push(await moving);
        nodes = nodes.filter((node) => node !== killed);
        // The clock does not wait for the dead node: every other node shows it running, and shows
        // no earlier time.
        for (const node of nodes) {
          await until('the clock runs', async () => (await read(node)).status === 'ready');
          expect(Date.parse((await read(node)).now)).toBeGreaterThanOrEqual(Date.parse(before.now));
        }
        nodes.push(await startNode(database.url));
      }
      if (victim !== 'another') expect(ends).toContain('stopped');
      await insist(async () => {
        if (Date.parse((await read(nodes[0]!)).now) >= target.getTime()) return;
        await ask(seller(nodes[0]!), 'POST', '/test-clock', { now: target.toISOString() });
      });
    });
    const rows = await sql<object[]>`
      select count(distinct period_start)::int as periods, count(*)::int as invoices,
        count(*) filter (where status = 'paid')::int as paid
      from invoices group by subscription_id`;
    const each = { periods: MONTHS + 1, invoices: MONTHS + 1, paid: MONTHS + 1 };
    expect([...rows]).toEqual(Array.from({ length: SUBSCRIPTIONS }, () => each));
    expect(await audit(sql)).toEqual([]);
    await sql.end();
    for (const node of started.splice(0)) await node.kill();
    await database.drop();
  }, 180_000);
}
