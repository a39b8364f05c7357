import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { freePort } from '../support/free-port.ts';
import { withSeed } from '../support/random.ts';
import { killUnderClient } from './client-kills.ts';
import { type Killable, startKillable } from './killable.ts';
import { createTenant, OPEN_METER } from './tenant.ts';

let service: Killable;
let sql: Sql;

beforeAll(async () => {
  service = await startKillable({}, await freePort());
  sql = openPool(service.databaseUrl, { max: 1, applicationName: 'client kills' });
});
afterAll(async () => {
  await sql.end();
  await service.stop();
});

test('each track that resolved is there once, however often the service is killed', async () => {
  await withSeed(async (random) => {
    const baseUrl = await service.target();
    const { databaseUrl } = service;
    const { key: apiKey, customers } = await createTenant(baseUrl, { databaseUrl, customers: 6 });
    const { problems, retries } = await killUnderClient({
      baseUrl,
      apiKey,
      sql,
      kills: 20,
      async killAndRestart() {
        await service.kill();
        await service.restart();
      },
      use: () => ({ featureKey: OPEN_METER, customerId: random.pick(customers), value: 1 }),
      random: () => random.integer(0, 999) / 1000,
    });
    expect(problems).toEqual([]);
    // Otherwise no kill came during a call.
    expect(retries).toBeGreaterThan(0);
  });
}, 300_000);
