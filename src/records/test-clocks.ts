import { notification } from '../platform/changes.ts';
import type { TestClock } from '../platform/org-clock.ts';
import type { Executor } from '../platform/postgres.ts';

export async function listTestClocks(sql: Executor): Promise<TestClock[]> {
  const rows = await sql<{ organisationId: string; aheadMs: bigint }[]>`
    select organisation_id as "organisationId", ahead_ms as "aheadMs" from test_clocks`;
  return rows.map(({ organisationId, aheadMs }) => ({ organisationId, aheadMs: Number(aheadMs) }));
}

/** Moves it forward, and tells every process; one that is further ahead stays. One statement: a year may be thousands of these. */
export async function saveTestClock(
  sql: Executor,
  { organisationId, aheadMs }: TestClock,
): Promise<void> {
  await sql`
    with moved as (
      insert into test_clocks as c (organisation_id, ahead_ms) values (${organisationId}, ${aheadMs})
      on conflict (organisation_id) do update set ahead_ms = greatest(c.ahead_ms, excluded.ahead_ms)
      returning organisation_id
    )
    select ${notification(sql, 'test_clock', organisationId)} from moved`;
}
