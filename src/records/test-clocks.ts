import { type Executor, type Sql } from '../platform/postgres.ts';
import { notifyChange } from '../platform/changes.ts';
import type { TestClock } from '../platform/org-clock.ts';

export async function listTestClocks(sql: Executor): Promise<TestClock[]> {
  const rows = await sql<{ organisationId: string; aheadMs: bigint }[]>`
    select organisation_id as "organisationId", ahead_ms as "aheadMs" from test_clocks`;
  return rows.map(({ organisationId, aheadMs }) => ({ organisationId, aheadMs: Number(aheadMs) }));
}

/** Moves it forward; one that is further ahead stays. */
export async function saveTestClock(
  sql: Sql,
  { organisationId, aheadMs }: TestClock,
): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`
      insert into test_clocks as c (organisation_id, ahead_ms) values (${organisationId}, ${aheadMs})
      on conflict (organisation_id) do update set ahead_ms = greatest(c.ahead_ms, excluded.ahead_ms)`;
    await notifyChange(transaction, 'test_clock', organisationId);
  });
}
