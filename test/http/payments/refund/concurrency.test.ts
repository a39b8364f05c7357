// Many concurrent refunds of one payment: at no visible moment is more refunded than was captured.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { refundedOf } from '../../../support/bank.ts';
import type { Means } from '../../../support/means.ts';
import { PATIENCE_MS, type Payment, Shop, units } from '../../../payments/shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

const CAPTURED = 10_000n;
const usd = (amount: string): bigint => units(amount, 'USD');
const sum = (amounts: readonly string[]): bigint =>
  amounts.reduce((total, amount) => total + usd(amount), 0n);

/** Reads until it is told to stop, and checks each read. */
function watch(id: string): () => Promise<number> {
  const watching = new AbortController();
  let reads = 0;
  const one = async (): Promise<void> => {
    while (!watching.signal.aborted) {
      const payment: Payment = await shop.payment(id);
      const { amount_refunded, amount_refund_pending, refundable_amount, status } = payment;
      const gone = usd(amount_refunded) + usd(amount_refund_pending);
      expect(gone).toBeLessThanOrEqual(CAPTURED);
      expect(gone + usd(refundable_amount)).toBe(CAPTURED);
      const refunded = usd(amount_refunded);
      const whole = refunded === CAPTURED ? 'refunded' : 'partially_refunded';
      expect(status).toBe(refunded === 0n ? 'succeeded' : whole);
      const list: Payment[] = (await shop.read(`/payments/${id}/refunds?limit=200`)).data;
      const live = list.filter((refund) => refund.status !== 'failed');
      expect(sum(live.map(({ amount }) => amount))).toBeLessThanOrEqual(CAPTURED);
      reads += 1;
    }
  };
  const watchers = [one(), one()];
  return async () => {
    watching.abort();
    await Promise.all(watchers);
    return reads;
  };
}

describe.each<[Means]>([['good'], ['refundPends']])('200 partial refunds at once, %s', (means) => {
  test('refund never more than was captured, and leave nothing where some are refused', async () => {
    const { id } = await shop.buy({ means });
    const stop = watch(id);
    // The same sequence in every run: the step and the range have no common divisor.
    const amounts = Array.from({ length: 200 }, (_, index) => ((index * 37) % 199) + 1);
    const replies = await Promise.all(
      amounts.map((amount, index) => {
        const body = {
          amount: `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`,
        };
        return index % 2 === 0
          ? shop.refund(id, body)
          : shop.refundWithKey(`${means} ${index}`, id, body);
      }),
    );
    const taken = replies.filter(({ status }) => status === 200).map(({ json }) => json);
    const refused = replies.filter(({ status }) => status !== 200);
    for (const { status, json } of refused) {
      expect([status, json.error.type]).toEqual([400, 'validation_error']);
    }
    const total = sum(taken.map(({ amount }) => amount));
    expect(total).toBeLessThanOrEqual(CAPTURED);
    expect(refused.length).toBeGreaterThan(0);
    // Each refused refund did not fit: what is left is less than the least of them.
    const { refundable_amount } = await shop.payment(id);
    expect(usd(refundable_amount)).toBe(CAPTURED - total);
    const rest = await shop.refund(id);
    expect(rest.status).toBe(usd(refundable_amount) === 0n ? 400 : 200);
    await shop.paymentThatIs('refunded', id);
    expect(await stop()).toBeGreaterThan(0);
    const made = await refundedOf(shop.server, id);
    expect(made.reduce((all, amount) => all + amount, 0n)).toBe(CAPTURED);
    const events = await shop.events(id);
    expect(sum(events.slice(1).map(({ data }) => data.amount))).toBe(CAPTURED);
    expect(events.at(-1).data).toMatchObject({
      amountRefundedTotal: '100.00',
      refundableAmount: '0.00',
    });
  });
});

test('fifty full refunds of a payment at once are one', async () => {
  const { id } = await shop.buy();
  const replies = await Promise.all(Array.from({ length: 50 }, () => shop.refund(id)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 400)).toHaveLength(49);
  const left = replies.find(({ status }) => status === 400)!.json.error;
  expect(left.type).toBe('validation_error');
});

test('a full refund and partial ones at once refund all of the payment, once', async () => {
  const { id } = await shop.buy();
  const replies = await Promise.all([
    ...Array.from({ length: 9 }, () => shop.refund(id, { amount: '10' })),
    shop.refund(id),
    ...Array.from({ length: 9 }, () => shop.refund(id, { amount: '10' })),
  ]);
  const taken = replies.filter(({ status }) => status === 200);
  expect(sum(taken.map(({ json }) => json.amount))).toBe(CAPTURED);
  expect((await shop.payment(id)).status).toBe('refunded');
});

test('refunds that fail late beside new ones never exceed the payment', async () => {
  const { id } = await shop.buy({ means: 'refundFailsLate' });
  const stop = watch(id);
  const round = async (): Promise<void> => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => shop.refund(id, { amount: '25' })),
    );
    const taken = replies.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(4);
    await Promise.all(taken.map(({ json }) => shop.refundThatIs('failed', json.id)));
    expect((await shop.payment(id)).refundable_amount).toBe('100.00');
  };
  for (let count = 0; count < 3; count += 1) await round();
  expect(await stop()).toBeGreaterThan(0);
  await shop.events(id, 1 + 3 * 4 * 2);
});
