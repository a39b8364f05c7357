// Which failures may pass, and how the ledger waits.
import { expect, test } from 'bun:test';
import { slotOf } from '../../ledger/kernel/slot.ts';
import {
  LedgerUnavailable,
  PeerFailure,
  TooSlow,
  breathe,
  mayPass,
  pause,
} from '../../ledger/ports.ts';

const withCode = (code: unknown): Error => Object.assign(new Error('failed'), { code });

// prettier-ignore
test.each([
  ['no connection',               true,   withCode('CONNECTION_CLOSED')],
  ['a server that stops',         true,   withCode('57P01')],
  ['a lock that is held',         true,   withCode('55P03')],
  ['a serialization failure',     true,   withCode('40001')],
  ['a broken constraint',         false,  withCode('23505')],
  ['a code that only begins so',  false,  withCode('ECONNRESET too')],
  ['a code that is no text',      false,  withCode(40_001)],
  ['an error without a code',     false,  new Error('failed')],
  ['no lease',                    true,   new LedgerUnavailable('later')],
  ['too slow',                    true,   new TooSlow('later')],
  ['no error',                    false,  { code: '57P01' }],
  ['nothing',                     false,  null],
])('%s may pass: %p', (_what, may, error) => {
  expect(mayPass(error)).toBe(may);
});

test.each([true, false])('a peer that fails says whether it may be done: %p', (maybeDone) => {
  expect(new PeerFailure('lost', maybeDone)).toMatchObject({ message: 'lost', maybeDone });
});

test('it waits for its timer, and lets others go first', async () => {
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
