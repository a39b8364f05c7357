// Usage that servers of before wrote gets its deltas, a few pages a step (see migration 064).
//
// How it works: such rows are marked (`unbinned`). While a server of before may write, nothing
// begins. What it must have written by then is fenced off, and each table is read from its first
// page to its last, as it was then. A step writes a delta of what it has read, and how far it came,
// in one transaction.
//
// Holds: rows stay where they are until they were read, because retention, which moves them, does
// not run meanwhile (`isUsageBinned`), and `VACUUM FULL` is not to (`OPERATIONS.md`). Usage that
// retention dropped before is in no bin; `closing_balances` says how much that is.
import type { ISql, Sql } from 'postgres';
import type { Bigints } from '../../ledger/store/bigints.ts';
import { RETENTION_LOCK } from './retention-lock.ts';

/** Of a step: 8,000 transfers at most, so that no sum is too large. */
const PAGES = 100;

/** Whether all usage is in bins or deltas, but what was dropped before there were any. */
export async function isUsageBinned(sql: ISql<Bigints>): Promise<boolean> {
  return (await sql`select from usage_backfills limit 1`).length === 0;
}

/** One step. `waits`: a server of before may still write, or another process is at it. */
export async function backfillUsage(sql: Sql<Bigints>): Promise<'read' | 'waits' | 'whole'> {
  if (await isUsageBinned(sql)) return 'whole';
  return sql.begin(async (transaction) => {
    const [lock] = await transaction<{ mine: boolean }[]>`
      select pg_try_advisory_xact_lock(${RETENTION_LOCK}::bigint) as mine`;
    if (lock?.mine !== true) return 'waits';
    const [next] = await transaction<{ relation: string; page: bigint; pages: bigint | null }[]>`
      select relation, page, pages from usage_backfills order by relation limit 1`;
    if (next === undefined) return 'whole';
    const { relation, page, pages } = next;
    if (pages === null) return (await begin(transaction)) ? 'read' : 'waits';
    await readPages(transaction, { relation, page });
    await transaction`
      update usage_backfills set page = page + ${PAGES} where relation = ${relation}`;
    await transaction`delete from usage_backfills where relation = ${relation} and page >= pages`;
    return 'read';
  });
}

/** Notes what is to be read; false where a server of before may still write. */
async function begin(sql: ISql<Bigints>): Promise<boolean> {
  // One whose lease is over may be frozen in the middle of a flush: this waits for it, and refuses
  // what comes later.
  await sql`update nodes set epoch = epoch + 1 where not keeps_bins and expires_at < now()`;
  const alive = await sql`select from nodes where not keeps_bins and expires_at >= now() limit 1`;
  if (alive.length > 0) return false;
  await sql`
    insert into usage_backfills (relation, page)
    select inhrelid::regclass::text, 0 from pg_inherits where inhparent = 'transfers_archive'::regclass`;
  await sql`
    update usage_backfills set pages = pg_relation_size(relation::regclass) / current_setting('block_size')::int`;
  await sql`
    update closing_balances set unbinned_total = events_total, unbinned_signed = events_signed
    where (events_total, events_signed) <> (0, 0)`;
  return true;
}

/** Node 0 is no server: its numbers are the backfill's. */
async function readPages(
  sql: ISql<Bigints>,
  { relation, page }: { readonly relation: string; readonly page: bigint },
): Promise<void> {
  await sql.unsafe(
    `INSERT INTO usage_deltas (node, seq, slots, accounts, quarters, sums, events)
    SELECT 0, (SELECT coalesce(max(seq), 0) + 1 FROM usage_deltas WHERE node = 0),
      array_agg(slot), array_agg(debit), array_agg(quarter), array_agg(sum), array_agg(events)
    FROM (
      SELECT slot, debit, date_bin('15 minutes', coalesce(event_at, at), 'epoch') AS quarter,
        sum(value)::bigint AS sum, sum(sign(value + 0.5))::integer AS events
      FROM ${relation}
      WHERE ctid >= $1::text::tid AND ctid < $2::text::tid AND unbinned AND value IS NOT NULL AND kind <> 'refused'
      GROUP BY 1, 2, 3
    ) e HAVING count(*) > 0`,
    [`(${page},0)`, `(${page + BigInt(PAGES)},0)`],
  );
}
