// What a failed peer says, how the ledger waits, and the slot of an id.
import { expect, test } from 'bun:test';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { PeerFailure, breathe, pause } from '../../ledger/ports.ts';

test.each([true, false])(
  'a peer that fails says whether the call may have been done: %p',
  (maybeDone) => {
    expect(new PeerFailure('lost', maybeDone)).toMatchObject({ message: 'lost', maybeDone });
  },
);

test('a wait through the timer port lasts its time, and lets others go first', async () => {
  const asked: unknown[] = [];
  const timers = {
    after: (ms: number, task: () => void) => {
      asked.push(ms);
      task();
      return () => undefined;
    },
    soon: (task: () => void) => {
      asked.push('soon');
      task();
    },
  };
  await pause(timers, 7);
  await breathe(timers);
  expect(asked).toEqual([7, 'soon']);
});

// prettier-ignore
test.each([
  ['00000000-0000-7000-8000-000000000000', 0],
  ['00000000-0000-7000-8000-0000000003ff', 1023],
  ['00000000-0000-7000-8000-000000000400', 0],
  ['00000000-0000-7000-8000-fffffff00401', 1],
])('the slot of %s is %p', (id, slot) => {
  expect(slotOf(id)).toBe(slot);
});
