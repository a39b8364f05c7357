import { closeSync, fchownSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Account } from './embedded/processes.ts';

/**
 * Writes a file that only its owner can read (0600), atomically and durably: when this returns, the
 * file and its name are on disk.
 */
export function writePrivate(path: string, text: string, owner?: Account): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, text);
    if (owner !== undefined) fchownSync(file, owner.uid, owner.gid);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncDirectory(dirname(path));
}

/** Syncs a directory: added and renamed names become durable. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
