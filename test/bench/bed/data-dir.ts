// A directory for one run of the bench, and for nothing after it.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function makeDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
  // Open to the account that runs the services where we are root; its secrets are 0600 on their own.
  chmodSync(dataDir, 0o711);
  return dataDir;
}

export function removeDataDir(dataDir: string): void {
  // The services may live elsewhere, behind a link (src/platform/place.ts).
  try {
    rmSync(realpathSync(join(dataDir, 'services')), { recursive: true, force: true });
  } catch {
    // They were never made.
  }
  rmSync(dataDir, { recursive: true, force: true });
}
