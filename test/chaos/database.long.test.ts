import { expect, test } from 'bun:test';
import { withSeed } from '../support/random.ts';
import { testServices } from '../support/services.ts';
import { startLoad } from './load.ts';
import { startOwnPostgres } from './own-postgres.ts';
import { startProcess } from './service-process.ts';
import { createTenant } from './tenant.ts';
import { violations } from './verdict.ts';

/**
 * Each restart waits twice as long as the one before (src/platform/embedded/supervisor.ts): the
 * last wait is longer than the lease.
 */
const CRASHES = 5;
const LEASE_MS = 1000;
const ANSWERS_BEFORE_CRASH_MAX = 300;
/** Enough that every caller has had several. */
const ANSWERS_TO_RECOVER = 100;
/**
 * Counted from when the database accepts connections again: a connect may first wait for its
 * timeout, twice.
 */
const RECOVERY_MS_MAX = 8000;

test('the service survives crashes of its database, and loses nothing', async () => {
  const postgres = await startOwnPostgres(testServices().redisUrl);
  const service = await startProcess({ databaseUrl: postgres.url, leaseMs: LEASE_MS });
  try {
    await withSeed(async (random) => {
      await service.ready();
      const where = { databaseUrl: postgres.url, customers: 6 };
      const tenant = await createTenant(service.url, where);
      const target = () => Promise.resolve(service.url);
      const load = startLoad({ tenant, random, callers: 16, target });
      for (let crash = 0; crash < CRASHES; crash += 1) {
        await load.book.moreAnswers(random.integer(1, ANSWERS_BEFORE_CRASH_MAX));
        await postgres.crash();
        await postgres.running();
        const runs = performance.now();
        await service.ready();
        await load.book.moreAnswers(ANSWERS_TO_RECOVER);
        expect(performance.now() - runs).toBeLessThan(RECOVERY_MS_MAX);
      }
      await load.book.moreAnswers(ANSWERS_BEFORE_CRASH_MAX);
      await load.stop();
      const place = { url: service.url, databaseUrl: postgres.url, tenant };
      expect(await violations(place, load.book)).toEqual([]);
      // It answered that it is unavailable, and did not cut connections.
      expect(load.book.unavailable).toBeGreaterThan(0);
      expect(load.book.unknown).toBe(0);
      expect(service.logged.filter((line) => line.includes('took a seat'))).toHaveLength(1);
    });
  } finally {
    await service.kill();
    await postgres.stop();
  }
}, 60_000);
