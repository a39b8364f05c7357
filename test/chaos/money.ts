// What the tests about money share: the configuration of the service, and the checks on its books.
import { audit } from '../../src/database/audit.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';

const SETTLE_MS = 500;

/** Without rate limits: there are many callers on purpose. */
export const MONEY_ENV = {
  RATE_LIMIT_REFUNDS_PER_ORG: '0',
  RATE_LIMIT_REFUNDS_PER_PAYMENT: '0',
  LIMIT_CARD_ATTEMPTS: '0',
  SANDBOX_SETTLE_MS: String(SETTLE_MS),
};

/** After a crash, pending work is decided within this time (decisions 6). */
export const DECIDED_MS_MAX = 10_000;

export async function withSql<T>(databaseUrl: string, task: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openPool(databaseUrl, { max: 2, applicationName: 'chaos money' });
  try {
    return await task(sql);
  } finally {
    await sql.end();
  }
}

/** What is wrong in the books, one line each. */
export async function wrongBooks(sql: Sql): Promise<string[]> {
  const findings = await audit(sql);
  return findings.map(({ check, detail }) => `${check}: ${detail}`);
}

/**
 * No outbox task is open, nothing waits for an answer, and nothing is due by the organisation's
 * clock.
 */
export async function isDone(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ left: number }[]>`
    select (select count(*) from followups)::int
      + (select count(*) from payments where status in ('processing', 'requires_action'))::int
      + (select count(*) from alarms a join test_clocks c using (organisation_id)
        where a.due_at <= now() + c.ahead_ms * interval '1 ms')::int as left`;
  return row?.left === 0;
}
