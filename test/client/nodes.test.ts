// Several nodes: the client learns who owns whom and goes there, and follows those who move.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type RequestInfo, Tollhouse } from '../../src/client/index.ts';
import { type Nodes, startNodes } from '../cluster/nodes.ts';

const NAMES = Array.from({ length: 24 }, (_, n) => `named-${n}`);

let nodes: Nodes;
let ids: Map<string, string>;
let sent: RequestInfo[] = [];

beforeAll(async () => {
  nodes = await startNodes(3);
  const [first] = nodes.all;
  await first!.call('PUT', '/meters/calls', { body: { name: 'Calls' } });
  const made = NAMES.map(async (name) => {
    const { json } = await first!.call('PUT', `/customers/${name}`, { body: {} });
    return [name, json.id] as const;
  });
  ids = new Map(await Promise.all(made));
}, 60_000);
afterAll(() => nodes.stop());

const client = (): Tollhouse =>
  new Tollhouse({
    apiKey: nodes.all[0]!.organisation.testKey,
    baseUrl: nodes.all.map(({ url }) => url),
    hooks: { onRequest: (request) => void sent.push(request) },
  });

const useOf = (externalCustomerId: string) => ({ externalCustomerId, featureKey: 'calls' });

/** Where the call of one customer goes. */
async function placeOf(call: () => Promise<unknown>): Promise<string> {
  sent = [];
  await call();
  expect(sent).toHaveLength(1);
  return sent[0]!.baseUrl;
}

async function ownersOf(names: readonly string[]): Promise<string[]> {
  return Promise.all(names.map(async (name) => (await nodes.ownerOf(ids.get(name)!)).url));
}

/** Three rounds: one tells the owners, and each node is asked until its number is known. */
async function warm(tollhouse: Tollhouse): Promise<void> {
  for (let round = 0; round < 8; round += 1) {
    await Promise.all(NAMES.map((name) => tollhouse.check(useOf(name))));
  }
}

test('the client sends calls to the owning node, in batches and alone', async () => {
  await using tollhouse = client();
  await warm(tollhouse);
  const owners = await ownersOf(NAMES);
  expect(new Set(owners).size).toBe(3);
  for (const [at, name] of NAMES.entries()) {
    expect(await placeOf(() => tollhouse.check(useOf(name)))).toBe(owners[at]!);
    expect(await placeOf(() => tollhouse.track(useOf(name)))).toBe(owners[at]!);
    const consume = { ...useOf(name), value: 0, consume: true };
    expect(await placeOf(() => tollhouse.check(consume))).toBe(owners[at]!);
  }
});

test('the client follows a node that leaves: no call fails, and customers are found anew', async () => {
  await using tollhouse = client();
  await warm(tollhouse);
  const leaving = nodes.all[2]!;
  const left = nodes.leave(leaving);
  let calls = 0;
  while (Bun.peek.status(left) === 'pending') {
    await Promise.all(NAMES.map((name) => tollhouse.track(useOf(name))));
    calls += 1;
  }
  await left;
  await warm(tollhouse);
  const owners = await ownersOf(NAMES);
  expect(owners).not.toContain(leaving.url);
  for (const [at, name] of NAMES.entries()) {
    expect(await placeOf(() => tollhouse.check(useOf(name)))).toBe(owners[at]!);
  }
  const [first] = nodes.all;
  const { json } = await first!.call('GET', `/customers/${NAMES[0]}/balances`);
  // One more of the test before.
  expect(json.data[0].consumed).toBe(calls + 1);
}, 60_000);
