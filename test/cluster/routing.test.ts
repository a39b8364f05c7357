// Every node answers every request, whichever node owns the customer.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Reply, TestServer } from '../support/server.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(3);
  await post(nodes.all[0]!, '/meters', { slug: 'calls', event_name: 'call' });
}, 60_000);
afterAll(() => nodes.stop());

async function post(node: TestServer, path: string, body: unknown): Promise<Reply> {
  return node.call('POST', path, { body });
}

let customers = 0;
async function customer(limit: number): Promise<{ id: string; name: string }> {
  const [first] = nodes.all;
  const name = `customer-${(customers += 1)}`;
  const made = await post(first!, '/customers', { external_customer_id: name });
  const { id } = made.json;
  const granted = await post(first!, `/customers/${id}/grants`, {
    feature_key: 'calls',
    amount: limit,
  });
  expect(granted.status).toBe(201);
  return { id, name };
}

test('usage that one node recorded is read by every node at once', async () => {
  const { id } = await customer(100);
  for (let value = 1; value <= 6; value += 1) {
    const writer = nodes.all[value % 3]!;
    const tracked = await post(writer, '/track', { feature_key: 'calls', customer_id: id });
    expect(tracked.status).toBe(200);
    expect(tracked.json.consumed).toBe(value);
    for (const reader of nodes.all) {
      const checked = await post(reader, '/check', { feature_key: 'calls', customer_id: id });
      expect(checked.json).toMatchObject({ allowed: true, consumed: value, balance: 100 - value });
    }
  }
});

test('a limit holds, however many nodes are called at once', async () => {
  const { name } = await customer(50);
  const consumes = await Promise.all(
    Array.from({ length: 120 }).map((_, i) =>
      post(nodes.all[i % 3]!, '/check', {
        feature_key: 'calls',
        external_customer_id: name,
        consume: true,
      }),
    ),
  );
  expect(consumes.filter(({ status }) => status === 200)).toHaveLength(120);
  expect(consumes.filter(({ json }) => json.allowed === true)).toHaveLength(50);
});

test('a key counts once, at whichever nodes it comes in', async () => {
  const { id } = await customer(100);
  const body = { feature_key: 'calls', customer_id: id, idempotency_key: 'once', value: 3 };
  const answers = await Promise.all(
    Array.from({ length: 30 }).map((_, i) => post(nodes.all[i % 3]!, '/track', body)),
  );
  expect(answers.filter(({ json }) => json.duplicate === false)).toHaveLength(1);
  expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
  const checked = await post(nodes.all[1]!, '/check', { feature_key: 'calls', customer_id: id });
  expect(checked.json.consumed).toBe(3);
});

test('a call is split over the nodes of its customers, all or nothing', async () => {
  // So many that each node has some: with 60, one run in ten billion has a node without any.
  const made = await Promise.all(Array.from({ length: 60 }).map(() => customer(1000)));
  const owners = new Set(await Promise.all(made.map(({ id }) => nodes.ownerOf(id))));
  expect(owners.size).toBe(3);
  const events = made.flatMap(({ id }, i) => [
    { name: 'call', customer_id: id, external_id: `event-${i}`, properties: {} },
    { name: 'call', customer_id: id, properties: {} },
  ]);
  const sent = events.map(({ properties: _none, ...event }) => event);
  const first = await post(nodes.all[0]!, '/events/ingest', { events: sent });
  expect(first.json).toMatchObject({ inserted: 120, duplicates: 0 });
  const again = await post(nodes.all[1]!, '/events/ingest', { events: sent });
  expect(again.json).toMatchObject({ inserted: 60, duplicates: 60 });
  // A refused key refuses the whole call, whichever node refuses it.
  const { id } = await customer(1);
  const refused = { feature_key: 'calls', customer_id: id, value: 5, idempotency_key: 'refused' };
  const answer = await post(nodes.all[2]!, '/track', { ...refused, overage: 'reject' });
  expect(answer.status).toBe(402);
  const bad = [...sent, { name: 'call', customer_id: id, external_id: 'refused' }];
  const whole = await post(nodes.all[2]!, '/events/ingest', { events: bad });
  expect(whole.status).toBe(400);
  expect(whole.json.error.issues[0].path).toEqual(['events', '120', 'external_id']);
  for (const [i, { id: owner }] of made.entries()) {
    const checked = await post(nodes.all[i % 3]!, '/check', {
      feature_key: 'calls',
      customer_id: owner,
    });
    expect(checked.json.consumed).toBe(3);
  }
});

test('a batch of checks is gathered from all nodes, in order', async () => {
  const made = await Promise.all([5, 6, 7, 8, 9].map((limit) => customer(limit)));
  const checks = made.map(({ name }) => ({ feature_key: 'calls', external_customer_id: name }));
  const unknown = { feature_key: 'calls', external_customer_id: 'nobody' };
  for (const node of nodes.all) {
    const { json } = await post(node, '/check/batch', { checks: [...checks, unknown] });
    expect(json.results.slice(0, 5).map((one: { limit: number }) => one.limit)).toEqual([
      5, 6, 7, 8, 9,
    ]);
    expect(json.results[5].error.type).toBe('not_found');
  }
});

test('grants, balances and voids are the same at every node', async () => {
  const { id } = await customer(10);
  const stranger = await nodes.strangerTo(id);
  const granted = await post(stranger, `/customers/${id}/grants`, {
    feature_key: 'calls',
    amount: 5,
  });
  const balances = await stranger.call('GET', `/customers/${id}/balances`);
  expect(balances.json.data[0].limit).toBe(15);
  const path = `/grants/${granted.json.id}/void`;
  expect((await stranger.call('POST', path)).json.voided_at).not.toBeNull();
  expect((await stranger.call('GET', `/customers/${id}/balances`)).json.data[0].limit).toBe(10);
});

/** At each node, for each of the customers. */
async function grantTo(all: readonly { readonly id: string }[], key: string) {
  const grant = { feature_key: 'calls', amount: 5, idempotency_key: key };
  const asked = all.flatMap(({ id }) =>
    nodes.all.map((node) => post(node, `/customers/${id}/grants`, grant)),
  );
  return (await Promise.all(asked)).map(({ status, json }) => [status, json.id]);
}

test('a grant with a key is one grant of its customer, at any node', async () => {
  for (let round = 0; round < 10; round += 1) {
    const made = await Promise.all([customer(1), customer(1)]);
    const answers = await grantTo(made, `round ${round}`);
    const [one, other] = [answers[0]!, answers[3]!];
    expect(answers).toEqual([one, one, one, other, other, other]);
    expect([one[0], other[0]]).toEqual([201, 201]);
    expect(one[1]).not.toBe(other[1]);
  }
});

test('another organisation finds no customer, on any node', async () => {
  const { id } = await customer(10);
  const { testKey } = nodes.all[0]!.other;
  for (const node of nodes.all) {
    const body = { feature_key: 'calls', customer_id: id };
    expect((await node.call('POST', '/check', { key: testKey, body })).status).toBe(404);
  }
});
