// The directory of one run. It is removed afterwards, but for the logs where they are asked for.
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-failover-'));
  // When we are root, the account that runs the services must be able to enter it.
  chmodSync(folder, 0o711);
  return folder;
}

export function removeFolder(folder: string, logs: string | undefined): void {
  const services = realpathSync(join(folder, 'services'));
  if (logs !== undefined) {
    mkdirSync(logs, { recursive: true });
    for (const name of readdirSync(services).filter((file) => file.endsWith('.log'))) {
      copyFileSync(join(services, name), join(logs, name));
    }
  }
  rmSync(services, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}
