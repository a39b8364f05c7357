// Of a level nothing is used up: at the upgrade what the current period took of the grants is theirs
// again. What earlier periods took stays taken, and usage that is used up stays as it is.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import { databaseBefore } from './before.ts';

const VERSION = 203;
const AT = '2026-03-01T00:00:00.000Z';
const LATER = '2026-04-01T00:00:00.000Z';

let database: FreshDatabase;
let sql: Sql;
beforeEach(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 1, applicationName: 'test upgrade' });
  // Its organization and customer are not looked at.
  await sql`set session_replication_role = replica`;
});
afterEach(async () => {
  await sql.end();
  await database.drop();
});

type Used = { readonly used: number; readonly expires_at?: string };

/** A customer with these grants, in burn order, on a meter of its own. Returns the meter. */
async function meterWith(aggregation: string, allocated: number, grants: readonly Used[]) {
  const tenant = { organisation_id: ids.next(), mode: 'test' };
  const meter = ids.next();
  await sql`insert into meters ${sql({
    id: meter,
    ...tenant,
    slug: meter,
    name: meter,
    event_name: meter,
    aggregation,
    scale: 0,
    metadata: '{}',
    status: 'active',
    created_at: AT,
    updated_at: AT,
  })}`;
  const place = { slot: 1, customer_id: ids.next(), meter_id: meter };
  await sql`insert into customer_meters ${sql({
    ...place,
    period_start: AT,
    allocated,
    ever_expired: false,
    exhausted: false,
    sequence: 0,
    event_at: AT,
  })}`;
  for (const grant of grants) {
    await sql`insert into grants ${sql({
      ...place,
      ...tenant,
      id: ids.next(),
      source: 'top_up',
      amount: 100,
      effective_at: AT,
      priority: 100,
      overage_allowed: false,
      started: true,
      created_at: AT,
      is_boolean: false,
      spent: 0,
      ...grant,
    })}`;
  }
  return meter;
}

const usedOf = async (meter: string): Promise<number[]> => {
  const rows = await sql<{ used: number }[]>`
    select used::int from grants where meter_id = ${meter} order by expires_at nulls last`;
  return rows.map(({ used }) => used);
};

test('what the current period took of the grants of a level is theirs again', async () => {
  // 30 of the 130 were taken by an earlier period: of the grant that burned first.
  const level = await meterWith('last', 100, [{ used: 100, expires_at: LATER }, { used: 30 }]);
  const flow = await meterWith('sum', 100, [{ used: 100, expires_at: LATER }, { used: 30 }]);
  await migrate(database.url);
  expect([await usedOf(level), await usedOf(flow)]).toEqual([
    [30, 0],
    [100, 30],
  ]);
  const rows = await sql<{ allocated: number }[]>`
    select allocated::int from customer_meters order by meter_id = ${level} desc`;
  expect(rows.map(({ allocated }) => allocated)).toEqual([0, 100]);
});
