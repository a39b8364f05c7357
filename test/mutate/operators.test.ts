// What is planted in a line, and what is left alone.
import { expect, test } from 'bun:test';
import { changesIn } from './operators.ts';

// prettier-ignore
const PLANTED: [code: string, becomes: string[]][] = [
  ['f(a < b);',                        [';', 'f(a <= b);', 'f(a >= b);']],
  ['f(a === b);',                      [';', 'f(a !== b);']],
  ['f(a && b);',                       [';', 'f(a || b);']],
  ['f(a - b * c);',                    [';', 'f(a + b * c);', 'f(a - b / c);']],
  ['f(!a, -b);',                       [';', 'f(a, -b);', 'f(!a, b);']],
  ['f(0n, 7, true);',                  [';', 'f(1n, 7, true);', 'f(0n, 8, true);', 'f(0n, 7, false);']],
  ['f([a, b]);',                       [';', 'f([b]);', 'f([a]);']],
  ['f([1, 2] as const);',              [';', 'f([2] as const);', 'f([1] as const);', 'f([2, 2] as const);', 'f([1, 3] as const);']],
  ['f([a]);',                          [';', 'f([]);']],
  ['f(a?.b, c?.[d]);',                 [';', 'f(a.b, c?.[d]);', 'f(a?.b, c[d]);']],
  ['Math.min(a, b);',                  [';', 'Math.max(a, b);']],
  ['a.some(b);',                       [';', 'a.every(b);']],
  ['a += b;',                          [';', 'a -= b;']],
  ['if (a) f();',                      ['if (true) f();', 'if (false) f();', 'if (a) ;']],
  ['const x = a ? b : c;',             ['const x = true ? b : c;', 'const x = false ? b : c;']],
  ['while (a) { break; }',             ['while (false) { break; }', 'while (a) { ; }']],
];

test.each(PLANTED)('the mutations of %s', (code, expected) => {
  const found = changesIn('rule.ts', code).map(
    ({ at, becomes }) => code.slice(0, at.start) + becomes + code.slice(at.end),
  );
  expect(found.toSorted()).toEqual(expected.toSorted());
});

// prettier-ignore
const LEFT_ALONE = [
  'type A = 1 | true; const x = y as 2;',
  `const x = 'a' + b;`,
  'const x = `${a}` + b;',
  `assert(a < 1, 'b');`,
  `throw new Error(a < 1 ? 'b' : 'c');`,
  'this.deps.log.warn({ a: 1 }, b);',
  'const BOUND_MS = 60_000;',
  `const UNION = ['a', 'b'] as const;`,
  '// a < b',
];

test.each(LEFT_ALONE)('no mutation is made of %s', (code) => {
  expect(changesIn('rule.ts', code)).toEqual([]);
});
