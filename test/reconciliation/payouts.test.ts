// Payouts: what each consists of is read page by page, once, and its status for as long as it may
// change.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { NUMBERS } from '../support/means.ts';
import { Bed } from './bed.ts';

setDefaultTimeout(120_000);

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.open();
});
afterAll(() => bed.close());

const reported = async () => (await bed.shop.read('/reports/payouts')).data;

test("a payout's gross, fees, refunds and disputes are what Stripe has", async () => {
  const first = await bed.buy();
  const second = await bed.buy(NUMBERS.iban);
  bed.fake.settle();
  await bed.refund(first, '4.50');
  await bed.sellElsewhere(1);
  const third = await bed.buy();
  bed.fake.dispute(bed.intentOf(third), { amount: 3000 });
  const [payout] = bed.fake.payOut(bed.account.id, 'test');
  await bed.night();
  expect((await bed.shop.payment(second.id)).status).toBe('succeeded');
  const [row, ...others] = await reported();
  expect(others).toEqual([]);
  // 307.00 in charges; 3.20, 0.35, 0.50 and 3.20 for them, and 15.00 for the dispute.
  expect(row).toMatchObject({
    payout_id: payout,
    account: bed.account.id,
    currency: 'USD',
    status: 'paid',
    gross: '307.00',
    fees: '22.25',
    refunds: '4.50',
    disputes: '30.00',
    other: '0.00',
    amount: '250.25',
    count: 6,
  });
  const arrival = bed.books.payouts[0]?.arrival_date ?? 0;
  expect(row.arrival_date).toBe(new Date(arrival * 1000).toISOString().slice(0, 10));
});

test('a payout of more than a page, with failures, counts each transaction once', async () => {
  await bed.sellElsewhere(150);
  bed.fake.payOut(bed.account.id, 'test');
  const lists = { method: 'GET', path: /balance_transactions/ };
  bed.fake.next({ ...lists, count: 3 }, 'error_500');
  await bed.night();
  const [row] = await reported();
  expect(row).toMatchObject({ gross: '1050.00', count: 150 });
  const { books } = bed;
  const net = books.payouts.at(-1)?.amount ?? 0;
  expect(row.amount).toBe((net / 100).toFixed(2));
});

test('a payout that is read again is the same', async () => {
  const before = await reported();
  await bed.night();
  expect(await reported()).toEqual(before);
});
