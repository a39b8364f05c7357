// Starts processes as another account, finds what an earlier run left, and ends both.
//
// How: a process belongs to a service when its working directory is the service's own directory;
// PostgreSQL and Redis both change into it. A pid in a file may belong to another process by now; a
// working directory does not go stale.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, fchownSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { ServiceFailure } from '../failure.ts';

/** The account of a service. undefined: our own. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

export interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly account: Account;
}

const POLL_MS = 10;
/** A log beyond this size is rotated at the next start; one older log is kept. */
const LOG_BYTES_MAX = 8 * 1024 * 1024;
// A clean environment: PGDATA or PGPORT would change what PostgreSQL does.
const CLEAN_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a short command to its end. */
export function runOnce(command: Command): { ok: boolean; output: string } {
  const done = spawnSync(command.file, [...command.args], {
    ...command.account,
    cwd: '/',
    env: CLEAN_ENV,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = `${done.stdout ?? ''}${done.stderr ?? ''}${done.error?.message ?? ''}`;
  return { ok: done.status === 0, output };
}

/**
 * Starts a process that writes to a file and leads its own session, so that Ctrl-C in our terminal
 * reaches us alone, and a death of ours leaves it no broken pipe.
 */
function startDaemon(command: Command & { logFile: string }): ChildProcess {
  const log = openLogFile(command);
  try {
    return spawn(command.file, [...command.args], {
      ...command.account,
      cwd: '/',
      env: CLEAN_ENV,
      detached: true,
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}

/**
 * Owned by the account: the process that restarts the service may have no other rights by then, and
 * then does not rotate the log.
 */
function openLogFile({ logFile, account }: Command & { logFile: string }): number {
  const isRoot = process.getuid?.() === 0;
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const isOurs = account === undefined || isRoot;
  if (isOurs && size > LOG_BYTES_MAX) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  if (account !== undefined && isRoot) fchownSync(log, account.uid, account.gid);
  return log;
}

/** Settles when the process has ended, with how; it never rejects. */
export function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code ?? 'unknown'}`));
  });
}

/** What a service needs of `supervise`, of a process that writes to a file. */
export function daemon(command: Command & { readonly logFile: string }) {
  return {
    launch: () => startDaemon(command),
    lastWords: () => lastLine(command.logFile),
  };
}

function lastLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  } catch {
    return '';
  }
}

/**
 * Pids whose working directory is `directory` (a real path). Asked as `account`, because root in a
 * container may lack the capability to look into the processes of others.
 */
export function processesIn(directory: string, account: Account): number[] {
  const isLinux = process.platform === 'linux';
  const script = isLinux ? 'ls -ld /proc/[0-9]*/cwd' : 'lsof -a -d cwd -Fpn';
  const { output } = runOnce({ file: '/bin/sh', args: ['-c', `${script} 2>/dev/null`], account });
  const pattern = isLinux ? /\/proc\/(\d+)\/cwd -> (.*)$/gm : /^p(\d+)\n(?:f.*\n)?n(.*)$/gm;
  return [...output.matchAll(pattern)]
    .filter((match) => match[2] === directory)
    .map((match) => Number(match[1]));
}

/**
 * Sends each signal in turn until all are gone. @throws ServiceFailure where none of them helps.
 */
export async function endProcesses(options: {
  name: string;
  pids: readonly number[];
  steps: readonly StopStep[];
}): Promise<void> {
  for (const { signal, waitMs } of options.steps) {
    for (const pid of options.pids) send(pid, signal);
    const deadline = performance.now() + waitMs;
    while (options.pids.some(isAlive) && performance.now() < deadline) await Bun.sleep(POLL_MS);
    if (!options.pids.some(isAlive)) return;
  }
  throw new ServiceFailure(`${options.name}: process ${options.pids.join(', ')} does not end`);
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  return send(pid, 0) && !isZombie(pid);
}

/** A zombie, which pid 1 of many containers never collects, holds nothing any more. */
function isZombie(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('Z') ?? false;
  } catch {
    return false;
  }
}
