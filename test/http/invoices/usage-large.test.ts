// Each line of usage is at most the largest amount. What they come to together is larger.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { until } from '../../support/until.ts';
import { Club } from '../subscriptions/subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
// Every event conforms to the catalogue: that of the refund, too.
afterAll(() => club.close());

test('an invoice of more than an amount can hold is previewed, paid and refunded', async () => {
  const plan = await club.plan({ limit: 0, amount: '5.00' });
  const prices = `/products/${plan.productId}/usage-prices`;
  const features = [plan.feature, `f-${ids.next()}`];
  made(await club.post('/meters', { slug: features[1] }));
  const most = { currency: 'USD', model: 'per_unit', unit_amount: '999999999999.999' };
  for (const feature_key of features) made(await club.post(prices, { feature_key, ...most }));
  const { id, customer_id, current_period_end: end } = await club.signUp(plan);
  for (const feature of features) await club.track({ customer_id }, { ...plan, feature }, 3);

  const total = '2000000000004.98';
  expect((await club.shop.read(`/subscriptions/${id}/upcoming-invoice`)).total).toBe(total);
  await club.advanceTo(end);
  const invoice = (await club.invoices(id)).at(-1);
  expect([invoice.status, invoice.total, invoice.amount_paid]).toEqual(['paid', total, total]);
  const amounts = invoice.lines.map(({ amount }: { amount: string }) => amount);
  expect(amounts).toEqual(['5.00', '999999999999.99', '999999999999.99']);

  const refund = await club.post(`/payments/${invoice.payment_id}/refund`, {});
  expect([refund.status, refund.json.amount]).toEqual([200, total]);
  await until(
    'the invoice has heard',
    async () => (await club.shop.read(`/invoices/${invoice.id}`)).amount_refunded === total,
  );
  const told = (await club.shop.events(invoice.id)).at(-1);
  expect(told).toMatchObject({ type: 'invoice.updated', data: { amountDelta: total } });
});
