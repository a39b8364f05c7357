// A directory for one run of the bench; it is removed afterwards.
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareServiceAccount } from '../../../src/platform/embedded/service-account.ts';

// Each program has pools of its own, which stay open.
const POSTGRES_SETTINGS = 'max_connections = 300\n';

export function makeDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
  // When we are root, the account that runs the services can enter it; its secrets have mode 0600.
  chmodSync(dataDir, 0o711);
  return dataDir;
}

/** For PostgreSQL that several programs use at once. `more` are lines of its configuration. */
export function allowManyConnections(dataDir: string, more = ''): void {
  const { directory } = prepareServiceAccount(dataDir);
  writeFileSync(join(directory, 'postgres.local.conf'), POSTGRES_SETTINGS + more);
}

export function removeDataDir(dataDir: string): void {
  // The services' directory may be elsewhere, behind a link
  // (src/platform/embedded/service-account.ts).
  try {
    rmSync(realpathSync(join(dataDir, 'services')), { recursive: true, force: true });
  } catch {
    // It was never made.
  }
  rmSync(dataDir, { recursive: true, force: true });
}
