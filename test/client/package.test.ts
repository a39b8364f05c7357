// The npm package as it is published: what is in it, and that its types are right for a strict
// program.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryOf } from '../../src/package/manifest.ts';
import { exampleBlocks } from './examples.ts';
import { installPackage, output, type Packed, packClient } from './packed.ts';

const MODULES = join(import.meta.dir, '../../node_modules');

let packed: Packed;
let project: string;
beforeAll(async () => {
  packed = await packClient();
  project = await installPackage(packed);
}, 60_000);
afterAll(() => packed.remove());

const read = (name: string) => readFileSync(join(packed.directory, name), 'utf8');

test('what is in it, and nothing else', () => {
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

test('it names what npm and bundlers need, and depends on nothing', () => {
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

test('the shell runs the command by its name', async () => {
  const command = join(project, 'node_modules/.bin/tollhouse');
  const { version } = JSON.parse(read('package.json'));
  expect((await output([command, '--version'], { directory: project })).trim()).toBe(version);
});

test.each(['index.js', 'browser.js'])('%s imports nothing', (name) => {
  const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\()["']([^"']+)["']/g;
  expect([...read(name).matchAll(IMPORT)].map(([, what]) => what)).toEqual([]);
});

const NODE_TYPES = { lib: ['ES2022'], types: ['node'], typeRoots: [join(MODULES, '@types')] };

// prettier-ignore
test.each([
  ['as Node resolves, with the types of browsers', { module: 'NodeNext' }],
  ['as Node resolves, with the types of Node',     { module: 'NodeNext', ...NODE_TYPES }],
  ['as a bundler resolves',                        { module: 'ESNext', moduleResolution: 'bundler' }],
  ['as a bundler resolves for browsers',           { module: 'ESNext', moduleResolution: 'bundler', customConditions: ['browser'] }],
])('the examples of its README are well typed, %s', async (_name, options) => {
  // A page has no secret to verify a webhook with.
  const isPage = 'customConditions' in options;
  for (const [index, code] of exampleBlocks().entries()) {
    const isFit = !isPage || !code.includes('verifyWebhook');
    writeFileSync(join(project, `example-${index}.ts`), isFit ? code : 'export {};');
  }
  expect(await compile(options)).toBe('');
}, 30_000);

test('what is mistyped is seen', async () => {
  const [code = ''] = exampleBlocks();
  writeFileSync(join(project, 'example-0.ts'), code.replace('featureKey', 'featureKy'));
  expect(await compile({ module: 'NodeNext' })).toContain("'featureKy' does not exist");
  // A call names one customer, by one of its two names.
  for (const names of ['', "customerId: 'a', externalCustomerId: 'user-1',"]) {
    writeFileSync(
      join(project, 'example-0.ts'),
      code.replace("externalCustomerId: 'user-1',", names),
    );
    expect(await compile({ module: 'NodeNext' })).toContain('externalCustomerId');
  }
}, 30_000);

/** Strict, and the package's own declarations are checked too. What the compiler says. */
async function compile(options: object): Promise<string> {
  const strict = { strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true };
  const compilerOptions = { target: 'ES2022', noEmit: true, types: [], ...strict, ...options };
  const config = join(project, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = join(MODULES, 'typescript/bin/tsc');
  const running = output([process.execPath, tsc, '-p', config], { directory: project });
  return running.catch(String);
}

// prettier-ignore
test.each([
  ['https',                  'https://example.com/acme/tollhouse.git\n',        'https://example.com/acme/tollhouse'],
  ['a password',             'https://me:secret@example.com/acme/tollhouse',    'https://example.com/acme/tollhouse'],
  ['ssh',                    'git@example.com:acme/tollhouse.git',              'https://example.com/acme/tollhouse'],
  ['ssh as an address',      'ssh://git@example.com/acme/tollhouse.git',        'https://example.com/acme/tollhouse'],
  ['a folder',               '/home/me/tollhouse',                              null],
  ['none',                   '',                                                null],
])('the repository of a remote: %s', (_name, remote, expected) => {
  expect(repositoryOf(remote)).toBe(expected);
});
