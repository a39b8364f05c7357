// Every hostile string, longer than in the short run, in a field of each kind; and no refusal of
// any field shows a pattern.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { NAMED_KINDS, OPERATIONS } from './field-kinds.ts';
import { LONGER } from './hostile.ts';
import { expectNoPatterns } from './shown-patterns.ts';
import { slowSpot, spotsOf } from './spots.ts';

setDefaultTimeout(180_000);

test.each(NAMED_KINDS)('no pattern is slow with a longer string: %s', (_name, listed, spot) => {
  expect(slowSpot(listed, { spots: [spot], texts: LONGER })).toBeNull();
});

test('no refusal shows a pattern, in any field of any operation', () =>
  expectNoPatterns(OPERATIONS.map((listed) => ({ listed, spots: spotsOf(listed) }))));
