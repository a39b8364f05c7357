// Shows that each rule finds each fault that it exists for: a rule that finds nothing would pass
// everything.
import { describe, expect, test } from 'bun:test';
import { PLANTED, SOUND } from './plants.ts';
import { RULES, type RuleName } from './rules.ts';

const names = Object.keys(RULES) as RuleName[];

describe.each(names)('the check of %s', (name) => {
  test.each(PLANTED[name].map(({ fault, files }) => [fault, files] as const))(
    'sees: %s',
    (_fault, files) => {
      expect(RULES[name](new Map(Object.entries(files)))).not.toBeEmpty();
    },
  );

  test('accepts sound files', () => {
    expect(RULES[name](new Map(Object.entries(SOUND)))).toEqual([]);
  });
});
