// What servers of before wrote is added to usage over time: usage without a delta (see migration
// 064), then corrections that are in no bin's number of events (193). A few pages a step.
//
// How it works: such rows are marked (`unbinned`; a correction without `events`). While a server of
// before may write, nothing begins. What it must have written by then is fenced off, and each table
// is read from its first page to its last, as it was then. A step writes what it has read to where
// a flush writes it, and how far it came, in one transaction.
//
// Holds: rows stay where they are until they were read, because retention, which moves them, does
// not run meanwhile (`isUsageBinned`), and `VACUUM FULL` is not to (`OPERATIONS.md`). Usage that
// retention dropped before is in no bin; `closing_balances` says how much that is. A correction
// that it dropped before takes one off the number of events for ever.
import type { ISql, Sql } from 'postgres';
import type { Bigints } from '../../ledger/store/bigints.ts';
import { RETENTION_LOCK } from './retention-lock.ts';

/** Of a step: 8,000 transfers at most, so that no sum is too large. */
const PAGES = 100;

type Backfill = {
  /** What it has still to read, by table. */
  readonly table: 'usage_backfills' | 'correction_backfills';
  /** A column of `nodes`: whether the holder of a seat writes this itself. */
  readonly isOfNow: 'keeps_bins' | 'counts_corrections';
  /**
   * What becomes of the rows `r` of these pages. Node 0 is no server: its numbers are the
   * backfill's.
   */
  readonly added: string;
};

const SEQ = (table: string): string =>
  `(SELECT coalesce(max(seq), 0) + 1 FROM ${table} WHERE node = 0)`;
const QUARTER = `date_bin('15 minutes', coalesce(event_at, at), 'epoch') AS quarter`;

/** In this order: corrections are of usage that is in bins. */
const BACKFILLS: readonly Backfill[] = [
  {
    table: 'usage_backfills',
    isOfNow: 'keeps_bins',
    added: `
      INSERT INTO usage_deltas (node, seq, slots, accounts, quarters, sums, events)
      SELECT 0, ${SEQ('usage_deltas')},
        array_agg(slot), array_agg(debit), array_agg(quarter), array_agg(sum), array_agg(events)
      FROM (
        SELECT slot, debit, ${QUARTER}, sum(value)::bigint AS sum, sum(sign(value + 0.5))::integer AS events
        FROM r WHERE unbinned AND value IS NOT NULL AND kind <> 'refused' GROUP BY 1, 2, 3
      ) e HAVING count(*) > 0`,
  },
  {
    table: 'correction_backfills',
    isOfNow: 'counts_corrections',
    added: `
      INSERT INTO usage_corrections (node, seq, slot, account_id, quarter, corrections)
      SELECT 0, ${SEQ('usage_corrections')}, slot, debit, ${QUARTER}, count(*)
      FROM r WHERE value < 0 AND events IS NULL AND kind <> 'refused' GROUP BY 3, 4, 5`,
  },
];

/** Whether all usage is in bins or deltas, but what was dropped before there were any. */
export async function isUsageBinned(sql: ISql<Bigints>): Promise<boolean> {
  return (await underWay(sql)) === undefined;
}

/** One step. `waits`: a server of before may still write, or another process is at it. */
export async function backfillUsage(sql: Sql<Bigints>): Promise<'read' | 'waits' | 'whole'> {
  if (await isUsageBinned(sql)) return 'whole';
  return sql.begin(async (transaction) => {
    const [lock] = await transaction<{ mine: boolean }[]>`
      select pg_try_advisory_xact_lock(${RETENTION_LOCK}::bigint) as mine`;
    if (lock?.mine !== true) return 'waits';
    const backfill = await underWay(transaction);
    if (backfill === undefined) return 'whole';
    const table = transaction(backfill.table);
    const [next] = await transaction<{ relation: string; page: bigint; pages: bigint | null }[]>`
      select relation, page, pages from ${table} order by relation limit 1`;
    if (next === undefined) return 'whole';
    const { relation, page, pages } = next;
    if (pages === null) return (await begin(transaction, backfill)) ? 'read' : 'waits';
    await transaction.unsafe(
      `WITH r AS (SELECT * FROM ${relation} WHERE ctid >= $1::text::tid AND ctid < $2::text::tid)${backfill.added}`,
      [`(${page},0)`, `(${page + BigInt(PAGES)},0)`],
    );
    await transaction`update ${table} set page = page + ${PAGES} where relation = ${relation}`;
    await transaction`delete from ${table} where relation = ${relation} and page >= pages`;
    return 'read';
  });
}

/** The first that is not whole. */
async function underWay(sql: ISql<Bigints>): Promise<Backfill | undefined> {
  for (const backfill of BACKFILLS) {
    if ((await sql`select from ${sql(backfill.table)} limit 1`).length > 0) return backfill;
  }
  return undefined;
}

/** Notes what is to be read; false where a server of before may still write. */
async function begin(sql: ISql<Bigints>, { table, isOfNow }: Backfill): Promise<boolean> {
  const [rows, known] = [sql(table), sql(isOfNow)];
  // One whose lease is over may be frozen in the middle of a flush: this waits for it, and refuses
  // what comes later.
  await sql`update nodes set epoch = epoch + 1 where not ${known} and expires_at < now()`;
  const alive = await sql`select from nodes where not ${known} and expires_at >= now() limit 1`;
  if (alive.length > 0) return false;
  await sql`
    insert into ${rows} (relation, page)
    select inhrelid::regclass::text, 0 from pg_inherits where inhparent = 'transfers_archive'::regclass`;
  await sql`
    update ${rows} set pages = pg_relation_size(relation::regclass) / current_setting('block_size')::int`;
  if (table === 'usage_backfills') {
    await sql`
      update closing_balances set unbinned_total = events_total, unbinned_signed = events_signed
      where (events_total, events_signed) <> (0, 0)`;
  }
  return true;
}
