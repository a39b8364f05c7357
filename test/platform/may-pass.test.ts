// Which failures may pass.
import { expect, test } from 'bun:test';
import { LedgerUnavailable, TooSlow } from '../../ledger/ports.ts';
import { mayPass } from '../../src/platform/postgres/may-pass.ts';

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
])('the error of %s may pass: %p', (_what, may, error) => {
  expect(mayPass(error)).toBe(may);
});
