// One running instance for each DATA_DIR.
//
// The lock is SQLite's exclusive file lock on an empty database: the kernel drops it when the
// process that holds it dies, however it dies. So there is no stale lock to judge, no pid that
// might have been reused, and two starts at once cannot both win.
// Does not: keep apart machines that share DATA_DIR over a network without POSIX locks.
import { Database } from 'bun:sqlite';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceFailure } from '../failure.ts';

/**
 * isHeld() takes the lock for an instant; a start waits this long, so that it does not trip on it.
 */
const WAIT_MS = 250;

/** Gives the function that unlocks, or undefined where another process holds the lock. */
export function lockDataDir(dataDir: string, waitMs = WAIT_MS): (() => void) | undefined {
  const path = join(dataDir, 'lock');
  let database: Database | undefined;
  try {
    // Any process that can read the file could lock it, so it is 0600. Created only where it is
    // missing: closing it would drop a lock that this process holds on it.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    database = new Database(path, { create: true, readwrite: true });
    database.run(`PRAGMA busy_timeout = ${waitMs}`);
    database.run('PRAGMA journal_mode = MEMORY');
    database.run('BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined;
    throw new ServiceFailure(`cannot lock ${path}: ${String(error)}`, { cause: error });
  }
  const held = database;
  return () => held.close();
}

/** Whether some process, this one too, runs on this DATA_DIR. */
export function isHeld(dataDir: string): boolean {
  if (!existsSync(join(dataDir, 'lock'))) return false;
  const unlock = lockDataDir(dataDir, 0);
  unlock?.();
  return unlock === undefined;
}
