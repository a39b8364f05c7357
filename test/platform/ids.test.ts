import { expect, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { hashKey, newKey, kindOfKey } from '../../src/platform/crypto/keys.ts';
import { openLog } from '../../src/platform/log.ts';

const DERIVED = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('new ids ascend', () => {
  const made = Array.from({ length: 1000 }, () => ids.next());
  expect([...made].sort()).toEqual(made);
  expect(new Set(made).size).toBe(1000);
});

test('derived ids are UUIDs, always the same for the same parts', () => {
  expect(ids.derive('a', 'b')).toMatch(DERIVED);
  expect(ids.derive('a', 'b')).toBe(ids.derive('a', 'b'));
  const made = new Set(Array.from({ length: 10_000 }, (_, i) => ids.derive('x', String(i))));
  expect(made.size).toBe(10_000);
});

// As they are in databases of earlier versions: with another id, a key would count again.
test.each([
  [['a', 'b'], 'facdde7a-bf1e-8c5b-b012-73ab2e282f79'],
  [['period', 'c', ''], '71aa2210-6828-89df-b08d-97a30c0116de'],
  [['event', 'é'], '1a0189b0-2f95-8b61-ab50-79164eafb06b'],
  [['x', '1'], '3fe1b6bf-a8cf-8126-89f4-5d386652e4df'],
  [['x', '2'], 'a02cb4ca-29ca-8ef0-a80b-3689b4cf7429'],
])('the derived id of %p stays the same over releases', (parts, id) => {
  expect(ids.derive(...parts)).toBe(id);
});

// What separates the parts must not be something that a part can say.
// prettier-ignore
const DISTINCT: [string, string[], string[]][] = [
  ['a boundary',      ['ab', 'c'],       ['a', 'bc']],
  ['an empty part',   ['a', ''],         ['a']],
  ['order',           ['a', 'b'],        ['b', 'a']],
  ['a NUL',           ['a\0b'],          ['a', 'b']],
  ['a length',        ['a1:b'],          ['a', 'b']],
  ['a colon',         ['a:b'],           ['a', 'b']],
  ['nothing',         [],                ['']],
];

test.each(DISTINCT)('a derived id from %s tells lists of parts apart', (_what, one, two) => {
  expect(ids.derive(...one)).not.toBe(ids.derive(...two));
});

test('fingerprints fit a signed 64-bit column', () => {
  const made = Array.from({ length: 1000 }, (_, i) => ids.fingerprint(String(i)));
  for (const value of made) expect(BigInt.asIntN(64, value)).toBe(value);
  expect(made.some((value) => value < 0n)).toBe(true);
  expect(ids.fingerprint('a')).toBe(ids.fingerprint('a'));
  expect(ids.fingerprint('a')).not.toBe(ids.fingerprint('b'));
});

test('API keys say what they are for, and only well-formed ones do', () => {
  for (const kind of ['organisation', 'group'] as const) {
    for (const mode of ['test', 'live'] as const) {
      const key = newKey({ kind, mode });
      expect(kindOfKey(key)).toEqual({ kind, mode });
      expect(kindOfKey(`${key}x`)).toBeNull();
      expect(kindOfKey(`${key}\n`)).toBeNull();
      expect(hashKey(key)).toHaveLength(32);
    }
  }
});

// prettier-ignore
const SECRETS: [string, object, string][] = [
  ['a header',              { headers: { authorization: 'Bearer topsecret' } },   ''],
  ['a bearer in a text',    { error: 'sent Bearer topsecret' },                   ''],
  ['a key in a message',    {},                                                   `no such key svc_live_topsecret`],
  ['a group key',           { path: '/meters/svc_group_test_topsecret' },         ''],
  ['a webhook secret',      { x: ['whsec_topsecret'] },                           ''],
  ['a password in a URL',   { error: 'cannot reach postgres://u:topsecret@h/d' }, ''],
  ['a database URL',        { databaseUrl: 'topsecret' },                         ''],
  ['a token',               { body: { token: 'topsecret' } },                     ''],
  ['a portal address',      { path: '/portal/topsecret/cancel' },                 ''],
  ['an error',              { err: new Error('svc_test_topsecret') },             ''],
];

test.each(SECRETS)('the log hides %s', (_what, fields, message) => {
  const lines: string[] = [];
  openLog('info', (line) => lines.push(line)).info(fields, message);
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('topsecret');
  expect(() => JSON.parse(lines[0]!)).not.toThrow();
});
