// A node that loses the database is taken over. Meanwhile it answers nothing from memory, and later
// it comes back.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { audit } from '../../src/database/audit.ts';
import type { TestServer } from '../support/server.ts';
import { until, untilReady } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

const LEASE_MS = 1000;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(3, { leaseMs: LEASE_MS });
  await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls' } });
}, 60_000);
afterAll(() => nodes.stop());

async function customer(): Promise<string> {
  return (await nodes.all[0]!.call('POST', '/customers', { body: {} })).json.id;
}

const track = (node: TestServer, id: string, key: string) =>
  node.call('POST', '/track', {
    body: { feature_key: 'calls', customer_id: id, idempotency_key: key },
  });
const check = (node: TestServer, id: string) =>
  node.call('POST', '/check', { body: { feature_key: 'calls', customer_id: id } });

/** Retries until it is answered. */
async function insist<T extends { status: number }>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
  }
}

test('after a takeover the new owner has all acknowledged writes, and the old one answers nothing', async () => {
  const ids = await Promise.all(Array.from({ length: 12 }).map(() => customer()));
  const owners = await Promise.all(ids.map((id) => nodes.ownerOf(id)));
  const lost = owners[0]!;
  const its = ids.filter((_, i) => owners[i] === lost);
  const [other] = nodes.all.filter((node) => node !== lost);
  for (const id of its) expect((await track(lost, id, `first ${id}`)).json.consumed).toBe(1);
  // It can neither write to the database nor read from it; its peers can still reach it.
  lost.journal.freeze();
  const late = track(lost, its[0]!, 'while it is lost');
  for (const id of its) {
    // The call at the cut-off node counts by now only if that node has forwarded it.
    const counts = id === its[0] ? [2, 3] : [2];
    const answer = await insist(() => track(other!, id, `second ${id}`));
    expect(counts).toContain(answer.json.consumed);
    for (const node of nodes.all) {
      const seen = await insist(() => check(node, id));
      expect(counts).toContain(seen.json.consumed);
    }
  }
  expect(await nodes.ownerOf(its[0]!)).not.toBe(lost);
  lost.journal.thaw();
  lost.journal.cut();
  const said = await late;
  expect([200, 503]).toContain(said.status);
  const again = await insist(() => track(other!, its[0]!, 'while it is lost'));
  expect(again.json.duplicate).toBe(said.status === 200);
  // It claims a seat again, and gets its share of the slots.
  await untilReady(lost);
  await until('it has its share again', () => (lost.ledger.stats['slots'] ?? 0) >= 200);
  for (const id of ids) {
    const count = id === its[0] ? 3 : its.includes(id) ? 2 : 0;
    for (const node of nodes.all) expect((await check(node, id)).json.consumed).toBe(count);
  }
  expect(await audit(nodes.all[0]!.sql)).toEqual([]);
}, 60_000);

test('a reservation is held through a takeover, and its key is known', async () => {
  const id = await customer();
  const lost = await nodes.ownerOf(id);
  const other = await nodes.strangerTo(id);
  const grant = { feature_key: 'calls', amount: 10 };
  await other.call('POST', `/customers/${id}/grants`, { body: grant });
  const reserve = (amount: number, key: string) =>
    other.call('POST', '/reservations', {
      body: { feature_key: 'calls', customer_id: id, amount, idempotency_key: key },
    });
  const first = await reserve(6, 'first');
  expect([first.status, first.json.balance]).toEqual([201, 4]);
  lost.journal.freeze();
  expect((await insist(() => reserve(5, 'too many'))).status).toBe(402);
  expect((await insist(() => reserve(6, 'first'))).json).toEqual(first.json);
  const commit = () =>
    other.call('POST', `/reservations/${first.json.id}/commit`, { body: { value: 4 } });
  expect((await insist(commit)).json).toMatchObject({ status: 'committed', balance: 6 });
  lost.journal.thaw();
  lost.journal.cut();
  await untilReady(lost);
  for (const node of nodes.all) {
    const { json } = await insist(() => check(node, id));
    expect([json.consumed, json.reserved, json.balance]).toEqual([4, 0, 6]);
  }
  expect(await audit(nodes.all[0]!.sql)).toEqual([]);
}, 60_000);

// prettier-ignore
const UNHEARD: [string, object, object][] = [
  ['/check', { consume: true },     { allowed: true }],
  ['/track', { overage: 'reject' }, { duplicate: false }],
];
test.each(UNHEARD)(
  '%s recorded and never answered is found by its retry after a takeover, however little is left',
  async (path, how, said) => {
    for (let isLanded = false; !isLanded;) {
      const id = await customer();
      const owner = await nodes.ownerOf(id);
      const stranger = await nodes.strangerTo(id);
      const grant = { feature_key: 'calls', amount: 1 };
      expect((await stranger.call('POST', `/customers/${id}/grants`, { body: grant })).status).toBe(
        201,
      );
      const [seat] = await stranger.sql`select node from slots where slot = ${slotOf(id)}`;
      owner.journal.deafen();
      // The caller sent no key: only the nodes know that it is the same call.
      const body = { feature_key: 'calls', customer_id: id, ...how };
      const run = { isAnswered: false };
      const recorded = stranger.call('POST', path, { body }).finally(() => (run.isAnswered = true));
      while (!isLanded && !run.isAnswered) {
        const rows = await stranger.sql`
        select from transfers t join accounts a on a.id = t.debit
        where a.customer_id = ${id} and t.node = ${seat!['node']}`;
        isLanded = rows.length === 1;
      }
      const answer = await recorded;
      expect([answer.status, answer.json]).toMatchObject([200, { ...said, consumed: 1 }]);
      expect(answer.headers.has('idempotency-replayed')).toBe(false);
      const after = await insist(() => check(stranger, id));
      expect(after.json).toMatchObject({ allowed: false, consumed: 1, balance: 0 });
      owner.journal.thaw();
      owner.journal.cut();
      await untilReady(owner);
    }
    expect(await audit(nodes.all[0]!.sql)).toEqual([]);
  },
  30_000,
);
