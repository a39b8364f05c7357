// Payments are evicted between any two steps: the state loaded from the database gives the same
// decisions.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../support/means.ts';
import { PATIENCE_MS, type Payment, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ actorsMax: 1 });
});
afterAll(() => shop.close());

const MEANS: Means[] = [
  'good',
  'refundPends',
  'refundFailsLate',
  'iban',
  'challenge',
  'answerLost',
];

test('many payments survive being evicted from memory between their steps', async () => {
  const bought = await Promise.all(
    MEANS.flatMap((means) => [shop.buy({ means }), shop.buy({ means })]),
  );
  await shop.server.payments.refresh(bought[0].id);
  for (const { id, status } of bought) {
    if (status === 'requires_action') await shop.bank.answerChallenge(id, true);
  }
  for (const { id } of bought) await shop.server.payments.refresh(id);
  for (const { id } of bought) await shop.paymentThatIs('succeeded', id);

  const replies = new Map<string, string>();
  const refundAll = async (amount: string): Promise<void> => {
    for (const { id } of bought) {
      const key = `${id} ${amount}`;
      const { status, text } = await shop.refundWithKey(key, id, { amount });
      expect(status).toBe(200);
      replies.set(key, text);
    }
  };
  await refundAll('10');
  await refundAll('20');
  for (const { id } of bought) {
    for (const amount of ['10', '20']) {
      const { text } = await shop.refundWithKey(`${id} ${amount}`, id, { amount });
      expect(text).toBe(replies.get(`${id} ${amount}`)!);
    }
    expect((await shop.refundWithKey(`${id} 10`, id, { amount: '11' })).status).toBe(422);
  }
  for (const [key, text] of replies) {
    const [id = ''] = key.split(' ');
    const means = MEANS[Math.floor(bought.findIndex((payment) => payment.id === id) / 2)];
    const refund: Payment = JSON.parse(text);
    await shop.refundThatIs(means === 'refundFailsLate' ? 'failed' : 'succeeded', refund.id);
  }
  for (const [index, { id }] of bought.entries()) {
    const isBack = MEANS[Math.floor(index / 2)] === 'refundFailsLate';
    expect(await shop.payment(id)).toMatchObject({
      status: isBack ? 'succeeded' : 'partially_refunded',
      refundable_amount: isBack ? '100.00' : '70.00',
      amount_refund_pending: '0.00',
    });
    await shop.events(id, isBack ? 5 : 3);
  }
});
