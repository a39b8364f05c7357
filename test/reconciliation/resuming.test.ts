// A run goes on where it was left: pages, answers that are lost, processes that die, two nodes at
// once, a processor that hangs.
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { claimRun } from '../../src/records/reconciliation-runs.ts';
import { type Random, withSeed } from '../support/random.ts';
import { until } from '../support/until.ts';
import { Bed } from './bed.ts';

setDefaultTimeout(180_000);

const OURS = 4;
/** Charges of others for each of ours: in all there are three pages. */
const ELSEWHERE = 58;

let bed: Bed;
let sql: Sql;
beforeAll(async () => {
  bed = await Bed.open();
  ({ sql } = bed.shop.server);
  for (let n = 0; n < OURS; n += 1) {
    await bed.buy();
    await bed.sellElsewhere(ELSEWHERE);
  }
});
afterAll(() => bed.close());
/** Nothing was ever reconciled. */
beforeEach(async () => {
  await sql`truncate reconciliation_runs, reconciliation_differences, processor_transactions`;
});

const pagesSince = (from: number): string[] =>
  bed.fake
    .requests()
    .slice(from)
    .filter(({ path }) => path === '/v1/balance_transactions')
    .map(({ query }) => new URLSearchParams(query).get('starting_after') ?? 'the first');

async function expectWhole(): Promise<void> {
  const runs = await sql`
    select compared::int, not_ours::int as "notOurs", finished_at is not null as finished, error from reconciliation_runs`;
  expect([...runs]).toEqual([
    { compared: OURS, notOurs: OURS * ELSEWHERE, finished: true, error: null },
  ] as never);
  const [row] = await sql`select count(*)::int as count from processor_transactions`;
  expect(row?.['count']).toBe(OURS);
  expect(await bed.open()).toEqual([]);
}

test('reconciliation of three pages reads each once', async () => {
  const from = bed.fake.requests().length;
  await bed.night();
  await expectWhole();
  const pages = pagesSince(from);
  expect(pages).toHaveLength(3);
  expect(new Set(pages).size).toBe(3);
});

test('reconciliation of a page that fails does not read those before it again', async () => {
  const from = bed.fake.requests().length;
  await bed.dayPasses();
  const reconciler = bed.reconciler();
  const lists = { method: 'GET', path: /balance_transactions/ };
  // The first page is answered, the second one is not.
  bed.fake.next({ ...lists, count: 1 }, { hangMs: 1 });
  bed.fake.next(lists, 'error_500');
  await reconciler.work();
  const [left] =
    await sql`select step, error, failures, holder, next_at > now() as later from reconciliation_runs`;
  expect(left).toMatchObject({ step: 'transactions', failures: 1, holder: null, later: true });
  expect(left?.['error']).toMatch(/^StripeAPIError/);
  // It is not due yet.
  await reconciler.work();
  expect(pagesSince(from)).toHaveLength(2);
  await bed.untilReconciled(reconciler);
  await expectWhole();
  const [first, second, ...rest] = pagesSince(from);
  expect(first).toBe('the first');
  expect(rest[0]).toBe(second ?? '');
  expect(rest).toHaveLength(2);
});

test('a reconciliation that a dead process held is free after its hold', async () => {
  await bed.dayPasses();
  const first = bed.reconciler();
  bed.fake.next({ method: 'GET', path: /balance_transactions/ }, 'error_500');
  await first.work();
  await sql`update reconciliation_runs set next_at = now()`;
  const dead = await claimRun(sql, { holder: ids.next() });
  expect(dead?.step).toBe('transactions');
  await bed.reconciler().work();
  const [held] = await sql`select finished_at, held_until > now() as held from reconciliation_runs`;
  expect(held).toMatchObject({ finished_at: null, held: true });
  await sql`update reconciliation_runs set held_until = now() - interval '1 second'`;
  await bed.untilReconciled(bed.reconciler());
  await expectWhole();
});

test('of two nodes that reconcile at once one does it', async () => {
  const from = bed.fake.requests().length;
  await bed.dayPasses();
  await Promise.all([bed.reconciler().work(), bed.reconciler().work()]);
  await until('finished', async () => {
    const [run] = await sql`select finished_at from reconciliation_runs`;
    return run?.['finished_at'] !== null;
  });
  await expectWhole();
  expect(pagesSince(from)).toHaveLength(3);
});

test('a processor that hangs holds up the reconciliation of no other account', async () => {
  const other = bed.fake.newAccount();
  await bed.connect(other);
  await bed.dayPasses();
  const reconciler = bed.reconciler();
  bed.fake.next({ method: 'GET', path: /balance_transactions/ }, { hangMs: 600_000 });
  reconciler.work().catch(() => undefined);
  await until('the other is done', async () => {
    const done = await sql`select from reconciliation_runs where finished_at is not null`;
    return done.length === 1;
  });
  // Nor does the service wait for it when it ends.
  await reconciler.close();
  expect(await sql`select from reconciliation_runs where finished_at is null`).toHaveLength(1);
  await sql`delete from reconciliation_runs`;
  await sql`delete from processor_accounts where account = ${other.id}`;
  await sql`update processor_accounts set ended_at = null`;
});

test('reconciliation compares each row in the end, whatever goes wrong', () =>
  withSeed(async (random) => {
    await bed.dayPasses();
    plan(random);
    await bed.untilReconciled(bed.reconciler());
    await expectWhole();
  }));

function plan(random: Random): void {
  const how = ['lose_request', 'lose_answer', 'error_500', 'rate_limit'] as const;
  const paths = [/balance_transactions/, /disputes/, /payouts/, /charges/];
  for (let n = 0; n < 12; n += 1) {
    bed.fake.next({ method: 'GET', path: random.pick(paths) }, random.pick(how));
  }
}
