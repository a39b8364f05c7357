// Where streams begin, and their pages, cost what they show: however many events others have, and
// however old the tenant's own are.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Executor, Sql } from '../../src/platform/postgres/postgres.ts';
import { BEGINNING, findStarts, pagesAfter } from '../../src/records/event-positions.ts';
import { freshDatabase } from '../support/database.ts';

const tenant = (mode: Tenant['mode'] = 'live'): Tenant => ({ organisationId: ids.next(), mode });
const OLD = tenant();
const BUSY = tenant();
const FEW = tenant();
const NONE = tenant();
/** Each with the positions of its events. */
const OTHERS: readonly (readonly [Tenant, from: number, to: number])[] = [
  [OLD, 1, 300],
  [{ ...OLD, mode: 'test' }, 301, 302],
  [FEW, 60_001, 60_010],
];

/** Rows at the ends of an index that the planner may look at. */
const PLANNED_MAX = 8;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres(database.url, { max: 1, types: { bigint: postgres.BigInt } });
  await insert(BUSY, 303, 60_000);
  // By these the first event of all is as good as one of the tenant.
  await sql`analyze events, event_fanouts`;
  for (const [who, from, to] of OTHERS) await insert(who, from, to);
  // The relay has passed them all.
  await sql`truncate event_queue`;
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

async function insert({ organisationId, mode }: Tenant, from: number, to: number): Promise<void> {
  await sql`
    with made as (
      insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data)
      select uuidv7(), ${organisationId}, ${mode}, 'tag.created', 'TAG', uuidv7(), n, now(), '{}'
      from generate_series(${from}::int, ${to}::int) n returning id, sequence)
    insert into event_fanouts (event_id, owed, position, organisation_id, mode)
    select id, 0, sequence, ${organisationId}, ${mode} from made`;
}

/** How many rows with positions were read for it. */
async function read<T>(ask: (tx: Executor) => Promise<T>): Promise<{ found: T; rows: number }> {
  let found: T | undefined;
  const rows = await sql.begin(async (tx) => {
    await tx`set local enable_seqscan = off`;
    const before = await rowsRead(tx);
    found = await ask(tx);
    return (await rowsRead(tx)) - before;
  });
  return { found: found!, rows };
}

async function rowsRead(tx: Executor): Promise<number> {
  const [counted] = await tx<{ rows: number }[]>`
    select (idx_tup_fetch + seq_tup_read)::int as rows
    from pg_stat_xact_user_tables where relname = 'event_fanouts'`;
  return counted!.rows;
}

// prettier-ignore
const STARTS: [string, Tenant, last: bigint | null][] = [
  ['whose last event is old',    OLD,                       300n],
  ['whose other mode is newer',  { ...OLD, mode: 'test' },  302n],
  ['with nearly all events',     BUSY,                      60_000n],
  ['with the last events',       FEW,                       60_010n],
  ['with none',                  NONE,                      null],
  ['with none in that mode',     { ...BUSY, mode: 'test' }, null],
];

test.each(STARTS)('where a stream of a tenant begins is one look: %s', async (_who, who, last) => {
  const { found, rows } = await read((tx) => findStarts(tx, who, [null]));
  expect(found.map((start) => start.last?.position ?? null)).toEqual([last]);
  expect(rows).toBeLessThanOrEqual(1);
});

test('200 streams of a tenant are one look', async () => {
  const asked = Array.from({ length: 200 }, () => null);
  const { found, rows } = await read((tx) => findStarts(tx, OLD, asked));
  expect(found.map((start) => start.from?.position)).toEqual(asked.map(() => 300n));
  expect(rows).toBeLessThanOrEqual(1);
});

// prettier-ignore
const PAGES: [string, Tenant, after: bigint, first: bigint | null, count: number][] = [
  ['whose events are old',       OLD,                       BEGINNING, 1n,      200],
  ['at its end, which is old',   OLD,                       300n,      null,    0],
  ['of the other mode',          { ...OLD, mode: 'test' },  BEGINNING, 301n,    2],
  ['near the end of nearly all', BUSY,                      59_990n,   59_991n, 10],
  ['whose events are the last',  FEW,                       BEGINNING, 60_001n, 10],
  ['with none',                  NONE,                      BEGINNING, null,    0],
];

test.each(PAGES)(
  'a page of a tenant reads its rows alone: %s',
  async (_who, who, position, first, count) => {
    const { found, rows } = await read((tx) => pagesAfter(tx, [{ ...who, position }]));
    const [page] = found;
    expect(page!.events.map((event) => event.position)).toEqual(
      Array.from({ length: count }, (_, n) => first! + BigInt(n)),
    );
    expect(rows).toBeLessThanOrEqual(count + PLANNED_MAX);
  },
);
