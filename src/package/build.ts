// `bun run build:client [DIRECTORY]` makes the npm package `tollhouse`, by default in
// `dist/client/`: one module for every runtime, one for browsers, the types, and
// the command.
//
// Holds: the client is compiled against Web standards that Node 20 has, and nothing else
// (`src/client/tsconfig.json`), so what one runtime lacks does not compile. The package has no
// dependencies.
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { manifestOf, repositoryOf } from './manifest.ts';

const SRC = join(import.meta.dir, '..');
const ROOT = join(SRC, '..');
const DEFAULT = join(ROOT, 'dist/client');

async function build(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  copyFileSync(join(SRC, 'client/README.md'), join(directory, 'README.md'));
  await Promise.all([
    bundle('client/index.ts', join(directory, 'index.js'), { target: 'browser' }),
    bundle('client/browser.ts', join(directory, 'browser.js'), { target: 'browser', minify: true }),
    bundle('cli/main.ts', join(directory, 'tollhouse.js'), {
      target: 'node',
      // What a shell starts it with.
      banner: '#!/usr/bin/env node',
    }),
    declare(join(directory, 'types')),
    writeManifest(join(directory, 'package.json')),
  ]);
  chmodSync(join(directory, 'tollhouse.js'), 0o755);
}

async function bundle(
  entry: string,
  to: string,
  options: Pick<Bun.BuildConfig, 'target' | 'minify' | 'banner'>,
): Promise<void> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SRC, entry)],
    format: 'esm',
    ...options,
  });
  const [output] = outputs;
  if (output === undefined) throw new Error(`${entry} became nothing`);
  await Bun.write(to, output);
}

async function declare(directory: string): Promise<void> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const project = join(SRC, 'client');
  await run([process.execPath, tsc, '-p', project, '--noEmit', 'false', '--outDir', directory]);
}

async function writeManifest(path: string): Promise<void> {
  const git = Bun.spawn(['git', 'remote', 'get-url', 'origin'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const remote = await new Response(git.stdout).text();
  await Bun.write(path, `${JSON.stringify(manifestOf(repositoryOf(remote)), null, 2)}\n`);
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(said);
}

await build(resolve(process.argv[2] ?? DEFAULT));
