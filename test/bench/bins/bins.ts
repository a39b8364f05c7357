// What usage over time costs of each event: the deltas that flushes write, folding them, and what
// indexes of raw usage would cost.
//
// Each way is a database of its own, with the same accounts. All are flushed the same events in
// turn, by the ledger's statement, on one connection; another one folds as often as the service
// does under load. Processor time is that of these two backends alone.
import { readFileSync } from 'node:fs';
import type { Transfer } from '../../../ledger/kernel/transfers.ts';
import type { FlushRows } from '../../../ledger/storage.ts';
import { emptyArray } from '../../../ledger/store/binary.ts';
import { flushParameters, type Parameter } from '../../../ledger/store/encode.ts';
import { FLUSHES } from '../../../ledger/store/flush-sql.ts';
import { DELTA_COLUMNS } from '../../../ledger/store/usage-delta.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import { foldDeltas } from '../../../src/records/usage-bins.ts';
import type { Closers } from '../../support/closers.ts';
import { NO_ROWS } from '../../store/bed.ts';
import type { Stores } from '../bed/service.ts';

const ACCOUNTS = 10_000;
const EVENTS_A_FLUSH = 500;
const EVENTS_A_FOLD = 100_000;
const SLOT = 7;

type Way = { readonly name: string; readonly deltas: boolean; readonly index: string | null };

const WAYS: readonly Way[] = [
  { name: 'without bins', deltas: false, index: null },
  { name: 'with bins', deltas: true, index: null },
  ...[
    ['by account and time', 'USING btree (debit, (coalesce(event_at, at)), id)'],
    [
      'of pages by time and account',
      'USING brin ((coalesce(event_at, at)) timestamptz_minmax_multi_ops, debit uuid_bloom_ops (n_distinct_per_range = 1500), credit uuid_bloom_ops (n_distinct_per_range = 100)) WITH (pages_per_range = 32)',
    ],
    ['of pages by time', 'USING brin ((coalesce(event_at, at)) timestamptz_minmax_multi_ops)'],
  ].map(([name = '', index = '']) => ({ name: `index ${name}`, deltas: false, index })),
];

export type BinsCost = {
  readonly name: string;
  /** Processor time of an event in microseconds, and bytes of WAL: one for each round. */
  readonly flushUs: number[];
  readonly foldUs: number[];
  readonly walBytes: number[];
};

type Bed = Way & {
  readonly writer: Sql;
  readonly folder: Sql;
  readonly pids: { readonly writer: number; readonly folder: number };
  readonly cost: BinsCost;
  seq: bigint;
};

export async function runBins(
  stores: Stores,
  closers: Closers,
  options: {
    readonly rounds: number;
    readonly signal: AbortSignal;
    readonly say: (line: string) => void;
  },
): Promise<BinsCost[]> {
  const { rounds, signal, say } = options;
  const accounts = Array.from({ length: ACCOUNTS }, () => ids.next());
  await migrate(stores.databaseUrl);
  const beds: Bed[] = [];
  for (const way of WAYS) beds.push(await openBed(stores, closers, { way, accounts }));
  const newUsage = generator(accounts);
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    say(`bins: round ${round} of ${rounds}`);
    const flushes = Array.from({ length: EVENTS_A_FOLD / EVENTS_A_FLUSH }, () =>
      Array.from({ length: EVENTS_A_FLUSH }, newUsage),
    );
    for (const bed of round % 2 === 0 ? beds : beds.toReversed()) {
      signal.throwIfAborted();
      const cost = await measure(bed, flushes);
      if (round === 0) continue;
      bed.cost.flushUs.push(cost.flushUs);
      bed.cost.foldUs.push(cost.foldUs);
      bed.cost.walBytes.push(cost.walBytes);
    }
  }
  return beds.map(({ cost }) => cost);
}

async function openBed(
  stores: Stores,
  closers: Closers,
  { way, accounts }: { readonly way: Way; readonly accounts: readonly string[] },
): Promise<Bed> {
  const url = await copyOf(stores.databaseUrl);
  const [writer, folder] = ['writer', 'folder'].map((name) => {
    const pool = openPool(url, { max: 1, applicationName: `bench ${name}` });
    closers.push(() => pool.end());
    return pool;
  }) as [Sql, Sql];
  await folder`DROP INDEX transfers_by_time`;
  if (way.index !== null) await folder.unsafe(`CREATE INDEX tried ON transfers ${way.index}`);
  await folder`
    insert into nodes (id, holder, epoch, seq, expires_at, leaving, keeps_bins, counts_corrections)
    values (1, ${ids.next()}, 1, 0, now() + interval '1 day', false, true, true)`;
  await folder`
    insert into accounts (id, slot, organisation_id, mode, kind, meter_id)
    select id, ${SLOT}, ${ids.next()}, 'test', 'meter', ${ids.next()} from unnest(${[...accounts]}::uuid[]) as t (id)`;
  const pids = { writer: await pidOf(writer), folder: await pidOf(folder) };
  const cost = { name: way.name, flushUs: [], foldUs: [], walBytes: [] };
  return { ...way, writer, folder, pids, cost, seq: 0n };
}

/** A database like this one; its address. */
async function copyOf(databaseUrl: string): Promise<string> {
  const [from, to] = [new URL(databaseUrl), new URL(databaseUrl)];
  const name = `bins_${ids.next().replaceAll('-', '')}`;
  const template = from.pathname.slice(1);
  from.pathname = '/postgres';
  to.pathname = `/${name}`;
  const sql = openPool(from.href, { max: 1, applicationName: 'bench' });
  await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await sql.end();
  return to.href;
}

async function pidOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}

/** Usage of accounts at random, one every 0.2 ms. */
function generator(accounts: readonly string[]): () => Transfer {
  const [start, credit] = [Date.now(), ids.next()];
  let count = 0;
  return () => {
    count += 1;
    const at = start + Math.floor(count / 5);
    const value = BigInt(1 + (count % 9));
    return {
      id: crypto.randomUUID(),
      kind: 'single',
      slot: SLOT,
      debit: accounts[Math.floor(Math.random() * accounts.length)] ?? '',
      credit,
      amount: value,
      hold: null,
      at,
      usage: {
        value,
        events: null,
        eventAt: at,
        fingerprint: BigInt(count) * 1_000_003n,
        reason: 'ok',
        consumedAfter: BigInt(count),
        limitAfter: 1_000_000n,
        metadata: null,
        guarded: false,
        sold: false,
        answer: null,
      },
    };
  };
}

async function measure(bed: Bed, flushes: readonly (readonly Transfer[])[]) {
  const { writer, folder, pids } = bed;
  const isSummarized = bed.index?.startsWith('USING brin') === true;
  const [walBefore, writing, folding] = [
    await walOf(folder),
    cpuUs(pids.writer),
    cpuUs(pids.folder),
  ];
  for (const transfers of flushes) await flush(bed, writer, { ...NO_ROWS, transfers });
  if (bed.deltas) while ((await foldDeltas(folder)) > 0);
  // As autovacuum does.
  if (isSummarized) await folder`select brin_summarize_new_values('tried')`;
  const flushUs = (cpuUs(pids.writer) - writing) / EVENTS_A_FOLD;
  const besideUs = (cpuUs(pids.folder) - folding) / EVENTS_A_FOLD;
  const foldUs = bed.deltas || isSummarized ? besideUs : 0;
  return { flushUs, foldUs, walBytes: ((await walOf(folder)) - walBefore) / EVENTS_A_FOLD };
}

async function flush(bed: Bed, writer: Sql, rows: FlushRows): Promise<void> {
  const fence = { node: 1, epoch: 1n, seq: bed.seq };
  const { parameters } = flushParameters(rows, fence, 60_000);
  if (!bed.deltas) withoutDelta(parameters);
  const [row] = await writer.unsafe<{ moved: boolean }[]>(
    FLUSHES.lean,
    parameters.map((one) =>
      one === null || typeof one !== 'object'
        ? one
        : (writer.typed(one.bytes as never, one.type) as never),
    ),
    { prepare: true },
  );
  if (row?.moved !== true) throw new Error('a flush was refused');
  bed.seq += 1n;
}

/** As a flush without usage has it: its arrays come before the two counts at the end. */
function withoutDelta(parameters: Parameter[]): void {
  const types = Object.values(DELTA_COLUMNS).map(({ type }) => type);
  const first = parameters.length - 2 - types.length;
  for (const [index, type] of types.entries()) parameters[first + index] = emptyArray(type);
}

/** Processor time of a process of one thread, in microseconds. */
function cpuUs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

async function walOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ at: string }[]>`
    select (pg_current_wal_lsn() - '0/0'::pg_lsn)::text as at`;
  return Number(row?.at);
}
