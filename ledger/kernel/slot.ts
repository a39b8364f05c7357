import { assert } from './assert.ts';
import { SLOTS } from '../limits.ts';

/** The slot of an actor: the last bits of its id, which are random in every id that we make. */
export function slotOf(id: string): number {
  const slot = Number.parseInt(id.slice(-6), 16) % SLOTS;
  assert(slot >= 0 && slot < SLOTS, () => `no slot for ${id}`);
  return slot;
}
