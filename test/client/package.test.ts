// The npm package as it is published: what is in it. It is installed, run and checked by a strict
// program in package-types.long.test.ts and package.long.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryOf } from '../../src/package/manifest.ts';
import { type Packed, packClient } from './packed.ts';

let packed: Packed;
beforeAll(async () => {
  packed = await packClient();
}, 60_000);
afterAll(() => packed.remove());

const read = (name: string) => readFileSync(join(packed.directory, name), 'utf8');

test('the client package has its files, and nothing else', () => {
  const types = packed.files.filter((path) => path.startsWith('types/'));
  expect(packed.files.filter((path) => !types.includes(path))).toEqual([
    'README.md',
    'browser.js',
    'index.js',
    'package.json',
    'tollhouse.js',
  ]);
  expect(types).toContain('types/index.d.ts');
  expect(types.filter((path) => !path.endsWith('.d.ts'))).toEqual([]);
});

test('the client package names what npm and bundlers need, and has no dependencies', () => {
  const manifest = JSON.parse(read('package.json'));
  expect(manifest).toMatchObject({
    name: 'tollhouse',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    bin: { tollhouse: './tollhouse.js' },
    publishConfig: { provenance: true },
  });
  expect(manifest.version).toMatch(/^\d+\.\d+\.\d+$/);
  for (const list of ['dependencies', 'peerDependencies', 'optionalDependencies', 'scripts']) {
    expect(manifest[list]).toBeUndefined();
  }
  for (const { browser, types, default: module } of [
    manifest.exports['.'],
    manifest.exports['./client'],
  ]) {
    for (const path of [types, module, browser.types, browser.default]) {
      expect(packed.files).toContain(path.replace('./', ''));
    }
  }
});

test.each(['index.js', 'browser.js'])('%s of the client package imports nothing', (name) => {
  const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\()["']([^"']+)["']/g;
  expect([...read(name).matchAll(IMPORT)].map(([, what]) => what)).toEqual([]);
});

// prettier-ignore
test.each([
  ['https',                  'https://example.com/acme/tollhouse.git\n',        'https://example.com/acme/tollhouse'],
  ['a password',             'https://me:secret@example.com/acme/tollhouse',    'https://example.com/acme/tollhouse'],
  ['ssh',                    'git@example.com:acme/tollhouse.git',              'https://example.com/acme/tollhouse'],
  ['ssh as an address',      'ssh://git@example.com/acme/tollhouse.git',        'https://example.com/acme/tollhouse'],
  ['a folder',               '/home/me/tollhouse',                              null],
  ['none',                   '',                                                null],
])('the repository of the package from a git remote: %s', (_name, remote, expected) => {
  expect(repositoryOf(remote)).toBe(expected);
});
