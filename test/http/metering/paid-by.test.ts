// How `paid_by` says what pays for usage.
import { expect, test } from 'bun:test';
import type { PaidBy } from '../../../ledger/metering/paid-by.ts';
import { fromCheck } from '../../../src/http/wire/metering.ts';

const METER = { slug: 'chat', scale: 1 };

const shown = (paid: Pick<PaidBy, 'own' | 'credits'> | null) => {
  const pool = { slug: 'credits', scale: 3 };
  const snapshot = {
    limit: 0n,
    consumed: 0n,
    reserved: 0n,
    billed: 0n,
    pooled: false,
    overageAllowed: false,
    periodStart: null,
    periodEnd: null,
  };
  const paidBy = paid === null ? null : { ...paid, pool };
  return fromCheck({ units: 10n, allowed: true, reason: 'ok', snapshot, paidBy }, METER);
};

const own = { feature_key: 'chat', amount: 1.5 };
const credits = { feature_key: 'credits', amount: 0.025 };

// prettier-ignore
test.each([
  ['both, its own first', { own: 15n, credits: 25n }, [own, credits]],
  ['its own alone',       { own: 15n, credits: 0n },  [own]],
  ['credits alone',       { own: 0n, credits: 25n },  [credits]],
  ['nothing',             { own: 0n, credits: 0n },   []],
])('paid_by shows %s', (_what, paid, parts) => {
  expect(shown(paid).paid_by).toEqual(parts);
});

test('an answer for a feature without a credit pool has no paid_by', () => {
  expect(shown(null)).not.toHaveProperty('paid_by');
});
