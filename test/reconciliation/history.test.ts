// An honest history: whatever happens at Stripe and here, the books agree, and what was not heard
// of is learned.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { NUMBERS } from '../support/means.ts';
import { Bed } from './bed.ts';

setDefaultTimeout(120_000);

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.open();
  // A webhook would tell before the night does.
  bed.fake.webhooks.mode = 'off';
});
afterAll(() => bed.close());

const lastRun = async () => {
  const [run] = await bed.shop.server.sql`
    select compared::int, not_ours::int as "notOurs", error from reconciliation_runs order by begun_at desc limit 1`;
  return run;
};

test('reconciliation of an account without history finds nothing', async () => {
  await bed.night();
  expect(await lastRun()).toEqual({ compared: 0, notOurs: 0, error: null });
  expect(await bed.open()).toEqual([]);
});

test('reconciliation leaves a charge of a moment ago to the next night', async () => {
  const { sql } = bed.shop.server;
  await bed.buy();
  const last = async () => {
    const [run] = await sql<{ compared: number; marginS: number }[]>`
      select compared::int, extract(epoch from begun_at - until)::float8 as "marginS"
      from reconciliation_runs order by begun_at desc limit 1`;
    return run;
  };
  await bed.night(bed.reconciler(0));
  expect(await last()).toEqual({ compared: 0, marginS: 15 * 60 });
  await bed.night();
  expect(await last()).toEqual({ compared: 1, marginS: 15 * 60 });
});

test('reconciliation of cards, a debit, refunds, a decline, and charges of others finds no difference', async () => {
  const paid = await bed.buy();
  const refunded = await bed.buy();
  await bed.refund(paid, '4.50');
  await bed.refund(refunded, '100.00');
  const declined = await bed.payThere(NUMBERS.declined);
  const debit = await bed.buy(NUMBERS.iban);
  const bounced = await bed.buy(NUMBERS.ibanFails);
  await bed.sellElsewhere(2);
  bed.fake.settle();
  await bed.night();
  expect(await bed.open()).toEqual([]);
  // Three charges, two refunds; what failed has moved nothing.
  expect(await lastRun()).toMatchObject({ notOurs: 2, error: null });
  // The night has asked for what became of the debits.
  const statuses = await Promise.all(
    [paid, refunded, debit, bounced].map(async ({ id }) => (await bed.shop.payment(id)).status),
  );
  expect(statuses.slice(0, 3)).toEqual(['partially_refunded', 'refunded', 'succeeded']);
  expect((await bed.shop.lastOf(declined)).status).toBe('requires_action');
});

test('reconciliation asks for what Stripe knows and the ledger does not', async () => {
  // The buyer has never come back from Stripe.
  const session = await bed.payThere(NUMBERS.iban);
  const before = await bed.shop.lastOf(session);
  expect(before.status).toBe('requires_action');
  const late = await bed.buy(NUMBERS.refundFailsLate);
  await bed.refund(late, '1.00');
  expect((await bed.shop.payment(late.id)).amount_refunded).toBe('1.00');
  const lost = await bed.buy();
  const won = await bed.buy();
  const [first, second] = [lost, won].map((payment) => bed.fake.dispute(bed.intentOf(payment)));
  bed.fake.settle();
  bed.fake.closeDispute(first ?? '', 'lost');
  bed.fake.closeDispute(second ?? '', 'won');
  await bed.night();
  expect(await bed.open()).toEqual([]);
  expect((await bed.shop.payment(before.id)).status).toBe('succeeded');
  expect((await bed.shop.payment(late.id)).amount_refunded).toBe('0.00');
  const { sql } = bed.shop.server;
  expect(await sql`select payment_id as id, status from disputes order by status desc`).toEqual([
    { id: won.id, status: 'won' },
    { id: lost.id, status: 'lost' },
  ] as never);
});

test('reconciliation records the fee of a charge once, however often it is listed', async () => {
  await bed.night();
  await bed.night();
  const { sql } = bed.shop.server;
  const rows = await sql<{ id: string; fee: bigint; amount: bigint; currency: string }[]>`
    select id, fee, amount, currency from processor_transactions order by id`;
  const ours = new Set(
    bed.books.charges.filter(({ metadata }) => metadata['key']).map(({ id }) => id),
  );
  const refunds = bed.books.refunds.map(({ id }) => id);
  const disputes = bed.books.disputes.map(({ id }) => id);
  const theirs = bed.books.balanceTransactions
    .filter(
      ({ source }) =>
        typeof source === 'string' && [...ours, ...refunds, ...disputes].includes(source),
    )
    .map(({ id, fee, amount, currency }) => ({
      id,
      fee: BigInt(fee),
      amount: BigInt(amount),
      currency: currency.toUpperCase(),
    }));
  expect([...rows]).toEqual(theirs.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
});

test('no key of a reconciled account is in the log, or in the database in the clear', async () => {
  expect(bed.logged.join('')).toContain('an account is reconciled');
  const { logged, sql } = bed.shop.server;
  expect([...bed.logged, ...logged].join('')).not.toContain(bed.account.testKey);
  const runs = await sql`select r::text as text from reconciliation_runs r`;
  expect(JSON.stringify(runs)).not.toContain(bed.account.testKey);
});
