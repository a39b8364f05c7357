// What usage costs, in words.
import { expect, test } from 'bun:test';
import { type SoldUsage, soldUsage } from '../../src/pages/sold-usage.ts';
import { SOLD, USAGE_PRICES } from './sold-usage-views.ts';

/** As it is read: a line for each paragraph and tier. */
function read(sold: SoldUsage): string[] {
  const text = soldUsage([sold])?.text ?? '';
  const lines = text.replaceAll(/\s+/g, ' ').replaceAll(/<\/(?:p|dd)>/g, '\n');
  return lines
    .replaceAll(/<\/dt>/g, ' | ')
    .replaceAll(/<[^>]*>/g, '')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
}

const { per_unit: each, graduated, volume, package: packages } = USAGE_PRICES;

// prettier-ignore
const CASES: [string, Partial<SoldUsage>, string[]][] = [
  ['by the unit',     {},                                   ['API calls: 1,000 calls included each month, then $0.002 each.']],
  ['without a unit',  { unit: null },                       ['API calls: 1,000 included each month, then $0.002 each.']],
  ['nothing included', { limit: 0n },                       ['API calls: $0.002 each.']],
  ['another period',  { interval: 'quarter', count: 2 },    ['API calls: 1,000 calls included every 2 quarters, then $0.002 each.']],
  ['fractions',       { limit: 150n },                      ['API calls: 1.5 calls included each month, then $0.002 each.']],
  ['without charge',  { price: { ...each, unitAmount: 0n } }, ['API calls: 1,000 calls included each month, then $0.00 each.']],
  ['yen',             { price: { ...each, currency: 'JPY' } }, ['API calls: 1,000 calls included each month, then ¥0.002 each.']],
  ['tiers',           { price: graduated }, [
    'API calls: 1,000 calls included each month, then each at the price of its tier:',
    'up to 10,000 | $0.001 each',
    'up to 50,000.5 | $1.50 plus $0.0000005 each',
    'beyond | $99.00',
    'At least $5.00 and at most $10,000.00 each month.',
  ]],
  ['volume',          { price: volume, limit: 0n }, [
    'API calls: all at the price of the tier that they reach:',
    'up to 100 | $2.00 each',
    'beyond | $1.00 each',
    'At least $5.00 each month.',
  ]],
  ['packages',        { price: packages }, [
    'API calls: 1,000 calls included each month, then $2.50 for each 1,000 or part of it.',
    'At most $999.00 each month.',
  ]],
];

test.each(CASES)('a page says what is sold: %s', (_what, fields, lines) => {
  expect(read({ ...SOLD, ...fields })).toEqual(lines);
});

test('a page says nothing where no usage is sold', () => expect(soldUsage([])).toBeNull());

test('a page escapes the names of sold usage', () => {
  const name = '<img src=x onerror="alert(1)">';
  const text = soldUsage([{ ...SOLD, name, unit: name }])?.text ?? '';
  expect(text).not.toContain('<img');
  expect(text.split('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;')).toHaveLength(3);
});
