// What differs between two records: each pair of states, and what of it is a difference.
import { describe, expect, test } from 'bun:test';
import { differencesOf, type Side } from '../../src/reconciliation/compare.ts';

const side = (state: Side['state'], amount: bigint | null = 1250n, currency = 'EUR'): Side => ({
  amount,
  currency,
  state,
});

const kindsOf = (ours: Side | null, theirs: Side | null): string[] =>
  differencesOf('charge', ours, theirs).map(({ kind }) => kind);

describe('the two states of a reconciled payment', () => {
  // prettier-ignore
  const CASES: [Side['state'] | null, Side['state'] | null, string[]][] = [
    ['pending',   'pending',   []],
    ['pending',   'succeeded', ['state']],
    ['pending',   'failed',    []],
    ['pending',   null,        []],
    ['succeeded', 'pending',   ['state']],
    ['succeeded', 'succeeded', []],
    ['succeeded', 'failed',    ['state']],
    ['succeeded', null,        ['missing']],
    ['failed',    'pending',   []],
    ['failed',    'succeeded', ['state']],
    ['failed',    'failed',    []],
    ['failed',    null,        []],
    [null,        'pending',   ['extra']],
    [null,        'succeeded', ['extra']],
    [null,        'failed',    []],
    [null,        null,        []],
  ];
  test.each(CASES)('ours %p and theirs %p are compared', (ours, theirs, kinds) => {
    const of = (state: Side['state'] | null) => (state === null ? null : side(state));
    expect(kindsOf(of(ours), of(theirs))).toEqual(kinds);
  });
});

test('reconciliation compares amounts', () => {
  expect(kindsOf(side('succeeded', 1250n), side('succeeded', 1251n))).toEqual(['amount']);
  expect(kindsOf(side('pending', 1250n), side('pending', 1249n))).toEqual(['amount']);
  // Not a whole number of coins: no amount of ours.
  expect(kindsOf(side('succeeded'), side('succeeded', null))).toEqual(['amount']);
  // Nothing has moved.
  expect(kindsOf(side('failed', 1250n), side('failed', 1n))).toEqual([]);
});

test('reconciliation finds one difference for another currency, whatever the amounts', () => {
  expect(kindsOf(side('succeeded'), side('succeeded', 1250n, 'USD'))).toEqual(['currency']);
  expect(kindsOf(side('succeeded'), side('succeeded', 1n, 'USD'))).toEqual(['currency']);
});

test('reconciliation finds two differences for a state and an amount', () => {
  expect(kindsOf(side('pending'), side('succeeded', 9n))).toEqual(['state', 'amount']);
});

test('a difference of reconciliation has what each side says', () => {
  expect(differencesOf('charge', side('pending'), side('succeeded', 100n, 'JPY'))).toEqual([
    { kind: 'state', ours: '12.50 EUR pending', theirs: '100 JPY succeeded' },
    { kind: 'currency', ours: '12.50 EUR pending', theirs: '100 JPY succeeded' },
  ]);
  expect(differencesOf('dispute', null, side('succeeded'))).toEqual([
    { kind: 'extra', ours: null, theirs: '12.50 EUR lost' },
  ]);
});
