// Faults of the journal that more than one kind of test must find.
import type { Fault } from './planted-tree.ts';

export const JOURNAL = 'ledger/actor/journal.ts';

const LANDED = 'const landed = found.seq === this.#fence.seq + 1n;';
const LANDED_ASSERT =
  "assert(landed || found.seq === this.#fence.seq, 'I7: a flush number was skipped');";

/** A lost flush is always written again. */
export const WRITTEN_AGAIN: Fault = {
  file: JOURNAL,
  replace: [
    [LANDED, 'const landed = false as boolean;'],
    [LANDED_ASSERT, ''],
  ],
};

/** A lost flush always counts as written. */
export const TAKEN_FOR_WRITTEN: Fault = {
  file: JOURNAL,
  replace: [
    [LANDED, 'const landed = true as boolean; found = { ...found, seq: this.#fence.seq + 1n };'],
  ],
};
