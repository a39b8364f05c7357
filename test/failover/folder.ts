// Where one run keeps everything, and nothing after it but, where that was asked for, its logs.
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
  // The account that runs the services where we are root passes through.
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
