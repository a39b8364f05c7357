// The npm package, built and packed into a folder of its own.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

export type Packed = {
  /** What was built. */
  readonly directory: string;
  readonly tarball: string;
  /** Paths in the tarball. */
  readonly files: readonly string[];
  /** An empty folder. */
  readonly place: string;
  remove(): void;
};

export async function packClient(): Promise<Packed> {
  const place = mkdtempSync(join(tmpdir(), 'tollhouse-package-'));
  const directory = join(place, 'built');
  await output([process.execPath, join(ROOT, 'src/package/build.ts'), directory], {
    directory: ROOT,
  });
  const said = await output(['npm', 'pack', '--json', '--pack-destination', place], { directory });
  const [{ filename, files }] = JSON.parse(said) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  return {
    directory,
    tarball: join(place, filename),
    files: files.map(({ path }) => path).toSorted(),
    place,
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}

export const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier'];

/** The tarball in an empty project, whose folder is returned. It needs no registry. */
export async function installPackage({ place, tarball }: Packed): Promise<string> {
  const directory = join(place, 'project');
  mkdirSync(directory);
  await Bun.write(join(directory, 'package.json'), '{"private": true, "type": "module"}');
  await output(['npm', 'install', '--offline', ...QUIET, tarball], { directory });
  return directory;
}

/** What it prints. @throws Error with all that it said, where it fails */
export async function output(
  command: readonly string[],
  { directory, env }: { directory: string; env?: Readonly<Record<string, string>> },
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) === 0) return said;
  throw new Error(`${command.join(' ')} failed:\n${said}${complained}`);
}
