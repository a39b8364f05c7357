// A node falls silent while a customer uses up a spend cap. The next owner has the cap, what was
// spent of it, and that it was announced.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { Reply } from '../support/server.ts';
import { UNHURRIED } from '../support/settling.ts';
import { until } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(3, { leaseMs: 2000, settings: UNHURRIED });
}, 60_000);
afterAll(() => nodes.stop());

const CAP = 20;

async function make(path: string, body: object): Promise<string> {
  const { status, text, json } = await nodes.all[0]!.call('POST', path, { body });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return json.id;
}

/** Two features, of which each unit costs a cent. */
async function capped(): Promise<string> {
  const customer = await make('/customers', {});
  const prices = [{ amount: '0.00', currency: 'USD', type: 'recurring', interval: 'month' }];
  for (const slug of [`one ${customer}`, `other ${customer}`].map((name) =>
    name.replace(' ', '-'),
  )) {
    await make('/meters', { slug });
    const product = await make('/products', { name: slug, prices });
    const price = { feature_key: slug, currency: 'USD', model: 'per_unit', unit_amount: '0.01' };
    await make(`/products/${product}/usage-prices`, price);
    await make('/subscriptions', { customer_id: customer, product_id: product });
  }
  const body = { amount: `0.${CAP}`, currency: 'USD' };
  const put = await nodes.all[0]!.call('PUT', `/customers/${customer}/spend-cap`, { body });
  expect(put.status).toBe(200);
  return customer;
}

test('a lost node: acknowledged usage is within the spend cap, which is announced once', async () => {
  await make('/webhook-endpoints', { url: 'https://hooks.example/a', event_types: ['*'] });
  const customer = await capped();
  const lost = await nodes.ownerOf(customer);
  const others = nodes.all.filter((node) => node !== lost);
  const consume = (key: number): Promise<Reply> => {
    const body = {
      customer_id: customer,
      feature_key: `${key % 2 === 0 ? 'one' : 'other'}-${customer}`,
      consume: true,
      idempotency_key: `work ${key}`,
    };
    return others[key % others.length]!.call('POST', '/check', { body });
  };
  /** Again, until it is answered. */
  const insist = async (key: number): Promise<boolean> => {
    for (;;) {
      const { status, json } = await consume(key);
      if (status === 200) return json.allowed;
      expect(status).toBe(503);
    }
  };
  const before = await Promise.all(Array.from({ length: 8 }, (_, key) => insist(key)));
  expect(before).toEqual(before.map(() => true));
  const during = Array.from({ length: 80 }, (_, key) => insist(100 + key));
  lost.journal.freeze();
  await until('it has an heir', async () => (await nodes.ownerOf(customer)) !== lost);
  const allowed = (await Promise.all(during)).filter((is) => is).length;
  expect(allowed).toBe(CAP - before.length);
  // The same keys get the same answers.
  expect(await insist(0)).toBe(true);
  const read = await others[0]!.call('GET', `/customers/${customer}/spend-cap`);
  expect(read.json).toMatchObject({ amount: `0.${CAP}`, spent: `0.${CAP}`, remaining: '0.00' });
  lost.journal.thaw();
  lost.journal.cut();
  const { sql } = nodes.all[0]!;
  const told =
    await sql`select from events where type = 'customer.spend_cap_reached' and account_id = ${customer}`;
  // Each of its subscriptions has reached it.
  expect(told.length).toBe(2);
  expect(await audit(sql)).toEqual([]);
}, 60_000);
