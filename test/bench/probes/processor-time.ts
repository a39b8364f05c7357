// Processor time from /proc: what a process, or PostgreSQL with all its processes, has used so far.
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly ownTicks: number;
  /** Of children that have ended. */
  readonly endedTicks: number;
}

/** Seconds of this process, all threads. */
export function secondsOf(pid: number): number {
  return (readStat(pid)?.ownTicks ?? 0) / TICKS_PER_SECOND;
}

/** Seconds of this process and of all that it started, ended ones included. */
export function secondsOfTree(root: number): number {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => stat !== undefined);
  const tree = new Set([root]);
  // A parent may have the higher pid, so this repeats until nothing is added.
  for (let size = 0; size !== tree.size;) {
    size = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  let ticks = 0;
  for (const stat of all) if (tree.has(stat.pid)) ticks += stat.ownTicks + stat.endedTicks;
  return ticks / TICKS_PER_SECOND;
}

/** Seconds that the machine's processors were not idle, for any program. */
export function busySeconds(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0, stolen = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + interrupts + soft + stolen) / TICKS_PER_SECOND;
}

export function parentOf(pid: number): number {
  return readStat(pid)?.parent ?? 0;
}

/** Resident memory, in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

function readStat(pid: number): Stat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name is in brackets and may hold spaces. After it: state, ppid, ..., utime is field 14.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return {
    pid,
    parent: field(4),
    ownTicks: field(14) + field(15),
    endedTicks: field(16) + field(17),
  };
}
