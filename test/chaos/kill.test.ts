import { expect, test } from 'bun:test';
import { freshDatabase } from '../support/database.ts';
import { startLoad } from './load.ts';
import { withSeed } from './random.ts';
import { type ServiceProcess, startProcess } from './service-process.ts';
import { createTenant } from './tenant.ts';
import { violations } from './verdict.ts';

const KILLS = 20;
const LEASE_MS = 1000;
const ANSWERS_BEFORE_KILL_MAX = 300;

test('kill -9 at random under load loses nothing and counts nothing twice', async () => {
  const database = await freshDatabase();
  const start = () => startProcess({ databaseUrl: database.url, leaseMs: LEASE_MS });
  let service: ServiceProcess = await start();
  try {
    await withSeed(async (random) => {
      await service.ready();
      const where = { databaseUrl: database.url, customers: 6 };
      const tenant = await createTenant(service.url, where);
      let serving = Promise.resolve(service.url);
      const load = startLoad({ tenant, random, callers: 16, target: () => serving });
      for (let kill = 0; kill < KILLS; kill += 1) {
        await load.book.moreAnswers(random.integer(1, ANSWERS_BEFORE_KILL_MAX));
        const next = Promise.withResolvers<string>();
        serving = next.promise;
        await service.kill();
        service = await start();
        await service.ready();
        next.resolve(service.url);
      }
      await load.book.moreAnswers(ANSWERS_BEFORE_KILL_MAX);
      await load.stop();
      const place = { url: service.url, databaseUrl: database.url, tenant };
      expect(await violations(place, load.book)).toEqual([]);
      // Otherwise no kill hit a call that was under way.
      expect(load.book.unknown).toBeGreaterThan(0);
    });
  } finally {
    await service.kill();
    await database.drop();
  }
}, 90_000);
