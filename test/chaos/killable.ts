// A service that is killed with SIGKILL and started again on the same database.
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess } from './service-process.ts';

export type Killable = {
  readonly databaseUrl: string;
  /** Its address. Resolves once it listens. */
  readonly target: () => Promise<string>;
  /** When its newest start was ready, by `performance.now()`. */
  readonly upSince: () => number;
  /** kill -9. */
  kill(): Promise<void>;
  /** Resolves when it is ready again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Its lease has expired one second after the kill. */
const LEASE_MS = 1000;

/** @param port of every start; by default each has another */
export async function startKillable(
  env: Readonly<Record<string, string>> = {},
  port?: number,
): Promise<Killable> {
  const database: FreshDatabase = await freshDatabase();
  const where = port === undefined ? {} : { port };
  const start = () => startProcess({ databaseUrl: database.url, leaseMs: LEASE_MS, env, ...where });
  let service: ServiceProcess = await start();
  await service.ready();
  let next = Promise.withResolvers<string>();
  next.resolve(service.url);
  let upSince = performance.now();
  return {
    databaseUrl: database.url,
    target: () => next.promise,
    upSince: () => upSince,
    async kill() {
      next = Promise.withResolvers<string>();
      await service.kill();
    },
    async restart() {
      service = await start();
      await service.ready();
      upSince = performance.now();
      next.resolve(service.url);
    },
    async stop() {
      await service.kill();
      await database.drop();
    },
  };
}
