import { expect, test } from 'bun:test';
import { Malformed, MEMBERS_MAX, parseJson } from '../../../src/http/edge/json.ts';

const told = (text: string): unknown => {
  const value = parseJson(text, 65_536);
  return value instanceof Malformed ? `refused: ${value.message}` : value;
};

const objectOf = (members: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, n) => [`m${n}`, 1])));

// prettier-ignore
const REFUSED: [string, string, string][] = [
  // what                               text                                     why
  ['nothing',                           '',                                      'valid JSON'],
  ['a comma too many',                  '{"a":1,}',                              'valid JSON'],
  ['two values',                        '{}{}',                                  'valid JSON'],
  ['a string without end',              '{"a":"b',                               'valid JSON'],
  ['a control character in a string',   '{"a":"\u0001"}',                        'valid JSON'],
  ['NaN',                               '{"a":NaN}',                             'valid JSON'],
  ['the same key twice',                '{"a":1,"a":1}',                         'same key'],
  ['the same key twice, further in',    '{"a":[{"b":1,"b":2}]}',                 'same key'],
  ['the same key, once escaped',        '{"a":1,"\\u0061":2}',                   'same key'],
  ['the same key, once by its number',  '{"1":1,"1":2}',                         'same key'],
  ['__proto__ twice',                   '{"__proto__":1,"__proto__":2}',         'same key'],
  ['NUL in a string',                   '{"a":"x\\u0000"}',                      'NUL'],
  ['NUL in a key',                      '{"\\u0000":1}',                         'NUL'],
  ['NUL far in',                        '[[{"a":["\\u0000"]}]]',                 'NUL'],
  ['half of a surrogate pair',          '{"a":"\\ud83d"}',                       'surrogate'],
  ['a pair the wrong way round',        '{"a":"\\ude00\\ud83d"}',                'surrogate'],
  ['a number of 18 digits',              '{"a":1.00000000000000001}',             'significant digits'],
  ['one without a point',               '[123456789012345678]',                  'significant digits'],
  ['33 levels',                         '['.repeat(33) + ']'.repeat(33),         'deep'],
  ['a million levels',                  '['.repeat(1_000_000),                   'deep'],
  ['65,537 values',                     `[${'0,'.repeat(65_536)}0]`,             '65536 values'],
  ['an object of too many members',     objectOf(MEMBERS_MAX + 1),               '256 members'],
  ['one further in',                    `{"a":[1,${objectOf(MEMBERS_MAX + 1)}]}`, '256 members'],
  ['one with an object inside',         `${objectOf(MEMBERS_MAX).slice(0, -1)},"o":{}}`, '256 members'],
  ['as many objects',                   `[${'{},'.repeat(40_000)}0]`,            '65536 values'],
];

test.each(REFUSED)('the JSON parser refuses %s', (_what, text, why) => {
  expect(told(text)).toContain(why);
});

// prettier-ignore
const ACCEPTED: [string, string][] = [
  ['an empty object',                    '{}'],
  ['null',                               'null'],
  ['a number',                           '1e3'],
  ['the longest double',                 '[0.30000000000000004,-1.7976931348623157e308,5e-324]'],
  ['zeros at both ends',                 '[100000000000000000000,0.00000000000000000001]'],
  ['digits in strings',                  '{"a":"123456789012345678901234567890","b":1}'],
  ['colons in strings',                  '{"a:b":":\\":","c":{"d":"{:"}}'],
  ['a string that ends in a backslash',  '{"a":"\\\\","b":"\\\\\\"","c":1}'],
  ['brackets in strings',                `{"a":"${'['.repeat(50)}"}`],
  ['the same key in two objects',        '[{"a":1},{"a":{"a":2}}]'],
  ['__proto__ once',                     '{"__proto__":{"x":1}}'],
  ['a surrogate pair',                   '{"a":"\\ud83d\\ude00","b":"😀"}'],
  ['other escapes',                      '{"a":"\\u0001\\n\\u00e9"}'],
  ['32 levels',                          '['.repeat(32) + ']'.repeat(32)],
  ['65,536 values',                      `[${'0,'.repeat(65_535)}0]`],
  ['objects of as many members as may be', `[${objectOf(MEMBERS_MAX)},{"a":${objectOf(MEMBERS_MAX)}}]`],
  ['white space',                        ' { "a" :\n[ 1 , 2 ] } '],
];

test.each(ACCEPTED)('the JSON parser accepts %s', (_what, text) => {
  expect(JSON.stringify(told(text))).toBe(JSON.stringify(JSON.parse(text)));
});
