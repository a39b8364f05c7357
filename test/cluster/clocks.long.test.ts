// The nodes' clocks differ: a time stamped by one node has begun on the next, and a wrong clock is
// not followed.
import { afterEach, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { clock } from '../../src/platform/clock.ts';
import type { TestServer } from '../support/server.ts';
import { ask, buy, type Seller } from '../support/shop.ts';
import { type Nodes, startNodes } from './nodes.ts';

const HOUR = 3_600_000;

let running: Nodes | null = null;
afterEach(() => running?.stop());

/** Nodes whose clocks are this many milliseconds ahead. */
async function startSkewed(ahead: readonly number[]): Promise<readonly TestServer[]> {
  const nodes = await startNodes(ahead.length, (index) => ({
    clock: { ...clock, now: () => Date.now() + (ahead[index] ?? 0) },
  }));
  running = nodes;
  return nodes.all;
}

const sellerAt = ({ url, organisation }: TestServer): Seller => ({
  url,
  key: organisation.testKey,
});

/** A plan that grants 100 calls a month; its id. */
async function plan(seller: Seller): Promise<string> {
  await ask(seller, 'POST', '/meters', { slug: 'calls' });
  const monthly = { amount: '10', currency: 'USD', type: 'recurring', interval: 'month' };
  const { id } = await ask(seller, 'POST', '/products', { name: 'Plan', prices: [monthly] });
  await ask(seller, 'POST', `/products/${id}/entitlements`, { feature_key: 'calls', limit: 100 });
  return id;
}

for (const ahead of [
  [0, 1500],
  [0, -1900, 0],
  [-800, 900, 30],
]) {
  test(`a grant is usable at once on every node, on clocks that are ${ahead.join(', ')} ms ahead`, async () => {
    const nodes = await startSkewed(ahead);
    const sellers = nodes.map(sellerAt);
    const product = await plan(sellers[0]!);
    for (let time = 0; time < 12; time += 1) {
      const [here, there] = [
        sellers[time % sellers.length]!,
        sellers[(time + 1) % sellers.length]!,
      ];
      const name = `customer-${time}`;
      const { id } = await ask(here, 'POST', '/customers', { external_customer_id: name });
      const grant = { feature_key: 'calls', amount: 5 };
      const { effective_at: from } = await ask(here, 'POST', `/customers/${id}/grants`, grant);
      const question = { feature_key: 'calls', customer_id: id };
      const answer = await ask(there, 'POST', '/check', question);
      expect([time, answer.allowed, answer.balance, from]).toEqual([time, true, 5, from]);
      const who = { external_customer_id: name, customer_email: `${time}@example.com` };
      await buy(here, { means: ['good'], product_id: product, ...who });
      const bought = await ask(there, 'POST', '/check', { ...question, value: 100 });
      expect([time, bought.allowed, bought.balance]).toEqual([time, true, 105]);
      const { data } = await ask(there, 'GET', `/subscriptions?customer_id=${id}`);
      expect(data).toMatchObject([{ status: 'active' }]);
    }
    expect(await audit(nodes[0]!.sql)).toEqual([]);
    expect(nodes.flatMap(({ logged }) => logged.filter((line) => line.includes('clock')))).toEqual(
      [],
    );
  }, 60_000);
}

test('a clock that is an hour ahead is not followed: the other nodes log it once, and go on', async () => {
  const nodes = await startSkewed([0, HOUR, 0]);
  const sellers = nodes.map(sellerAt);
  const product = await plan(sellers[0]!);
  const before = Date.now();
  for (let time = 0; time < 12; time += 1) {
    const [here, there] = [sellers[time % 3]!, sellers[(time + 1) % 3]!];
    const who = { external_customer_id: `${time}`, customer_email: `${time}@example.com` };
    await buy(here, { means: ['good'], product_id: product, ...who });
    const question = { feature_key: 'calls', external_customer_id: `${time}` };
    expect((await ask(there, 'POST', '/check', question)).balance).toBe(100);
  }
  for (const right of [nodes[0]!, nodes[2]!]) {
    const wall = Date.parse((await right.call('GET', '/test-clock')).json.now);
    expect([wall >= before, wall < Date.now() + 100]).toEqual([true, true]);
    expect(right.logged.filter((line) => line.includes('clock of another node'))).toHaveLength(1);
    const metrics = await right.call('GET', '/metrics', { key: null });
    const [, wrong] = /^tollhouse_clock_wrong_total (\d+)$/m.exec(metrics.text) ?? [];
    expect(Number(wrong)).toBeGreaterThan(1);
  }
}, 60_000);
