import type { Sql } from 'postgres';
import type { Fence } from '../storage.ts';

/**
 * Seats: a row in `nodes` is the right of one process to write for the slots that it owns.
 *
 * Only PostgreSQL's clock says that a lease is over. Taking a seat over raises its epoch, so that a late flush of the old holder
 * finds no row to move; its connections are ended first, because a frozen client may still hold the row's lock.
 *
 * Today one seat owns all slots, and another process waits for it. The tables are made for many.
 */
type Bigints = { bigint: bigint };
type SeatRow = { id: number; epoch: bigint; seq: bigint };

/** The name of a writing connection is this and its holder, so that whoever takes over finds all of them. */
const JOURNAL = 'tollhouse journal ';

export function journalName(holder: string): string {
  return JOURNAL + holder;
}

/** The seat, if it is free by the database's clock; null while its holder lives. */
export async function claimSeat(
  writer: Sql<Bigints>,
  who: { holder: string; address: string | null; leaseMs: number },
): Promise<Fence | null> {
  await writer`
    select pg_terminate_backend(s.pid) from nodes n
    join pg_stat_activity s on s.application_name = ${JOURNAL} || n.holder
    where n.expires_at < now() and s.pid <> pg_backend_pid()`;
  const [row] = await writer.begin(async (sql) => {
    await sql`select set_config('lock_timeout', ${String(who.leaseMs)}, true)`;
    const seats = await sql<SeatRow[]>`
      insert into nodes as n (id, holder, address, epoch, seq, expires_at)
      values (1, ${who.holder}, ${who.address}, 1, 0, now() + ${who.leaseMs} * interval '1 millisecond')
      on conflict (id) do update set holder = excluded.holder, address = excluded.address, epoch = n.epoch + 1,
        expires_at = excluded.expires_at
      where n.expires_at < now()
      returning id, epoch, seq`;
    if (seats[0] !== undefined)
      await sql`update slots set node = ${seats[0].id} where node is distinct from ${seats[0].id}`;
    return seats;
  });
  return row === undefined ? null : { node: row.id, epoch: row.epoch, seq: row.seq };
}

/**
 * See `Storage.recover`. The update waits for a flush that is still running, and then nothing of the old epoch can land. It does
 * not renew the lease, which only a flush does: a node that can send but not hear must not keep its seat.
 */
export async function recoverSeat(writer: Sql<Bigints>, fence: Fence): Promise<Fence | 'fenced'> {
  await writer`
    select pg_terminate_backend(s.pid) from nodes n
    join pg_stat_activity s on s.application_name = ${JOURNAL} || n.holder
    where n.id = ${fence.node} and n.epoch = ${String(fence.epoch)}::bigint and s.pid <> pg_backend_pid()`;
  const rows = await writer<SeatRow[]>`
    update nodes set epoch = epoch + 1
    where id = ${fence.node} and epoch = ${String(fence.epoch)}::bigint
    returning id, epoch, seq`;
  const row = rows[0];
  return row === undefined ? 'fenced' : { node: row.id, epoch: row.epoch, seq: row.seq };
}

/** Ends the lease now. Does nothing where the seat was lost already. */
export async function releaseSeat(writer: Sql<Bigints>, fence: Fence): Promise<void> {
  await writer`
    update nodes set expires_at = now() - interval '1 second'
    where id = ${fence.node} and epoch = ${String(fence.epoch)}::bigint`;
}
