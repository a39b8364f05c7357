// Usage over time: what a flush writes of it, and what becomes of that, against a fold of the events
// one by one.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import type { Transfer } from '../../ledger/kernel/transfers.ts';
import { audit } from '../../src/database/audit.ts';
import { usageFolder } from '../../src/metering/usage-folder.ts';
import { ids } from '../../src/platform/ids.ts';
import { timers } from '../../src/platform/clock.ts';
import { deltasWaiting, foldDeltas, isFull, type Waiting } from '../../src/records/usage-bins.ts';
import { withSeed } from '../support/random.ts';
import { type Bed, METER, NO_ROWS, openBed, opening, SLOT, transfer } from './bed.ts';

const QUARTER_MS = 900_000;
const START = Date.parse('2026-03-01T10:00:00Z');

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.stop());

beforeEach(async () => {
  await bed.sql`truncate usage_deltas, usage_corrections, usage_bins, usage_totals, transfers`;
});

async function newAccount(): Promise<string> {
  const id = ids.next();
  await flush({ opened: [opening(id, {})] });
  return id;
}

async function flush(rows: Partial<typeof NO_ROWS>): Promise<string> {
  const { kind } = await bed.storage.flush({ ...NO_ROWS, ...rows }, bed.fence);
  if (kind === 'committed') bed.fence = { ...bed.fence, seq: bed.fence.seq + 1n };
  return kind;
}

type Event = { readonly value: bigint; readonly at: number; readonly refused?: boolean };

/** A transfer of usage. Its two sides are not checked here: no balance is touched. */
function usage(debit: string, { value, at, refused = false }: Event): Transfer {
  return transfer({
    debit,
    kind: refused ? 'refused' : value < 0n ? 'reverse' : 'single',
    amount: refused ? 0n : value < 0n ? -value : value,
    at: START,
    usage: {
      value,
      events: value < 0n ? -1n : null,
      eventAt: at,
      fingerprint: null,
      reason: 'ok',
      consumedAfter: 0n,
      limitAfter: 0n,
      metadata: null,
      guarded: false,
      sold: false,
      answer: null,
    },
  });
}

type Bin = {
  readonly id: string;
  readonly quarter: number;
  value: bigint;
  /** Less corrections. */
  events: bigint;
  corrections: bigint;
};

/** The rows of a table, by what they are of. */
async function binsOf(table: 'usage_bins' | 'usage_totals'): Promise<Bin[]> {
  const rows = await bed.sql<
    (Pick<Bin, 'id' | 'events' | 'corrections'> & { quarter: Date; value: string })[]
  >`
    select ${table === 'usage_bins' ? bed.sql`account_id` : bed.sql`meter_id`} as id, quarter, value::text, events, corrections
    from ${bed.sql(table)} order by 1, 2`;
  return rows.map((row) => ({
    ...row,
    quarter: row.quarter.getTime(),
    value: BigInt(row.value),
  }));
}

const waiting = async () =>
  (await bed.sql`select from usage_deltas union all select from usage_corrections`).length;

test('a flush has one delta of usage for each account and quarter of an hour', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  await flush({
    transfers: [
      usage(one, { value: 3n, at: START }),
      usage(one, { value: 4n, at: START + QUARTER_MS - 1 }),
      usage(one, { value: 5n, at: START + QUARTER_MS }),
      usage(one, { value: -1n, at: START - 1 }),
      usage(other, { value: -2n, at: START + 1 }),
      usage(other, { value: -3n, at: START + 2 }),
      usage(other, { value: -9n, at: START, refused: true }),
      usage(other, { value: 0n, at: START }),
      usage(other, { value: 9n, at: START, refused: true }),
    ],
  });
  const rows = await bed.sql`
    select d.node, d.seq, e.* from usage_deltas d, unnest(slots, accounts, quarters, sums, events) e (slot, account, quarter, sum, events)`;
  const { node, seq } = bed.fence;
  const of = { node, seq, slot: SLOT };
  const entry = (account: string, at: number, sum: bigint, events: bigint) => ({
    ...of,
    account,
    quarter: new Date(at),
    sum,
    events,
  });
  expect([...rows]).toEqual([
    entry(one, START, 7n, 2n),
    entry(one, START + QUARTER_MS, 5n, 1n),
    entry(one, START - QUARTER_MS, -1n, -1n),
    entry(other, START, -5n, -1n),
  ]);
  const corrections = await bed.sql`
    select node, seq, slot, account_id as account, quarter, corrections from usage_corrections order by quarter`;
  expect([...corrections]).toEqual([
    { ...of, account: one, quarter: new Date(START - QUARTER_MS), corrections: 1n },
    { ...of, account: other, quarter: new Date(START), corrections: 2n },
  ]);
});

test('a flush without usage has no delta, nor has one of refused usage', async () => {
  const id = await newAccount();
  await flush({ transfers: [transfer({})] });
  await flush({ transfers: [usage(id, { value: 9n, at: START, refused: true })] });
  expect(await waiting()).toBe(0);
});

test('usage before 1970 and far ahead is in the bin of its quarter', async () => {
  const id = await newAccount();
  const times = [-1, Date.parse('2362-04-12T00:00:00Z'), Date.parse('1900-01-01T00:00:00Z')];
  await flush({ transfers: times.map((at) => usage(id, { value: 1n, at })) });
  await foldDeltas(bed.sql);
  expect((await binsOf('usage_bins')).map(({ quarter }) => quarter)).toEqual(
    [times[2]!, -QUARTER_MS, times[1]!].toSorted((a, b) => a - b),
  );
});

test('sums of usage bins beyond eight bytes are exact', async () => {
  const id = await newAccount();
  const most = 10n ** 15n - 1n;
  const events = Array.from({ length: 5000 }, () => usage(id, { value: most, at: START }));
  for (let i = 0; i < 3; i += 1) {
    await flush({ transfers: events.map((event) => ({ ...event, id: ids.next() })) });
  }
  while ((await foldDeltas(bed.sql)) > 0);
  const bin = { quarter: START, value: 15_000n * most, events: 15_000n, corrections: 0n };
  expect(await binsOf('usage_bins')).toEqual([{ id, ...bin }]);
  expect(await binsOf('usage_totals')).toEqual([{ id: METER.id, ...bin }]);
}, 30_000);

test('usage bins are a fold of the events, in any order, whoever folds', () =>
  withSeed(async (random) => {
    const own = [await newAccount(), await newAccount(), await newAccount()];
    const expected = new Map<string, Bin>();
    for (let round = 0; round < 30; round += 1) {
      const transfers: Transfer[] = [];
      for (let count = random.integer(0, 12); count > 0; count -= 1) {
        const id = random.pick(own);
        const at = START + random.integer(-10 * QUARTER_MS, 10 * QUARTER_MS);
        const [value, refused] = [BigInt(random.integer(-50, 100)), random.chance(0.2)];
        transfers.push(usage(id, { value, at, refused }));
        if (refused) continue;
        const quarter = at - (((at % QUARTER_MS) + QUARTER_MS) % QUARTER_MS);
        const key = `${id} ${quarter}`;
        const bin = expected.get(key) ?? { id, quarter, value: 0n, events: 0n, corrections: 0n };
        expected.set(key, bin);
        bin.value += value;
        bin.events += value < 0n ? -1n : 1n;
        if (value < 0n) bin.corrections += 1n;
      }
      expect(await flush({ transfers })).toBe('committed');
      if (random.chance(0.5)) continue;
      // Two at once: one of them does it.
      await Promise.all([foldDeltas(bed.sql), foldDeltas(bed.sql)]);
    }
    while ((await foldDeltas(bed.sql)) > 0);
    const inOrder = [...expected.values()].toSorted((a, b) =>
      a.id === b.id ? a.quarter - b.quarter : a.id < b.id ? -1 : 1,
    );
    expect(await binsOf('usage_bins')).toEqual(inOrder);
    const found = await audit(bed.sql);
    expect(found.filter(({ check }) => /bins|totals of a meter/.test(check))).toEqual([]);
    const totals = await binsOf('usage_totals');
    const sum = (bins: Bin[]) => bins.reduce((all, { value }) => all + value, 0n);
    expect(sum(totals)).toBe(sum(inOrder));
    expect(await waiting()).toBe(0);
  }));

test('a step of folding usage bins is bounded', async () => {
  const id = await newAccount();
  for (let i = 0; i < 27; i += 1) {
    const quarters = Array.from({ length: 4000 }, (_, n) => START + n * QUARTER_MS);
    await flush({ transfers: quarters.map((at) => usage(id, { value: 1n, at })) });
  }
  expect(isFull(await deltasWaiting(bed.sql))).toBe(true);
  // The twenty-fifth begins below the bound of entries.
  expect([await foldDeltas(bed.sql), await foldDeltas(bed.sql)]).toEqual([25, 2]);
  expect(await deltasWaiting(bed.sql)).toEqual({ entries: 0, oldestMs: 0 });
  expect(await foldDeltas(bed.sql)).toBe(0);
}, 30_000);

test('corrections of usage that came without a delta are folded when they have waited', async () => {
  const id = await newAccount();
  await bed.sql`
    insert into usage_corrections (node, seq, slot, account_id, quarter, corrections, written_at)
    values (0, 1, ${SLOT}, ${id}, ${new Date(START)}, 3, now() - interval '1 minute')`;
  const waits = await deltasWaiting(bed.sql);
  expect(waits.entries).toBe(1);
  expect(waits.oldestMs).toBeGreaterThan(59_000);
  expect([await foldDeltas(bed.sql), await foldDeltas(bed.sql)]).toEqual([1, 0]);
  const bin = { quarter: START, value: 0n, events: 0n, corrections: 3n };
  expect(await binsOf('usage_bins')).toEqual([{ id, ...bin }]);
  expect(await binsOf('usage_totals')).toEqual([{ id: METER.id, ...bin }]);
});

test('a step of folding usage bins that does not commit leaves all as it was', async () => {
  const id = await newAccount();
  await flush({ transfers: [usage(id, { value: 3n, at: START })] });
  await bed.sql
    .begin(async (transaction) => {
      expect(await foldDeltas(transaction)).toBe(1);
      // Another process does not wait for it.
      expect(await foldDeltas(bed.sql)).toBe(0);
      throw new Error('killed');
    })
    .catch(() => undefined);
  expect([await waiting(), await binsOf('usage_bins')]).toEqual([1, []]);
  expect(await foldDeltas(bed.sql)).toBe(1);
  expect((await binsOf('usage_bins'))[0]).toMatchObject({ value: 3n, events: 1n });
});

test('folding usage bins resumes after the database was away, and ends with close()', async () => {
  let [away, folded, errors] = [true, 0, 0];
  const waits: Waiting[] = [
    { entries: 100_000, oldestMs: 0 },
    { entries: 99_999, oldestMs: 19_999 },
    { entries: 1, oldestMs: 20_000 },
    { entries: 0, oldestMs: 0 },
  ];
  const done = Promise.withResolvers<void>();
  const planned = new Map<object, number>();
  const underWay = (ms: number, task: () => void): (() => void) => {
    const one = {};
    planned.set(one, ms);
    const cancel = timers.after(0, () => {
      planned.delete(one);
      task();
    });
    return () => {
      planned.delete(one);
      cancel();
    };
  };
  const folder = usageFolder({
    clock: { monotonic: () => 0 },
    timers: { ...timers, after: (ms, task) => underWay(ms, task) },
    log: { error: () => void (errors += 1) },
    async waiting() {
      if (away) {
        away = errors < 2;
        throw new Error('away');
      }
      if (waits.length === 1) done.resolve();
      return waits.length > 1 ? waits.shift()! : waits[0]!;
    },
    async fold() {
      folded += 1;
      return 1;
    },
    backfill: () => Promise.resolve('whole'),
  });
  folder.start();
  await done.promise;
  await folder.close();
  // No step is planned any more: only the end of the patience of close() may be.
  const steps = [...planned.values()].filter((ms) => ms !== 5000);
  expect([errors, folded, steps]).toEqual([3, 2, []]);
});
