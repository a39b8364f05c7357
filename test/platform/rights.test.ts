// Started as root, the program serves as an account without rights. From a directory that only root
// may enter, with services of its own and as several nodes: rights.long.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServiceProcess, startProcess } from '../chaos/service-process.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { idsOf } from './ids-of.ts';

const asRoot = process.getuid?.() === 0 && process.platform === 'linux' ? test : test.skip;

let database: FreshDatabase;
let service: ServiceProcess;
const dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-rights-'));
beforeAll(async () => {
  database = await freshDatabase();
  const env = { DATA_DIR: dataDir };
  service = await startProcess({ databaseUrl: database.url, leaseMs: 5000, env });
}, 60_000);
afterAll(async () => {
  await service.kill();
  await database.drop();
  rmSync(dataDir, { recursive: true });
});

asRoot(
  'started as root it serves as nobody, and stops when it is told',
  async () => {
    await service.ready();
    expect(idsOf(service.pid).has(0)).toBe(false);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    service.signal('SIGTERM');
    expect(await service.exited).toBe(0);
  },
  60_000,
);
