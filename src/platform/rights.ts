// Drops root: a process that was started as root and talks to the outside gives up root's rights
// for good when nothing needs them any more: Redis is installed, DATA_DIR made, its ports are
// bound, its secrets read.
//
// Who calls: the start command, after it binds and before it accepts; each node of `--processes`; a
// worker.
// Holds: from then on all its threads and children run as the account of the embedded services.
// That account owns nothing of the program, of DATA_DIR and of its secrets.
// Costs: files that only root may read are out of reach, such as the program in a home of mode 700.
// So all code is loaded at the start, and a parent that restarts nodes keeps root; it serves no
// requests.
import { join, resolve } from 'node:path';
import { findAccount, NO_ACCOUNT } from './embedded/service-account.ts';

type Log = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** No effect without root. Where it is not possible the service goes on, and logs why. */
export function dropRights(dataDir: string, log: Log): void {
  if (!isRoot()) return;
  const account = findAccount(join(resolve(dataDir), 'services'));
  if (account === undefined) {
    log.warn({}, `this process keeps root privileges: ${NO_ACCOUNT}`);
    return;
  }
  const { uid, gid } = account;
  try {
    // The working directory may be out of reach from now on.
    process.chdir('/');
    process.setgroups?.([gid]);
    process.setgid?.(gid);
    process.setuid?.(uid);
    log.info({ uid, gid }, 'dropped root privileges');
  } catch (error) {
    // A container may lack the capabilities for this.
    log.warn(
      { error: String(error) },
      'this process keeps root privileges: they cannot be dropped',
    );
  }
}
