// All that a measurement needs, running and seeded: the service, that of another commit, and their
// peers. Each service has PostgreSQL and Redis of its own, the peers share others.
import { openServices } from '../../../src/platform/embedded/services.ts';
import type { Closers } from '../../support/closers.ts';
import { openCheckout } from './checkout.ts';
import { allowManyConnections, makeDataDir, removeDataDir } from './data-dir.ts';
import { openLimit, openLossy, openPlain, openPostgresLimiter, openRedisLimiter } from './peers.ts';
import { openService, ROOT, type Stores } from './service.ts';
import type { Target } from './target.ts';

const LOG = {
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
};

/** @param postgresSettings lines of the configuration of PostgreSQL, beside the service's own */
export async function openStores(closers: Closers, postgresSettings = ''): Promise<Stores> {
  const dataDir = makeDataDir();
  closers.push(() => removeDataDir(dataDir));
  allowManyConnections(dataDir, postgresSettings);
  const options = { databaseUrl: undefined, redisUrl: undefined, dataDir };
  const services = await openServices(options, LOG);
  closers.push(() => services.stop());
  return { databaseUrl: services.databaseUrl, redisUrl: services.redisUrl, dataDir };
}

/** @param options.against a commit, whose service is measured too */
export async function openTargets(
  stores: Stores,
  closers: Closers,
  options: {
    readonly withMoney: boolean;
    readonly withPeers: boolean;
    readonly against: string | null;
  },
): Promise<readonly Target[]> {
  const { withMoney, withPeers, against } = options;
  const targets = [await openService(closers, { name: 'tollhouse', root: ROOT, withMoney })];
  if (against !== null) {
    const root = await openCheckout(closers, { ref: against, repository: ROOT });
    targets.push(await openService(closers, { name: 'before', root, withMoney }));
  }
  if (!withPeers) return targets;
  return [
    ...targets,
    await openLimit(stores, closers),
    await openPlain(stores, closers, { withMoney }),
    await openLossy(stores, closers),
    await openRedisLimiter(stores, closers),
    await openPostgresLimiter(stores, closers),
  ];
}
