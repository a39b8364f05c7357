// The npm package, installed: its command runs, and its types are right for a strict program.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

test('the packaged command runs in a shell by its name', async () => {
  const command = join(project, 'node_modules/.bin/tollhouse');
  const { version } = JSON.parse(readFileSync(join(packed.directory, 'package.json'), 'utf8'));
  expect((await output([command, '--version'], { directory: project })).trim()).toBe(version);
});

const NODE_TYPES = { lib: ['ES2022'], types: ['node'], typeRoots: [join(MODULES, '@types')] };

// prettier-ignore
test.each([
  ['as Node resolves, with the types of browsers', { module: 'NodeNext' }],
  ['as Node resolves, with the types of Node',     { module: 'NodeNext', ...NODE_TYPES }],
  ['as a bundler resolves',                        { module: 'ESNext', moduleResolution: 'bundler' }],
  ['as a bundler resolves for browsers',           { module: 'ESNext', moduleResolution: 'bundler', customConditions: ['browser'] }],
])("the examples of the client's README are well typed, %s", async (_name, options) => {
  // A page has no secret to verify a webhook with.
  const isPage = 'customConditions' in options;
  for (const [index, code] of exampleBlocks().entries()) {
    const isFit = !isPage || !code.includes('verifyWebhook');
    writeFileSync(join(project, `example-${index}.ts`), isFit ? code : 'export {};');
  }
  expect(await compile(options)).toBe('');
}, 30_000);

test('a type error in an example is noticed', async () => {
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
