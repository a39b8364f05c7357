// All that a measurement needs, running and seeded: PostgreSQL and Redis of its own in a directory
// of its own, the service, and its three peers.
import { openServices } from '../../../src/platform/embedded/services.ts';
import type { Closers } from '../../support/closers.ts';
import { makeDataDir, removeDataDir } from './data-dir.ts';
import { openLimit, openLossy, openPlain } from './peers.ts';
import { openService, type Stores } from './service.ts';
import type { Target } from './target.ts';

const LOG = {
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
};

export async function openStores(closers: Closers): Promise<Stores> {
  const dataDir = makeDataDir();
  closers.push(() => removeDataDir(dataDir));
  const options = { databaseUrl: undefined, redisUrl: undefined, dataDir };
  const services = await openServices(options, LOG);
  closers.push(() => services.stop());
  return { databaseUrl: services.databaseUrl, redisUrl: services.redisUrl, dataDir };
}

export async function openTargets(
  stores: Stores,
  closers: Closers,
  options: { readonly withMoney: boolean },
): Promise<readonly Target[]> {
  // The lossy peer switches the log of Redis off, so it starts before the service writes there.
  const lossy = await openLossy(stores, closers);
  const limit = await openLimit(stores, closers);
  const plain = await openPlain(stores, closers, options);
  return [await openService(stores, closers, options), limit, plain, lossy];
}
