import { expect } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { freePort } from '../support/free-port.ts';
import { withSeed } from '../support/random.ts';
import { killUnderClient } from './client-kills.ts';
import { type Killable, startKillable } from './killable.ts';
import { createTenant, OPEN_METER } from './tenant.ts';

/** Between two kills. */
const RESOLVED_MAX = 500;

/** Each `track` that resolved is there once, however often the service is killed under the client. */
export async function killBesideClient(kills: number): Promise<void> {
  const service = await startKillable({}, await freePort());
  const sql = openPool(service.databaseUrl, { max: 1, applicationName: 'client kills' });
  try {
    await killed({ service, sql, kills });
  } finally {
    await sql.end();
    await service.stop();
  }
}

type Parts = { readonly service: Killable; readonly sql: Sql; readonly kills: number };

async function killed({ service, sql, kills: times }: Parts): Promise<void> {
  await withSeed(async (random) => {
    const baseUrl = await service.target();
    const { databaseUrl } = service;
    const { key: apiKey, customers } = await createTenant(baseUrl, { databaseUrl, customers: 6 });
    const { problems, retries } = await killUnderClient({
      baseUrl,
      apiKey,
      sql,
      kills: times,
      resolvedMax: RESOLVED_MAX,
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
}
