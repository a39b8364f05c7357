// The order in which a fault is shown to the tests that run its line.
import { expect, test } from 'bun:test';
import { mutantsOf } from './mutants.ts';
import { nearestFirst, reachFrom } from './reach.ts';

const [mutant] = await mutantsOf('.', ['src/http/routes/check.ts']);

test('what is named like the file is first, and the rest as it was', () => {
  const names = ['http/a', 'records/b', 'http/c', 'payments/checks', 'pages/d'];
  const reaches = names.map((name) => reachFrom(`test/${name}.test.ts`, { ms: 1, lcov: '' }));
  expect(nearestFirst(reaches, mutant!).map((reach) => reach.test.slice(5, -8))).toEqual([
    'payments/checks',
    'http/a',
    'http/c',
    'records/b',
    'pages/d',
  ]);
});
