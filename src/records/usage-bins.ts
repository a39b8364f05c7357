// Usage over time: what the flushes add (`usage_deltas`, and `usage_corrections` where there are
// any) is moved into the bins of accounts and the totals of meters.
//
// Holds: a delta is deleted in the statement that adds it, so it counts once whoever folds, and
// whenever that dies. Whoever reads bins and deltas in one statement sees each event once.
// Corrections of the same flush may be moved by another step: they only add to the number of
// events.
import type { Executor } from '../platform/postgres/postgres.ts';

/** One folds at a time: two would wait for each other. */
const FOLDING = 7_206_526;
/**
 * What one step takes: deltas, and their entries. The more it takes, the more of them are of the
 * same account and quarter, which costs one row.
 */
const DELTAS_MAX = 10_000;
const ENTRIES_MAX = 100_000;

export type Waiting = {
  /** Of all deltas and corrections, 100,000 at most. */
  readonly entries: number;
  /** How long ago the oldest of them was written; 0 where there is none. */
  readonly oldestMs: number;
};

/** What waits for the folder. */
export async function deltasWaiting(sql: Executor): Promise<Waiting> {
  const [row] = await sql<Waiting[]>`
    select least(coalesce(sum(size), 0), ${ENTRIES_MAX})::int as entries,
      coalesce(greatest(extract(epoch from now() - min(written_at)) * 1000, 0), 0)::float8 as "oldestMs"
    from (
      select cardinality(slots) as size, written_at from usage_deltas
      union all select 1, written_at from usage_corrections) waiting`;
  return row ?? { entries: 0, oldestMs: 0 };
}

/** Whether a step can take no more. */
export const isFull = ({ entries }: Waiting): boolean => entries >= ENTRIES_MAX;

/**
 * Moves the deltas that come first, and corrections; gives their number, which is 0 where there are
 * none, or where another process is at it.
 *
 * Rows of bins are written in the order of their keys, next to each other. The meter of an account
 * is looked up by its key: a join would be planned without knowing how long the arrays are.
 */
export async function foldDeltas(sql: Executor): Promise<number> {
  const [row] = await sql<{ folded: number }[]>`
    with lock as materialized (
      select pg_try_advisory_xact_lock(${FOLDING}::bigint) as mine
    ), first as materialized (
      select node, seq, sum(size) over (order by node, seq) - size as before from (
        select node, seq, cardinality(slots) as size from usage_deltas order by node, seq limit ${DELTAS_MAX}
      ) d where (select mine from lock)
    ), gone as (
      delete from usage_deltas d using first f
      where d.node = f.node and d.seq = f.seq and f.before < ${ENTRIES_MAX}
      returning d.*
    ), corrected as (
      delete from usage_corrections where ctid = any(array(
        select ctid from usage_corrections where (select mine from lock) limit ${ENTRIES_MAX}))
      returning *
    ), added as materialized (
      select slot, account_id, quarter, sum(sum) as value, sum(events) as events, sum(corrections) as corrections from (
        select unnest(slots) as slot, unnest(accounts) as account_id, unnest(quarters) as quarter, unnest(sums) as sum,
          unnest(events) as events, 0 as corrections
        from gone
        union all select slot, account_id, quarter, 0, 0, corrections from corrected
      ) entries group by 1, 2, 3 order by 1, 2, 3
    ), binned as (
      insert into usage_bins as b (slot, account_id, quarter, value, events, corrections) select * from added
      on conflict (slot, account_id, quarter) do update
      set value = b.value + excluded.value, events = b.events + excluded.events, corrections = b.corrections + excluded.corrections
    ), totalled as (
      insert into usage_totals as t (meter_id, quarter, value, events, corrections)
      select meter_id, quarter, sum(value), sum(events), sum(corrections) from (
        select (select a.meter_id from accounts a where a.slot = d.slot and a.id = d.account_id), d.*
        from added d
      ) of_meters group by 1, 2 order by 1, 2
      on conflict (meter_id, quarter) do update
      set value = t.value + excluded.value, events = t.events + excluded.events, corrections = t.corrections + excluded.corrections
    )
    select ((select count(*) from gone) + (select count(*) from corrected))::int as folded`;
  return row?.folded ?? 0;
}
