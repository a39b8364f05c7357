// An Idempotency-Key is one request on all nodes: a charged buyer is never told that nothing was
// done.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { Reply } from '../support/server.ts';
import { ask, buy, type Seller } from '../support/shop.ts';
import { type Nodes, startNodes } from './nodes.ts';

const ROUNDS = 4;
const CALLERS = 6;

let nodes: Nodes;
let seller: Seller;
beforeAll(async () => {
  nodes = await startNodes(3);
  const { url, organisation } = nodes.all[0]!;
  seller = { url, key: organisation.testKey };
}, 60_000);
afterAll(() => nodes.stop());

/** All callers at once with one key, each at the next node. */
function everybody(
  key: string,
  path: string,
  bodyOf: (caller: number) => object,
): Promise<Reply[]> {
  const headers = { 'idempotency-key': key };
  return Promise.all(
    Array.from({ length: CALLERS }, (_, caller) =>
      nodes.all[caller % 3]!.call('POST', path, { headers, body: bodyOf(caller) }),
    ),
  );
}

function newCustomers(): Promise<{ readonly id: string }[]> {
  return Promise.all(Array.from({ length: CALLERS }, () => ask(seller, 'POST', '/customers', {})));
}

async function plan(amount: string, trialDays = 0): Promise<{ id: string; price: string }> {
  const price = { amount, currency: 'USD', type: 'recurring', interval: 'month' };
  const prices = [{ ...price, ...(trialDays > 0 && { trial_days: trialDays }) }];
  const made = await ask(seller, 'POST', '/products', { name: 'Plan', prices });
  return { id: made.id, price: made.prices[0].id };
}

async function signUp(product: string, name: string): Promise<string> {
  const who = { external_customer_id: name, customer_email: `${name}@example.com` };
  await buy(seller, { means: ['good'], product_id: product, ...who });
  const [row] = await nodes.all[0]!.sql<{ id: string }[]>`
    select s.id from subscriptions s join customers c on c.id = s.customer_id where external_customer_id = ${name}`;
  return row!.id;
}

// prettier-ignore
const ACTIONS: [string, string, number, (dearer: string) => object][] = [
  // what                action       trial  body
  ['a dearer plan',      'change',    0,     (dearer) => ({ price_id: dearer })],
  ['more of a plan',     'change',    0,     () => ({ quantity: 3 })],
  ['the end of a trial', 'end-trial', 7,     () => ({})],
];
test.each(ACTIONS)(
  '%s with one key at every node at once: all are told that it was done',
  async (what, action, trialDays, bodyOf) => {
    const [from, to] = [await plan('10', trialDays), await plan('50')];
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await signUp(from.id, `${what.replaceAll(' ', '-')}-${round}`);
      const replies = await everybody(id, `/subscriptions/${id}/${action}`, () => bodyOf(to.price));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      const { data } = await ask(seller, 'GET', `/payments?subscription_id=${id}`);
      expect(data).toHaveLength(2);
    }
  },
  60_000,
);

test('one key for several customers starts one subscription, and the others get a conflict', async () => {
  const { id: product } = await plan('0');
  for (let round = 0; round < ROUNDS; round += 1) {
    const customers = await newCustomers();
    const replies = await everybody(`round ${round}`, '/subscriptions', (caller) => ({
      customer_id: customers[caller]!.id,
      product_id: product,
    }));
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, 422, 422, 422, 422, 422]);
  }
  expect(await audit(nodes.all[0]!.sql)).toEqual([]);
}, 60_000);

test('the same keys for other customers, in another order at every node, count for each and deadlock none', async () => {
  await ask(seller, 'POST', '/meters', { slug: 'calls', event_name: 'call' });
  const customers = await Promise.all(
    Array.from({ length: 30 }, () => ask(seller, 'POST', '/customers', {})),
  );
  const owners = await Promise.all(customers.map(({ id }) => nodes.ownerOf(id)));
  const ownOf = nodes.all.map((node) => customers.filter((_, i) => owners[i] === node));
  let inserted = 0;
  for (let round = 0; round < 10; round += 1) {
    const keys = Array.from({ length: 60 }, (_, i) => `round ${round}, ${(i * 37) % 60}`);
    const orders = [keys, keys.toReversed(), keys.toSorted()];
    const replies = await Promise.all(
      nodes.all.map((node, at) => {
        const own = ownOf[at]!;
        const events = orders[at]!.map((key, i) => ({
          name: 'call',
          customer_id: own[i % own.length].id,
          external_id: key,
        }));
        return node.call('POST', '/events/ingest', { body: { events } });
      }),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { json } of replies) inserted += json.inserted;
  }
  // Each node's customers have their own keys.
  expect(inserted).toBe(1800);
  const waited = nodes.all.flatMap(({ logged }) => logged.filter((line) => line.includes('flush')));
  expect(waited).toEqual([]);
}, 60_000);

test('checkouts at once under one key at all nodes are one, and each caller gets it', async () => {
  const { id: product_id } = await plan('10.00');
  const replies = await everybody('checkouts', '/checkouts', () => ({
    product_id,
    customer_email: 'ada@example.com',
  }));
  expect(replies.map(({ status }) => status)).toEqual(Array(CALLERS).fill(201));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
});
