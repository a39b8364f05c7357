// A batch of usages, each recorded by itself at its customer's owner: over several nodes, while
// customers move, and while an owner is away.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { TestServer } from '../support/server.ts';
import { type Nodes, startNodes } from './nodes.ts';

/** Longer than a call waits for an owner. */
const LEASE_MS = 5000;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2, { leaseMs: LEASE_MS });
  await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls' } });
}, 60_000);
afterAll(() => nodes.stop());

type Result = {
  readonly consumed: number;
  readonly duplicate: boolean;
  readonly error?: { readonly type: string };
};

async function customers(count: number): Promise<string[]> {
  const made = Array.from({ length: count }, () =>
    nodes.all[0]!.call('POST', '/customers', { body: {} }),
  );
  return (await Promise.all(made)).map(({ json }) => json.id as string);
}

const item = (id: string, fields: object = {}) => ({
  feature_key: 'calls',
  customer_id: id,
  ...fields,
});

async function batch(node: TestServer, tracks: readonly object[], headers = {}) {
  const { status, json } = await node.call('POST', '/track/batch', { body: { tracks }, headers });
  return { status, results: (json.results ?? []) as Result[] };
}

const whatIsSaid = (result: Result) => result.error?.type ?? result.consumed;

/** As a retrying caller sees it. */
async function consumed(node: TestServer, id: string): Promise<number> {
  for (;;) {
    const { status, json } = await node.call('POST', '/check', { body: item(id) });
    if (status === 200) return json.consumed;
  }
}

test('it is split over the nodes, and the items of a customer keep their order', async () => {
  const ids = await customers(30);
  const owners = new Set(await Promise.all(ids.map((id) => nodes.ownerOf(id))));
  expect(owners.size).toBe(2);
  const nobody = '01890000-0000-7000-8000-000000000000';
  const tracks = [...ids, nobody, ...ids, ...ids].map((id) => item(id));
  for (const [round, node] of nodes.all.entries()) {
    const { status, results } = await batch(node, tracks);
    const said = (nth: number) => ids.map(() => 3 * round + nth);
    expect(status).toBe(200);
    expect(results.map(whatIsSaid)).toEqual([...said(1), 'not_found', ...said(2), ...said(3)]);
  }
});

test('a key counts once, at whichever nodes it comes in at once', async () => {
  const ids = await customers(40);
  const tracks = ids.map((id) => item(id, { idempotency_key: 'once' }));
  const calls = await Promise.all([0, 1, 0, 1].map((at) => batch(nodes.all[at]!, tracks)));
  for (const { results } of calls) expect(results.map(whatIsSaid)).toEqual(ids.map(() => 1));
  const fresh = calls.flatMap(({ results }) => results).filter(({ duplicate }) => !duplicate);
  expect(fresh).toHaveLength(ids.length);
});

test('while customers move to a new node, each item counts once and in order', async () => {
  const ids = await customers(60);
  // Without keys: only the nodes know that they ask again.
  const tracks = [...ids, ...ids].map((id) => item(id));
  const joining = nodes.join();
  const isJoined = async () =>
    (await Promise.race([joining, Promise.resolve('not yet')])) !== 'not yet';
  for (let sent = 0; sent < 4 || !(await isJoined()); sent += 1) {
    const { status, results } = await batch(nodes.all[sent % 2]!, tracks);
    expect(status).toBe(200);
    const first = ids.map(() => 2 * sent + 1);
    expect(results.map(whatIsSaid)).toEqual([...first, ...first.map((one) => one + 1)]);
  }
}, 60_000);

const WHOLE = { 'idempotency-key': 'whole' };

test('the items of an owner that is away are unavailable by themselves, and count once later', async () => {
  const [steady] = nodes.all;
  const lost = await nodes.strangerTo((await ownedBy(steady!))[0]!);
  const [here, there] = [await ownedBy(steady!), await ownedBy(lost)];
  const both = [here[0]!, there[0]!, here[1]!, there[1]!];
  for (const id of both) expect(await consumed(steady!, id)).toBe(0);
  const keyed = (ids: readonly string[]) => ids.map((id) => item(id, { idempotency_key: 'away' }));
  // Its seat stays taken until its lease ends: nobody serves its customers meanwhile.
  lost.ledger.abandon();
  const checks = both.map((id) => item(id));
  const [part, asked, none] = await Promise.all([
    batch(steady!, keyed(both), WHOLE),
    steady!.call('POST', '/check/batch', { body: { checks } }),
    batch(steady!, keyed(there)),
  ]);
  const away = 'service_unavailable';
  expect([part.status, part.results.map(whatIsSaid)]).toEqual([200, [1, away, 1, away]]);
  const answers = asked.json.results as Result[];
  const isAway = answers.map(({ error }) => error?.type === away);
  expect([asked.status, isAway]).toEqual([200, [false, true, false, true]]);
  // Nothing of it can be answered: the call is refused as a single one is.
  expect(none).toEqual({ status: 503, results: [] });
  for (const id of both) await consumed(steady!, id);
  // Its first answer was not the last word, so it is not replayed.
  const again = await batch(steady!, keyed(both), WHOLE);
  expect(again.results.map(whatIsSaid)).toEqual([1, 1, 1, 1]);
  expect(again.results.map(({ duplicate }) => duplicate)).toEqual([true, false, true, false]);
  expect(await audit(steady!.sql)).toEqual([]);
}, 60_000);

/** Two customers of this node. */
async function ownedBy(node: TestServer): Promise<string[]> {
  const owned: string[] = [];
  while (owned.length < 2) {
    const [id] = await customers(1);
    if ((await nodes.ownerOf(id!)) === node) owned.push(id!);
  }
  return owned;
}

test('an owner that falls silent while it records: what it recorded is found again', async () => {
  const [steady, ...others] = nodes.all;
  const silent = others.find(({ ledger }) => ledger.readiness().ready);
  const [id] = await ownedBy(silent!);
  const tracks = [item(id!, { idempotency_key: 'a' }), item(id!, { idempotency_key: 'b' })];
  // It has recorded it, and does not learn that.
  silent!.journal.deafen();
  const first = await batch(steady!, tracks);
  expect([first.status, first.results.map(whatIsSaid)]).toEqual([503, []]);
  expect(await consumed(steady!, id!)).toBe(2);
  const again = await batch(steady!, tracks);
  expect(again.results.map(({ duplicate }) => duplicate)).toEqual([true, true]);
  silent!.journal.thaw();
  silent!.journal.cut();
  expect(await audit(steady!.sql)).toEqual([]);
}, 60_000);
