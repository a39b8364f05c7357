// A test clock is moved through one node: every node shows the same time, and all that is due is
// done at its own time, on whichever node.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { TestServer } from '../support/server.ts';
import { ask, buy, type Seller } from '../support/shop.ts';
import { type Nodes, startNodes } from './nodes.ts';

setDefaultTimeout(120_000);

const MONTHS = 12;
/** Often during a year, and no load by itself. */
const LOOK_MS = 10;
const DAY = 24 * 3_600_000;

let nodes: Nodes;
afterEach(() => nodes.stop());

const sellerAt = ({ url, organisation }: TestServer): Seller => ({
  url,
  key: organisation.testKey,
});

const read = async (node: TestServer): Promise<{ now: number; status: string }> => {
  const { json } = await node.call('GET', '/test-clock');
  return { now: Date.parse(json.now), status: json.status };
};

/** This many customers, each with a monthly plan that has an allowance, bought through any node. */
async function subscribe(count: number): Promise<void> {
  const sellers = nodes.all.map(sellerAt);
  const [first] = sellers;
  await ask(first!, 'POST', '/meters', { slug: 'calls' });
  const monthly = { amount: '10', currency: 'USD', type: 'recurring', interval: 'month' };
  const { id } = await ask(first!, 'POST', '/products', { name: 'Plan', prices: [monthly] });
  await ask(first!, 'POST', `/products/${id}/entitlements`, { feature_key: 'calls', limit: 100 });
  for (let index = 0; index < count; index += 1) {
    const who = { external_customer_id: `${index}`, customer_email: `${index}@example.com` };
    await buy(sellers[index % sellers.length]!, { means: ['good'], product_id: id, ...who });
  }
}

async function target(months: number): Promise<string> {
  const to = new Date((await read(nodes.all[0]!)).now);
  to.setUTCMonth(to.getUTCMonth() + months, to.getUTCDate() + 1);
  return to.toISOString();
}

/** Each subscription has an invoice for each month, paid within a minute of the month's start. */
async function expectBilled(count: number, months: number): Promise<void> {
  const { sql } = nodes.all[0]!;
  const rows = await sql<object[]>`
    select count(distinct period_start)::int as periods, count(*)::int as invoices,
      count(*) filter (where status = 'paid')::int as paid,
      bool_and(issued_at between period_start and period_start + interval '70 seconds') as prompt,
      bool_and(paid_at between period_start and period_start + interval '70 seconds') as settled
    from invoices group by subscription_id`;
  const each = { periods: months + 1, invoices: months + 1, paid: months + 1 };
  const whole = { ...each, prompt: true, settled: true };
  expect([...rows]).toEqual(Array.from({ length: count }, () => whole));
  expect(await audit(sql)).toEqual([]);
}

/** All nodes show the same time, within the duration of the calls. */
async function expectTogether(to: number): Promise<void> {
  const shown = await Promise.all(nodes.all.map((node) => read(node)));
  for (const { now, status } of shown)
    expect([status, now >= to, now < to + 5000]).toEqual(['ready', true, true]);
}

/** What every node says of the clock while `work` runs. */
async function watched<T>(work: Promise<T>): Promise<{ result: T; seen: Seen[] }> {
  const seen: Seen[] = [];
  const run = { isOver: false };
  const watching = nodes.all.map(async (node, index) => {
    while (!run.isOver) {
      seen.push({ index, ...(await read(node)) });
      await Bun.sleep(LOOK_MS);
    }
  });
  const result = await work.finally(() => (run.isOver = true));
  await Promise.all(watching);
  return { result, seen };
}
type Seen = { readonly index: number; readonly now: number; readonly status: string };

test('a year of subscriptions on three nodes is right, with the test clock the same on all', async () => {
  nodes = await startNodes(3);
  await subscribe(12);
  const [mover, ...others] = nodes.all;
  const now = await target(MONTHS);
  const { result, seen } = await watched(mover!.call('POST', '/test-clock', { body: { now } }));
  expect([result.status, result.text]).toEqual([200, result.text]);
  expect(result.json.status).toBe('ready');
  await expectBilled(12, MONTHS);
  await expectTogether(Date.parse(now));
  for (const index of nodes.all.keys()) {
    const times = seen.filter((one) => one.index === index).map((one) => one.now);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(seen.some((one) => one.index === index && one.status !== 'ready')).toBe(true);
  }
  // Usage counts in the current period, on all of them.
  const question = { feature_key: 'calls', external_customer_id: '3' };
  for (const other of others)
    expect((await other.call('POST', '/check', { body: question })).json.balance).toBe(100);
});

test('a test clock is moved by one call at a time, at whichever node it is asked', async () => {
  nodes = await startNodes(3);
  await subscribe(6);
  const statuses = await Promise.all(
    nodes.all.flatMap((node) =>
      [1, 2].map(
        async () => (await node.call('POST', '/test-clock', { body: { advance: 'P2M' } })).status,
      ),
    ),
  );
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409, 409]);
  await expectBilled(6, 2);
});

test('nodes join and leave while a test clock is moved', async () => {
  nodes = await startNodes(2);
  await subscribe(12);
  const [mover, leaver] = nodes.all;
  const now = await target(MONTHS);
  const moving = mover!.call('POST', '/test-clock', { body: { now } });
  const joined = await nodes.join();
  const shown = await read(joined);
  await nodes.leave(leaver!);
  const { status, text } = await moving;
  expect([status, text]).toEqual([200, text]);
  expect(shown.now).toBeLessThan(Date.parse(now) + DAY);
  await expectBilled(12, MONTHS);
  await expectTogether(Date.parse(now));
});

test('nodes that hear no notification of the test clock are told, step by step', async () => {
  nodes = await startNodes(3);
  const [mover, ...others] = nodes.all;
  for (const other of others) other.proxy.freeze();
  for (let day = 0; day < 30; day += 1) {
    const { json } = await mover!.call('POST', '/test-clock', { body: { advance: 'P1D' } });
    const shown = await Promise.all(others.map((other) => read(other)));
    for (const { now, status } of shown)
      expect([day, status, now >= Date.parse(json.now)]).toEqual([day, 'ready', true]);
  }
  for (const other of others) other.proxy.thaw();
});
