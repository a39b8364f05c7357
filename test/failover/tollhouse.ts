// Tollhouse on the stand, as an operator runs it, and callers.
import { join } from 'node:path';
import { type Load, startLoad } from '../chaos/load.ts';
import { nodeEnvironment, type ServiceProcess, startProcess } from '../chaos/service-process.ts';
import { createTenant, type Tenant } from '../chaos/tenant.ts';
import { runAdmin } from '../support/admin.ts';
import type { Run } from './run.ts';
import type { Stand } from './stand.ts';

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
    const env = { DATA_DIR: dataDir, ...(processes > 1 && (await nodeEnvironment())) };
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

/** What `bun run admin audit` reports, one line each; empty where it finds nothing. */
export async function adminAudit(databaseUrl: string): Promise<string[]> {
  const { exitCode, stdout, stderr } = await runAdmin(['audit'], databaseUrl);
  return exitCode === 0 ? [] : `${stdout}${stderr}`.trim().split('\n');
}
