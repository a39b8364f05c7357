// Bodies that every metering route refuses, as raw text, with the path of each fault.

export type Malformed = readonly [what: string, raw: string, ...at: string[][]];

/** Faults of a body that names a feature and a customer; `with` adds fields to it. */
export function malformedBodies(valid: Readonly<Record<string, unknown>>): Malformed[] {
  const inner = JSON.stringify(valid).slice(1, -1);
  const raw = (fields: string): string => `{${inner},${fields}}`;
  const lacking = (...names: string[]): string =>
    JSON.stringify(
      Object.fromEntries(Object.entries(valid).filter(([name]) => !names.includes(name))),
    );
  const without = (name: string, fields: string): string =>
    `${lacking(name).slice(0, -1)},${fields}}`;
  // prettier-ignore
  return [
    ['nothing',                             '',                                           []],
    ['half of an object',                   '{"feature_key":',                            []],
    ['null',                                'null',                                       []],
    ['an array',                            '[]',                                         []],
    ['a string',                            '"feature"',                                  []],
    ['NaN',                                 raw('"value":NaN'),                           []],
    ['Infinity',                            raw('"value":Infinity'),                      []],
    ['a number that begins with a plus',    raw('"value":+1'),                            []],
    ['a hexadecimal number',                raw('"value":0x10'),                          []],
    ['a number that begins with a zero',    raw('"value":01'),                            []],
    ['the same field twice',                raw('"value":1,"value":2'),                   []],
    ['the same field twice, once escaped',  raw('"value":1,"v\\u0061lue":1000'),          []],
    ['NUL',                                 without('customer_id', '"external_customer_id":"a\\u0000b"'),  []],
    ['half of a surrogate pair',            without('customer_id', '"external_customer_id":"\\ud83d"'),    []],
    ['a comment',                           raw('/* */"value":1'),                        []],
    ['an unknown field',                    raw('"valeu":1'),                             ['valeu']],
    ['an unknown field with a slash',       raw('"a/b~c":1'),                             ['a/b~c']],
    ['__proto__',                           raw('"__proto__":{"value":1}'),               ['__proto__']],
    ['the number 1e400',                    raw('"value":1e400'),                         ['value']],
    ['the number 1e300',                    raw('"value":1e300'),                         ['value']],
    ['a number at the bound',               raw('"value":1000000000'),                    ['value']],
    ['a negative number at the bound',      raw('"value":-1000000000'),                   ['value']],
    ['too many decimals',                   raw('"value":0.0000001'),                     ['value']],
    ['too many decimals, as an exponent',   raw('"value":1e-7'),                          ['value']],
    ['too many decimals, as a string',      raw('"value":"0.0000001"'),                   ['value']],
    ['noise in the tail of a double',       raw('"value":0.30000000000000004'),           ['value']],
    ['a string with an exponent',           raw('"value":"1e3"'),                         ['value']],
    ['a string of a huge number',           raw('"value":"99999999999999999999"'),        ['value']],
    ['an empty string',                     raw('"value":""'),                            ['value']],
    ['"NaN"',                               raw('"value":"NaN"'),                         ['value']],
    ['a string with a comma',               raw('"value":"1,5"'),                         ['value']],
    ['a string with a space',               raw('"value":" 1"'),                          ['value']],
    ['a string with a new line',            raw('"value":"1\\n"'),                        ['value']],
    ['digits of another script',            raw('"value":"١"'),                           ['value']],
    ['a value of true',                     raw('"value":true'),                          ['value']],
    ['a value of an array',                 raw('"value":[1]'),                           ['value']],
    ['a value of an object',                raw('"value":{}'),                            ['value']],
    ['no feature_key',                      lacking('feature_key'),                       ['feature_key']],
    ['an empty feature_key',                without('feature_key', '"feature_key":""'),   ['feature_key']],
    ['a feature_key of a number',           without('feature_key', '"feature_key":1'),    ['feature_key']],
    ['a feature_key of 65',                 without('feature_key', `"feature_key":"${'x'.repeat(65)}"`),  ['feature_key']],
    ['no customer',                         lacking('customer_id'),                       ['customer_id']],
    ['both customers',                      raw('"external_customer_id":"one"'),          ['customer_id']],
    ['a customer_id that is no id',         without('customer_id', '"customer_id":"one"'),           ['customer_id']],
    ['a customer_id of null',               without('customer_id', '"customer_id":null'),            ['customer_id']],
    ['a customer_id with a new line',       without('customer_id', '"customer_id":"01890000-0000-7000-8000-000000000000\\n"'),  ['customer_id']],
    ['an empty external_customer_id',       without('customer_id', '"external_customer_id":""'),     ['external_customer_id']],
    ['an external_customer_id of a number', without('customer_id', '"external_customer_id":7'),      ['external_customer_id']],
    ['an external_customer_id of 256',      without('customer_id', `"external_customer_id":"${'x'.repeat(256)}"`),  ['external_customer_id']],
    ['two faults',                          raw('"value":"x","a":1'),                     ['a'], ['value']],
  ];
}

const long = (length: number): string => 'x'.repeat(length);
const pairs = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

/** Fields that more than one route takes. */
// prettier-ignore
export const BAD_KEYS: [string, unknown][] = [
  ['an empty key',                  ''],
  ['a key of 256',                  long(256)],
  ['a key of a number',             7],
  ['a key with a control character', 'a\u0001b'],
  ['a key with a new line',         'a\n'],
  ['a key with a C1 control',       'a\u0085b'],
];

// prettier-ignore
export const BAD_METADATA: [string, unknown, string[]][] = [
  ['metadata of 51 pairs',          pairs(51),                ['metadata']],
  ['a metadata key of 41',          { [long(41)]: 'v' },      ['metadata', long(41)]],
  ['an empty metadata key',         { '': 'v' },              ['metadata', '']],
  ['a metadata value of 501',       { a: long(501) },         ['metadata', 'a']],
  ['a metadata value of a list',    { a: [1] },               ['metadata', 'a']],
  ['a metadata value of null',      { a: null },              ['metadata', 'a']],
  ['nested metadata',               { a: { b: 'c' } },        ['metadata', 'a']],
  ['metadata as an array',          [],                       ['metadata']],
];
