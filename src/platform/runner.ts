// Watches the script runner (npx, npm run, bun run) that started this process.
//
// Why: a SIGTERM to `npx bun run start` alone ends npx, but neither the shell nor the `bun run`
// between it and us. Our own parent lives on, so the whole chain up to the runner is watched.
// Holds: without a runner nothing is watched. A process that PID 1, systemd, a shell or nohup
// started has no runner; one that setsid started has another session than the runner whose
// environment it inherited. A process that init adopted has lost its ancestor.
// Does not: watch anything where there is no /proc.
import { readFileSync } from 'node:fs';

/** Every runner sets this in its child's environment. */
const MARKER = /(?:^|\0)npm_(?:command|lifecycle_event)=/;
/** Field 6 of /proc/PID/stat, of which 2, the name, may hold spaces and brackets. */
const STAT = /^\d+ \(.*\) \S (\d+) \d+ (\d+) /s;

type Link = { readonly pid: number; readonly parent: number };

/** Returns a check whether the current runner still lives; null where there is none. */
export function watchRunner(): (() => boolean) | null {
  if (!isMarked(environmentOf('self'))) return null;
  const parent = process.ppid;
  const chain = chainToRunner();
  if (chain === null) return null;
  return () =>
    process.ppid === parent &&
    (chain.every((link) => statOf(link.pid)?.parent === link.parent) || isBlind());
}

/** Without root (rights.ts), other accounts' processes may be hidden in /proc. */
function isBlind(): boolean {
  return statOf(1) === undefined;
}

/**
 * The processes from us to the runner, each with its parent; null where the runner is of another
 * session.
 */
function chainToRunner(): readonly Link[] | null {
  const own = statOf(process.pid);
  const chain: Link[] = [];
  let pid = process.ppid;
  for (;;) {
    const stat = statOf(pid);
    if (pid <= 1 || own === undefined || stat?.session !== own.session) return null;
    if (!isMarked(environmentOf(pid))) return chain;
    chain.push({ pid, parent: stat.parent });
    pid = stat.parent;
  }
}

function statOf(pid: number): { readonly parent: number; readonly session: number } | undefined {
  const [, parent, session] = STAT.exec(read(`/proc/${pid}/stat`) ?? '') ?? [];
  if (parent === undefined || session === undefined) return undefined;
  return { parent: Number(parent), session: Number(session) };
}

/** The environment of a process at its start; undefined where it cannot be read. */
function environmentOf(pid: number | 'self'): string | undefined {
  return read(`/proc/${pid}/environ`);
}

function isMarked(environment: string | undefined): boolean {
  return environment !== undefined && MARKER.test(environment);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
