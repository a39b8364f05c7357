import { assert } from '../kernel/assert.ts';
import { HANDOVERS_MAX } from '../limits.ts';
import type { Handover, SeatedNode, Survey } from '../storage.ts';

/**
 * The owner that a slot should have: the node with the highest hash of both (rendezvous hashing).
 * Nodes that know the same nodes agree on it, and a node that comes or goes moves only its own
 * slots.
 */
export function rendezvous(slot: number, nodes: readonly number[]): number {
  let best = 0;
  let highest = -1;
  for (const node of nodes) {
    const weight = mix(Math.imul(slot + 1, 0x9e37_79b1) ^ mix(node));
    if (weight > highest || (weight === highest && node < best)) {
      best = node;
      highest = weight;
    }
  }
  assert(best > 0, 'a slot goes to one of the nodes');
  return best;
}

/** The live nodes that are not leaving. */
export function stayers({ nodes }: Survey): readonly number[] {
  return nodes.filter(({ alive, leaving }) => alive && !leaving).map(({ node }) => node);
}

/** The nodes that take over from dead ones: those that stay, or all live ones where none stays. */
function heirs(survey: Survey): readonly number[] {
  const staying = stayers(survey);
  if (staying.length > 0) return staying;
  return survey.nodes.filter(({ alive }) => alive).map(({ node }) => node);
}

/** Nodes with slots whose lease is over, and the new owner of each slot. */
export function takeovers(
  survey: Survey,
  me: number,
): readonly { readonly dead: SeatedNode; readonly to: readonly Handover[] }[] {
  const to = heirs(survey);
  if (to.length === 0) return [];
  return survey.nodes
    .filter(({ alive, halted, node }) => !alive && !halted && node !== me)
    .map((dead) => ({
      dead,
      to: slotsOf(survey, dead.node).map((slot) => ({ slot, node: rendezvous(slot, to) })),
    }))
    .filter(({ to: slots }) => slots.length > 0);
}

/** The next slots that the node hands over; `others` are the nodes that may get some. */
export function handovers({
  me,
  isLeaving,
  own,
  others,
}: {
  readonly me: number;
  readonly isLeaving: boolean;
  readonly own: readonly number[];
  readonly others: readonly number[];
}): readonly Handover[] {
  assert(!others.includes(me), 'a node is none of the others');
  const nodes = isLeaving ? others : [...others, me];
  if (nodes.length === 0) return [];
  return own
    .map((slot) => ({ slot, node: rendezvous(slot, nodes) }))
    .filter(({ node }) => node !== me)
    .slice(0, HANDOVERS_MAX);
}

export function slotsOf({ owners }: Survey, node: number): number[] {
  const slots: number[] = [];
  // By index: `entries()` allocates an array for each of a thousand slots, at each look of each
  // node.
  for (let slot = 0; slot < owners.length; slot += 1) if (owners[slot] === node) slots.push(slot);
  return slots;
}

/** A finalizer of MurmurHash3: every bit of the input moves every bit of the output. */
function mix(input: number): number {
  let hash = input | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
