// Started as root, a process that talks to the outside gives root's rights away, for good, as soon
// as what needs them is done: Redis is installed, DATA_DIR made, its ports are bound, its secrets
// read.
//
// Who calls: the start command, right after it listens and before it hears anybody; each node of
// `--processes`; a worker.
// Holds: from then on all its threads, and whatever it starts, run as the account of the embedded
// services. It owns nothing of the program, of DATA_DIR and of its secrets.
// Costs: nothing can be read any more that only root may read, such as the program itself in a home
// of mode 700. So all of it is loaded at the start, and a parent that starts nodes again keeps its
// rights; it serves nobody.
import { join, resolve } from 'node:path';
import { findAccount, NO_ACCOUNT } from './embedded/service-account.ts';

type Log = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Without effect where it is not root's. Where it is not possible the service goes on, and says
 * why.
 */
export function dropRights(dataDir: string, log: Log): void {
  if (!isRoot()) return;
  const account = findAccount(join(resolve(dataDir), 'services'));
  if (account === undefined) {
    log.warn({}, `this process keeps the rights of root: ${NO_ACCOUNT}`);
    return;
  }
  const { uid, gid } = account;
  try {
    // Where it was started may be out of its reach from now on.
    process.chdir('/');
    process.setgroups?.([gid]);
    process.setgid?.(gid);
    process.setuid?.(uid);
    log.info({ uid, gid }, 'the rights of root are given away');
  } catch (error) {
    // A container without the capabilities that this takes.
    log.warn(
      { error: String(error) },
      'this process keeps the rights of root: they cannot be given away',
    );
  }
}
