// Finds redis-server or valkey-server, and installs one where that is possible.
//
// No npm package ships such a server, so it comes from the system: on Debian and Ubuntu, and
// as root, through apt-get. What else there is says in one line what to install.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { ServiceFailure } from '../failure.ts';
import { run } from './run-command.ts';
import type { Log } from './supervisor.ts';

const NAMES = ['redis-server', 'valkey-server'] as const;
const USUAL_PLACES = '/usr/local/bin:/usr/bin:/usr/sbin:/opt/homebrew/bin:/snap/bin';
const POLICY = '/usr/sbin/policy-rc.d';
const APT_OPTIONS = ['-y', '-q', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120'];

/**
 * The path of the server program. @throws ServiceFailure where there is none and none can be had
 */
export async function redisBinary(log: Log): Promise<string> {
  const found = find();
  if (found !== undefined) return found;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || Bun.which('apt-get') === null) {
    throw new ServiceFailure(
      'neither redis-server nor valkey-server is installed: install the package redis-server ' +
        '(Debian, Ubuntu), redis (Fedora, Alpine, Homebrew) or valkey, or set REDIS_URL',
    );
  }
  log.warn({}, 'neither redis-server nor valkey-server is installed: installing one with apt-get');
  const output = await withoutServiceStart(install);
  const installed = find();
  if (installed !== undefined) return installed;
  throw new ServiceFailure(`apt-get could not install redis-server, set REDIS_URL: ${output}`);
}

function find(): string | undefined {
  for (const name of NAMES) {
    const path = Bun.which(name) ?? Bun.which(name, { PATH: USUAL_PLACES });
    if (path !== null) return path;
  }
  return undefined;
}

/** Gives the last line that apt-get said, for the case that nothing was installed. */
async function install(): Promise<string> {
  let said = '';
  // The package lists of a fresh container are empty: only then, or when they are old, fetch them.
  for (const isUpdated of [false, true]) {
    if (isUpdated) said = (await apt(['update', '-q'])).lastLine;
    for (const name of NAMES) {
      const { ok, lastLine } = await apt(['install', ...APT_OPTIONS, name]);
      if (ok) return lastLine;
      said = lastLine;
    }
  }
  return said;
}

function apt(args: readonly string[]): Promise<{ ok: boolean; lastLine: string }> {
  return run(['env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C', 'apt-get', ...args]);
}

/**
 * The package would start a server of its own on port 6379. Debian asks policy-rc.d whether it may;
 * containers have one that says no, and elsewhere ours says so for the moment.
 */
async function withoutServiceStart<T>(task: () => Promise<T>): Promise<T> {
  if (existsSync(POLICY)) return task();
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' });
  try {
    return await task();
  } finally {
    rmSync(POLICY, { force: true });
  }
}
