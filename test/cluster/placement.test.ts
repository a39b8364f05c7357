// Which node should own which slots.
import { expect, test } from 'bun:test';
import { handovers, rendezvous, stayers, takeovers } from '../../ledger/cluster/placement.ts';
import type { SeatedNode, Survey } from '../../ledger/storage.ts';

const SLOTS = 1024;
const slots = Array.from({ length: SLOTS }).map((_, slot) => slot);

const node = (id: number, more: Partial<SeatedNode> = {}): SeatedNode => ({
  node: id,
  epoch: 1n,
  address: `node-${id}:1`,
  alive: true,
  leaseMs: 1000,
  leaving: false,
  halted: false,
  ...more,
});

const survey = (nodes: readonly SeatedNode[], owner: (slot: number) => number): Survey => ({
  nodes,
  owners: slots.map(owner),
});

test.each([2, 3, 4, 8, 16])('%i nodes are given about the same number of slots', (count) => {
  const nodes = Array.from({ length: count }).map((_, i) => i + 1);
  const shares = Map.groupBy(slots, (slot) => rendezvous(slot, nodes));
  for (const id of nodes) {
    const share = shares.get(id)?.length ?? 0;
    expect(share).toBeGreaterThan((SLOTS / count) * 0.7);
    expect(share).toBeLessThan((SLOTS / count) * 1.35);
  }
});

test('the same nodes in any order give the same placement of slots', () => {
  for (const slot of slots) expect(rendezvous(slot, [5, 1, 9])).toBe(rendezvous(slot, [9, 5, 1]));
});

test('a node that joins takes its share of slots from each; nothing else moves', () => {
  const moved = slots.filter((slot) => rendezvous(slot, [1, 2, 3]) !== rendezvous(slot, [1, 2]));
  expect(moved.length).toBeGreaterThan(200);
  for (const slot of moved) expect(rendezvous(slot, [1, 2, 3])).toBe(3);
});

test('a node hands over slots that belong elsewhere, a few at a time', () => {
  const going = handovers({ me: 1, isLeaving: false, own: slots, others: [2] });
  expect(going).toHaveLength(32);
  for (const { slot, node: to } of going) expect([rendezvous(slot, [1, 2]), to]).toEqual([2, 2]);
  const balanced = slots.filter((slot) => rendezvous(slot, [1, 2]) === 1);
  expect(handovers({ me: 1, isLeaving: false, own: balanced, others: [2] })).toEqual([]);
});

test('a node that leaves hands over all slots, only to nodes that stay', () => {
  const leaving = [node(1, { leaving: true }), node(2, { leaving: true }), node(3)];
  const others = stayers(survey(leaving, () => 1));
  expect(others).toEqual([3]);
  const going = handovers({ me: 1, isLeaving: true, own: slots, others });
  expect(new Set(going.map((one) => one.node))).toEqual(new Set([3]));
  expect(handovers({ me: 1, isLeaving: true, own: slots, others: [] })).toEqual([]);
});

test('slots of dead nodes go to the nodes that stay, each to its planned place', () => {
  const dead = node(2, { alive: false, epoch: 7n });
  const seen = survey([node(1), dead, node(3), node(4, { leaving: true })], () => 2);
  const [taken, ...none] = takeovers(seen, 1);
  expect(none).toEqual([]);
  expect(taken?.dead).toEqual(dead);
  expect(taken?.to).toHaveLength(SLOTS);
  for (const { slot, node: to } of taken!.to) expect(to).toBe(rendezvous(slot, [1, 3]));
});

test.each([
  ['itself', survey([node(1, { alive: false }), node(2)], () => 1)],
  ['a node that lives', survey([node(1), node(2)], () => 2)],
  ['a node without slots', survey([node(1), node(2, { alive: false })], () => 1)],
])('no node takes over slots from %s', (_, seen) => {
  expect(takeovers(seen, 1)).toEqual([]);
});

test('where all nodes are leaving, those still alive take over slots of the dead', () => {
  const seen = survey([node(1, { leaving: true }), node(2, { alive: false })], () => 2);
  expect(takeovers(seen, 1)[0]?.to[0]?.node).toBe(1);
});
