import type { ISql, Sql } from 'postgres';
import { SLOTS } from '../limits.ts';
import type { Fence, Handover, SeatedNode, Survey } from '../storage.ts';
import type { Bigints } from './bigints.ts';

/**
 * Seats and slots. A row in `nodes` is the right of one process to write; a row in `slots` says for
 * which actors.
 *
 * How it works: only PostgreSQL's clock says that a lease is over. A node that takes a seat, or the
 * slots of a dead one, raises the epoch of that seat, so that a late flush of the old holder finds
 * no row to move. It ends the old holder's connections first, because a frozen client may still
 * hold the row's lock.
 *
 * Holds: `slots.node = n` changes only by a flush of n itself (`handed_over` in `flush-sql.ts`), or
 * by the transaction that raises the epoch of n after its lease is over. A node without an address
 * is alone: it joins nobody, and nobody joins it. At one address there is one node: the next one
 * waits for its lease. After a crash that is its own lease.
 */
type SeatRow = { id: number; epoch: bigint; seq: bigint };

/**
 * The name of a writing connection is this and its holder. So a node that takes over finds all of
 * them.
 */
const JOURNAL = 'tollhouse journal ';

/** One node joins at a time: of two that cannot share, only one may find that no other is alive. */
const JOINING = 7_041_776_001;

export function journalName(holder: string): string {
  return JOURNAL + holder;
}

type Holder = {
  readonly holder: string;
  readonly address: string | null;
  readonly leaseMs: number;
};

/** See `Storage.claim`. The first node takes the slots that have no owner yet. */
export async function claimSeat(writer: Sql<Bigints>, who: Holder): Promise<Fence | null> {
  await endConnections(writer, freeSeat(writer));
  const [row] = await writer.begin(async (sql) => {
    await boundWaits(sql, who.leaseMs);
    await sql`select pg_advisory_xact_lock(${JOINING})`;
    const seats = await sql<SeatRow[]>`
      insert into nodes as n (id, holder, address, epoch, seq, expires_at, leaving, keeps_bins, counts_corrections)
      select coalesce(${freeSeat(sql)}, (select coalesce(max(id), 0) + 1 from nodes)), ${who.holder}, ${who.address}::text, 1, 0,
        now() + ${who.leaseMs} * interval '1 millisecond', false, true, true
      where not exists (select from nodes where halted or expires_at >= now()
        and (address is null or ${who.address}::text is null or address = ${who.address}::text))
      on conflict (id) do update set holder = excluded.holder, address = excluded.address, epoch = n.epoch + 1,
        expires_at = excluded.expires_at, leaving = false, keeps_bins = true, counts_corrections = true
      where n.expires_at < now()
      returning id, epoch, seq`;
    if (seats[0] !== undefined)
      await sql`update slots set node = ${seats[0].id} where node is null`;
    return seats;
  });
  return row === undefined ? null : fenceOf(row);
}

/** See `Storage.survey`. */
export async function surveyNodes(sql: Sql<Bigints>): Promise<Survey> {
  const rows = await sql<(Omit<SeatedNode, 'node'> & { id: number; slots: number[] })[]>`
    select n.id, n.epoch, n.address, n.expires_at >= now() and not n.halted as alive, n.leaving, n.halted, s.slots,
      greatest(0, ceil(extract(epoch from n.expires_at - now()) * 1000))::int as "leaseMs"
    from nodes n cross join lateral (select coalesce(array_agg(slot), '{}') as slots from slots where node = n.id) s
    order by n.id`;
  const owners = Array.from({ length: SLOTS }, () => 0);
  for (const { id, slots } of rows) {
    for (const slot of slots) owners[slot] = id;
  }
  return { nodes: rows.map(({ id, slots: _slots, ...node }) => ({ ...node, node: id })), owners };
}

/** See `Storage.takeOver`. */
export async function takeOverSlots(
  writer: Sql<Bigints>,
  {
    dead,
    to,
    leaseMs,
  }: {
    readonly dead: Pick<SeatedNode, 'node' | 'epoch'>;
    readonly to: readonly Handover[];
    readonly leaseMs: number;
  },
): Promise<boolean> {
  const { node, epoch } = dead;
  const seat = writer`(select ${node}::smallint where exists (
    select from nodes where id = ${node} and epoch = ${String(epoch)}::bigint and expires_at < now()))`;
  await endConnections(writer, seat);
  return writer.begin(async (sql) => {
    await boundWaits(sql, leaseMs);
    const raised = await sql`
      update nodes set epoch = epoch + 1
      where id = ${node} and epoch = ${String(epoch)}::bigint and expires_at < now() and not halted
      returning id`;
    if (raised.length === 0) return false;
    await sql`
      update slots s set node = t.node
      from unnest(${to.map((one) => one.slot)}::smallint[], ${to.map((one) => one.node)}::smallint[]) as t (slot, node)
      where s.slot = t.slot and s.node = ${node}`;
    return true;
  });
}

/**
 * See `Storage.recover`. The update waits for a flush that is still running; after it nothing of
 * the old epoch can land. It does not renew the lease, which only a flush does: a node that can
 * send but not hear must not keep its seat.
 */
export async function recoverSeat(
  writer: Sql<Bigints>,
  { fence, holder }: { readonly fence: Fence; readonly holder: string },
): Promise<Fence | 'fenced' | 'behind'> {
  const epoch = String(fence.epoch);
  await endConnections(
    writer,
    writer`(select id from nodes where id = ${fence.node} and epoch = ${epoch}::bigint)`,
  );
  const seq = String(fence.seq);
  const [row] = await writer<SeatRow[]>`
    update nodes set epoch = epoch + 1, halted = halted or seq < ${seq}::bigint
    where id = ${fence.node} and epoch = ${epoch}::bigint
    returning id, epoch, seq`;
  if (row !== undefined) return row.seq < fence.seq ? 'behind' : fenceOf(row);
  // The number of a seat only grows, under each of its holders.
  const [seat] = await writer<SeatRow[]>`select id, epoch, seq from nodes where id = ${fence.node}`;
  if (seat !== undefined && seat.seq >= fence.seq) return 'fenced';
  // The next holder of the seat has lost nothing of its own.
  await writer`
    update nodes set halted = true
    where id = ${fence.node} and holder = ${holder} and seq < ${seq}::bigint`;
  return 'behind';
}

/** See `Storage.leave`. Does nothing where the seat was lost already. */
export async function leaveSeat(sql: Sql<Bigints>, fence: Fence): Promise<void> {
  await sql`
    update nodes set leaving = true
    where id = ${fence.node} and epoch = ${String(fence.epoch)}::bigint`;
}

/** Ends the lease now. Does nothing where the seat was lost already. */
export async function releaseSeat(writer: Sql<Bigints>, fence: Fence): Promise<void> {
  await writer`
    update nodes set expires_at = now() - interval '1 second'
    where id = ${fence.node} and epoch = ${String(fence.epoch)}::bigint`;
}

/**
 * Ends the halt of seats that a stale copy of the database caused; gives their number. Writes that
 * the copy does not have stay lost.
 */
export async function resumeSeats(sql: Sql<Bigints>): Promise<number> {
  return (await sql`update nodes set halted = false where halted`).count;
}

/** The first seat whose lease is over, as part of a statement. */
function freeSeat(sql: ISql<Bigints>) {
  return sql`(select id from nodes where expires_at < now() order by id limit 1)`;
}

/** Ends every writing connection of the seat's holder, but this one. */
async function endConnections(
  writer: ISql<Bigints>,
  seat: ReturnType<typeof freeSeat>,
): Promise<void> {
  await writer`
    select pg_terminate_backend(s.pid) from nodes n
    join pg_stat_activity s on s.application_name = ${JOURNAL} || n.holder
    where n.id = ${seat} and s.pid <> pg_backend_pid()`;
}

/** Neither a lock of a frozen client nor our own silence may hold up the others. */
async function boundWaits(sql: ISql<Bigints>, leaseMs: number): Promise<void> {
  await sql`
    select set_config('lock_timeout', ${String(leaseMs)}, true), set_config('statement_timeout', ${String(leaseMs)}, true),
      set_config('idle_in_transaction_session_timeout', ${String(leaseMs)}, true)`;
}

function fenceOf({ id, epoch, seq }: SeatRow): Fence {
  return { node: id, epoch, seq };
}
