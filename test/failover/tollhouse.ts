// Tollhouse on the stand, as an operator runs it, and callers.
import { join } from 'node:path';
import { type Load, startLoad } from '../chaos/load.ts';
import { type ServiceProcess, startProcess } from '../chaos/service-process.ts';
import { createTenant, type Tenant } from '../chaos/tenant.ts';
import { freePort } from '../support/free-port.ts';
import { TEST_SECRETS_KEY } from '../support/settings.ts';
import type { Run } from './run.ts';
import type { Stand } from './stand.ts';

const ROOT = join(import.meta.dir, '../..');
const LEASE_MS = 5000;
const CUSTOMERS = 20;
const CALLERS = 16;

export type Running = {
  readonly services: readonly ServiceProcess[];
  readonly tenant: Tenant;
  readonly load: Load;
};

/**
 * Several processes share the slots. Callers go to each in turn; one that does not serve redirects
 * them.
 */
export async function startTollhouse(
  { random, closers }: Run,
  { databaseUrl, redisUrl, dataDir }: Stand,
  processes: number,
): Promise<Running> {
  const options = { databaseUrl, redisUrl, leaseMs: LEASE_MS };
  const services: ServiceProcess[] = [];
  for (let index = 0; index < processes; index += 1) {
    const env = { DATA_DIR: dataDir, ...(processes > 1 && (await nodeEnv())) };
    const service = await startProcess({ ...options, env });
    closers.push(async () => {
      await service.kill();
      const log = join(dataDir, 'services', `tollhouse-${index + 1}.log`);
      await Bun.write(log, service.logged.join('\n'));
    });
    await service.ready();
    services.push(service);
  }
  const [first] = services;
  const tenant = await createTenant(first!.url, { databaseUrl, customers: CUSTOMERS });
  let turn = 0;
  const target = () => Promise.resolve(services[(turn += 1) % services.length]!.url);
  return { services, tenant, load: startLoad({ tenant, random, callers: CALLERS, target }) };
}

/** The settings of one of several nodes that share the slots. */
async function nodeEnv() {
  return {
    NODE_ADDRESS: `127.0.0.1:${await freePort()}`,
    NODE_SECRET: 'a secret that all nodes of a run share',
    SECRETS_KEY: Buffer.from(TEST_SECRETS_KEY).toString('base64'),
  };
}

/** What `bun run admin audit` reports, one line each; empty where it finds nothing. */
export async function adminAudit(databaseUrl: string): Promise<string[]> {
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/admin.ts'), 'audit'], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [said, failed] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return (await child.exited) === 0 ? [] : `${said}${failed}`.trim().split('\n');
}
