// Whether whoever ran us by a script (npx, npm run, bun run) is still there.
//
// A SIGTERM to `npx bun run start` alone ends npx, and neither the shell nor the `bun run` between
// it and us: our own parent lives on, and so would we. So the whole chain is watched, from us up to
// the runner.
//
// Holds: without such a runner nothing is watched. What PID 1, systemd, a shell or nohup started
// knows no runner; what setsid started has another session than the runner whose environment it
// inherited. Who is init in place of an ancestor is no ancestor.
// Does not: watch anything where there is no /proc.
import { readFileSync } from 'node:fs';

/** What every such runner puts into the environment of what it runs. */
const MARKER = /(?:^|\0)npm_(?:command|lifecycle_event)=/;
/** Field 6 of /proc/PID/stat, of which 2, the name, may hold spaces and brackets. */
const STAT = /^\d+ \(.*\) \S (\d+) \d+ (\d+) /s;

type Link = { readonly pid: number; readonly parent: number };

/** Answers whether the runner that there is now is still there; null where there is none. */
export function watchRunner(): (() => boolean) | null {
  if (!isMarked(environmentOf('self'))) return null;
  const parent = process.ppid;
  const chain = chainToRunner();
  if (chain === null) return null;
  return () =>
    process.ppid === parent &&
    (chain.every((link) => statOf(link.pid)?.parent === link.parent) || isBlind());
}

/**
 * Whoever is not root any more (rights.ts) may not see others' processes, where /proc hides them.
 */
function isBlind(): boolean {
  return statOf(1) === undefined;
}

/** Each between us and the runner, with its parent; null where the runner is of another session. */
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

/** As it was when it started; undefined where that is not ours to know. */
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
