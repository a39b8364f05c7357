import { expect } from 'bun:test';
import { withSeed } from '../support/random.ts';
import { startKillable } from './killable.ts';
import { startLoad } from './load.ts';
import { createTenant } from './tenant.ts';
import { violations } from './verdict.ts';

const ANSWERS_BEFORE_KILL_MAX = 300;

/** Kills the service this many times under load: nothing is lost, and nothing counts twice. */
export async function killAtRandom(kills: number): Promise<void> {
  const service = await startKillable();
  try {
    await withSeed(async (random) => {
      const { databaseUrl, target } = service;
      const tenant = await createTenant(await target(), { databaseUrl, customers: 6 });
      const load = startLoad({ tenant, random, callers: 16, target });
      for (let kill = 0; kill < kills; kill += 1) {
        await load.book.moreAnswers(random.integer(1, ANSWERS_BEFORE_KILL_MAX));
        await service.kill();
        await service.restart();
      }
      await load.book.moreAnswers(ANSWERS_BEFORE_KILL_MAX);
      await load.stop();
      const place = { url: await target(), databaseUrl, tenant };
      expect(await violations(place, load.book)).toEqual([]);
      // Otherwise no kill came during a call.
      expect(load.book.unknown).toBeGreaterThan(0);
    });
  } finally {
    await service.stop();
  }
}
