// A second process on the same database waits for the seat, and gets it when the first one leaves.
import { expect, test } from 'bun:test';
import { freshDatabase } from '../support/database.ts';
import { withSeed } from '../support/random.ts';
import { call } from './call.ts';
import { startLoad } from './load.ts';
import { startProcess } from './service-process.ts';
import { OPEN_METER, createTenant } from './tenant.ts';
import { eventViolations, violations } from './verdict.ts';

/** The usual lease: if the second process waited for it, the test would notice. */
const LEASE_MS = 5000;
const HANDOVER_MS_MAX = 2000;

test('a second process waits, and serves as soon as the first has drained', async () => {
  const database = await freshDatabase();
  const start = () => startProcess({ databaseUrl: database.url, leaseMs: LEASE_MS });
  const first = await start();
  await first.ready();
  const second = await start();
  try {
    await withSeed(async (random) => {
      const tenant = await createTenant(first.url, { databaseUrl: database.url, customers: 4 });
      await second.up();
      const sender = { url: second.url, key: tenant.key };
      const question = { feature_key: OPEN_METER, customer_id: tenant.customers[0] };
      for (const answer of [await call(sender, '/ready'), await call(sender, '/check', question)]) {
        expect(answer.status).toBe(503);
        expect(answer.json.error.type).toBe('service_unavailable');
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      let serving = Promise.resolve(first.url);
      const load = startLoad({ tenant, random, callers: 16, target: () => serving });
      await load.book.moreAnswers(200);
      expect(await second.isReady()).toBe(false);
      const next = Promise.withResolvers<string>();
      serving = next.promise;
      first.signal('SIGTERM');
      expect(await first.exited).toBe(0);
      const left = performance.now();
      // It answered everything that it had accepted: what it left unanswered, it has not recorded.
      const known = { databaseUrl: database.url, tenant };
      expect(await eventViolations(known, load.book)).toEqual([]);
      await second.ready();
      expect(performance.now() - left).toBeLessThan(HANDOVER_MS_MAX);
      next.resolve(second.url);
      await load.book.moreAnswers(200);
      await load.stop();
      const place = { url: second.url, databaseUrl: database.url, tenant };
      expect(await violations(place, load.book)).toEqual([]);
    });
  } finally {
    await Promise.all([first.kill(), second.kill()]);
    await database.drop();
  }
}, 60_000);
