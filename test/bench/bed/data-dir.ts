// A directory for one run of the bench, and for nothing after it.
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareServiceAccount } from '../../../src/platform/embedded/service-account.ts';

// The service, and each peer with pools of its own, keep what they opened.
const POSTGRES_SETTINGS = 'max_connections = 300\n';

export function makeDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
  // Open to the account that runs the services where we are root; its secrets are 0600 on their own.
  chmodSync(dataDir, 0o711);
  const { directory } = prepareServiceAccount(dataDir);
  writeFileSync(join(directory, 'postgres.local.conf'), POSTGRES_SETTINGS);
  return dataDir;
}

export function removeDataDir(dataDir: string): void {
  // The services may live elsewhere, behind a link (src/platform/embedded/service-account.ts).
  try {
    rmSync(realpathSync(join(dataDir, 'services')), { recursive: true, force: true });
  } catch {
    // They were never made.
  }
  rmSync(dataDir, { recursive: true, force: true });
}
