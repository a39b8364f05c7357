// The invoice of a checkout that begins a subscription names the period that was paid for.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, buy } from '../support/shop.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const DAY_MS = 86_400_000;
/** Whole days. */
const days = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);

// prettier-ignore
const PRICES: [string, object, string, number][] = [
  // what                price                                                     total    days
  ['two weeks',          { interval: 'week', interval_count: 2 },                  '30.00', 14],
  ['a trial of 10 days', { interval: 'month', trial_days: 10 },                    '0.00',  10],
];

test.each(PRICES)(
  'the first invoice of a subscription: %s',
  async (_what, terms, total, length) => {
    const seller = { url: server.url, key: server.organisation.testKey };
    const price = { currency: 'USD', amount: '30.00', type: 'recurring', ...terms };
    const product = await ask(seller, 'POST', '/products', { name: 'Pro', prices: [price] });
    const means = ['good'] as const;
    const payment = await ask(
      seller,
      'GET',
      `/payments/${await buy(seller, { means, product_id: product.id })}`,
    );
    const invoice = await ask(seller, 'GET', `/invoices/${payment.invoice_id}`);
    expect(invoice).toMatchObject({
      status: 'paid',
      total,
      billing_reason: 'subscription_create',
      subscription_id: payment.subscription_id,
      period_start: payment.paid_at,
      lines: [
        {
          type: 'recurring',
          description: 'Pro',
          period: { start: payment.paid_at, end: invoice.period_end },
        },
      ],
    });
    expect(payment.subscription_id).not.toBeNull();
    expect(days(invoice.period_start, invoice.period_end)).toBe(length);
  },
);
