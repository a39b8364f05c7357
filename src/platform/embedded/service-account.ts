// Where the services of one DATA_DIR live, and as whom they run.
//
// As a plain user: DATA_DIR/services, as that user.
// As root: PostgreSQL refuses to run as root, so both services run as an unprivileged account of
// the machine, which must be able to reach its files. Where it cannot reach DATA_DIR (a clone under
// a home of mode 700), DATA_DIR/services is a symbolic link to a directory of our own under
// /var/lib/tollhouse. Deleting DATA_DIR then loses the link: the next start begins afresh.
//
// Holds: the directory itself stays ours; the account owns only what is below it. So nothing we
// write as root goes through a directory that the account could have swapped.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { ServiceFailure } from '../failure.ts';
import { runOnce, type Account } from './processes.ts';

const OUTSIDE = '/var/lib/tollhouse';
const ACCOUNTS = ['tollhouse', 'postgres', 'nobody'];

export interface ServiceAccount {
  /** A real path: it is compared with the working directories of processes. */
  readonly directory: string;
  readonly account: Account;
}

/** Makes the directory where there is none. @throws ServiceFailure */
export function prepareServiceAccount(dataDir: string): ServiceAccount {
  const link = join(dataDir, 'services');
  const isRoot = process.getuid?.() === 0;
  const isNew = lstatSync(link, { throwIfNoEntry: false }) === undefined;
  if (isNew) makeDirectory(link, isRoot);
  if (!existsSync(link)) throw new ServiceFailure(`${link} points to a directory that is gone`);
  const account = isRoot ? chooseAccount(link) : undefined;
  if (account !== undefined && isNew && !canReach(link, account)) moveOutside(link, account);
  const directory = realpathSync(link);
  if (account !== undefined && !canReach(directory, account)) {
    throw new ServiceFailure(
      `user ${account.uid}, which runs the embedded services, cannot reach ${directory}`,
    );
  }
  return { directory, account };
}

/** A directory that the account owns and nobody else may enter. */
export function makeOwned(path: string, account: Account): void {
  mkdirSync(path, { mode: 0o700 });
  if (account === undefined) return;
  // Not following a link: nobody may have us give away what it points to.
  lchownSync(path, account.uid, account.gid);
}

function makeDirectory(path: string, isRoot: boolean): void {
  try {
    mkdirSync(path, { recursive: true });
    // Not left to the umask. Root's may be passed through, not listed.
    chmodSync(path, isRoot ? 0o711 : 0o700);
  } catch (error) {
    throw new ServiceFailure(`cannot make ${path}: ${String(error)}`, { cause: error });
  }
}

function moveOutside(link: string, account: Account): void {
  const directory = join(OUTSIDE, randomBytes(8).toString('hex'));
  makeDirectory(OUTSIDE, true);
  makeDirectory(directory, true);
  rmdirSync(link);
  symlinkSync(directory, link);
  if (canReach(directory, account)) return;
  throw new ServiceFailure(`other users can reach neither ${link} nor ${OUTSIDE}: set DATA_DIR`);
}

function canReach(directory: string, account: Account): boolean {
  return runOnce({ file: '/bin/sh', args: ['-c', 'cd "$0"', directory], account }).ok;
}

/** PostgreSQL looks its own user up, so the uid must have a name. */
export const NO_ACCOUNT = `there is no user ${ACCOUNTS.join(' or ')} to run as`;

/**
 * A cluster stays with the account that owns it, whatever accounts the machine gets or loses.
 * undefined: there is none.
 */
export function findAccount(services: string): Account {
  const cluster = statSync(join(services, 'postgres'), { throwIfNoEntry: false });
  if (cluster !== undefined) return { uid: cluster.uid, gid: cluster.gid };
  const lines = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [];
  for (const name of ACCOUNTS) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':');
    const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  return undefined;
}

function chooseAccount(services: string): Account {
  const account = findAccount(services);
  if (account !== undefined) return account;
  throw new ServiceFailure(
    `PostgreSQL does not run as root, and ${NO_ACCOUNT}: start as another user, or set DATABASE_URL`,
  );
}
