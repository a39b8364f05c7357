// One run at a time for a file: a second one would write the same state and rejects.
//
// The lock is a directory with an entry for each run that wants it; the name says who it is. A run
// writes its entry, looks who else is there, and has the lock when it is alone. Of two that see
// each other before either has it, the one with the lesser name waits and the other one gives way.
//
// Holds: two never have it, because the one that writes its entry later sees the other. A run that
// was killed leaves its entry, which the next one on this host takes away. No other run has that
// name, so the entry of a live one is never taken away.
// Does not: know of a run on another host, or behind a number that another process has now, whether
// it is still there; it says which entry to take away.
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refused } from '../command.ts';

/** For those that give way to be gone. */
const LOOKS_MAX = 10;
const LOOK_EVERY_MS = 50;

/** Resolves to what gives the lock back. @throws Refused where another run has it */
export async function lock(directory: string): Promise<() => Promise<void>> {
  const own = `${process.pid}.${randomBytes(8).toString('hex')}@${hostname()}`;
  await enter(directory, own);
  const release = () => leave(directory, own);
  try {
    for (let looks = 1; ; looks += 1) {
      const others = await othersIn(directory, own);
      const [other] = others;
      if (other === undefined) return release;
      if (looks === LOOKS_MAX || others.some((name) => name < own)) throw taken(directory, other);
      await sleep(LOOK_EVERY_MS);
    }
  } catch (error) {
    await release();
    throw error;
  }
}

async function enter(directory: string, own: string): Promise<void> {
  for (;;) {
    await mkdir(directory, { recursive: true });
    try {
      return await writeFile(join(directory, own), '', { flag: 'wx' });
    } catch (error) {
      // The last one that left took the directory away meanwhile.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

async function leave(directory: string, own: string): Promise<void> {
  await rm(join(directory, own), { force: true });
  // Another one may be in it, or have taken it away.
  await rmdir(directory).catch(() => undefined);
}

/** The runs that are still there, or may be. */
async function othersIn(directory: string, own: string): Promise<string[]> {
  const others: string[] = [];
  for (const name of await readdir(directory)) {
    if (name === own) continue;
    if (isGone(name)) await rm(join(directory, name), { force: true });
    else others.push(name);
  }
  return others;
}

function isGone(name: string): boolean {
  const { pid, host } = ownerOf(name);
  if (host !== hostname() || !Number.isSafeInteger(pid)) return false;
  // In a container each run may have the number of the one before; this run has no other entry.
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

function ownerOf(name: string): { readonly pid: number; readonly host: string } {
  const [, pid, host = ''] = /^(\d{1,10})\.[\da-f]+@(.*)$/s.exec(name) ?? [];
  return { pid: Number(pid), host };
}

function taken(directory: string, name: string): Refused {
  const { pid, host } = ownerOf(name);
  const which = host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
  const entry = join(directory, name);
  return new Refused(`another run has this file (${which}); if it has ended, remove ${entry}`);
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
