// Every exponent, from the price to the last refunded unit: payment, invoice and events agree to
// the unit.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { formatMoney } from '../../ledger/kernel/money.ts';
import { type Envelope, PATIENCE_MS, type Payment, Shop, units } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

type Row = [currency: string, price: string, parts: string[], reduced: string];
// prettier-ignore
const CURRENCIES: Row[] = [
  //         price      refunds                            less 33.3 %
  ['JPY', '10000',  ['1', '9', '3333', '6657'],            '6670'],
  ['USD', '100.00', ['0.01', '33.33', '33.33', '33.33'],   '66.70'],
  ['KWD', '10.000', ['0.001', '0.010', '3.333', '6.656'],  '6.670'],
  ['CLF', '1.0000', ['0.0001', '0.001', '0.01', '0.9889'], '0.6670'],
];

/** The amounts of a payment in every place that shows them, in the minor unit. */
async function seen(id: string, currency: string) {
  const payment: Payment = await shop.payment(id);
  const invoice = await shop.read(`/invoices/${payment.invoice_id}`);
  const refunds: Payment[] = (await shop.read(`/payments/${id}/refunds?limit=200`)).data;
  const events: Envelope[] = await shop.events(id);
  const refunded = events.filter(({ type }) => type === 'payment.refunded');
  const of = (amount: string) => {
    // Exactly the decimals of its currency.
    expect(formatMoney(units(amount, currency), currency)).toBe(amount);
    return units(amount, currency);
  };
  const sum = (amounts: string[]) => amounts.map(of).reduce((total, amount) => total + amount, 0n);
  return {
    captured: new Set(
      [payment.amount, invoice.total, invoice.amount_paid, events[0].data.amount].map(of),
    ),
    refunded: new Set([
      of(payment.amount_refunded),
      of(invoice.amount_refunded),
      sum(refunds.map(({ amount }) => amount)),
      sum(refunded.map(({ data }) => data.amount)),
      of(refunded.at(-1)?.data.amountRefundedTotal ?? payment.amount_refunded),
    ]),
    refundable: of(payment.refundable_amount),
    status: payment.status,
  };
}

describe.each(CURRENCIES)('in %s', (currency, price, parts, reduced) => {
  test('a price is paid, and refunded in parts of every size', async () => {
    const { id, amount, invoice_id } = await shop.buy({ currency, total: price });
    expect(amount).toBe(price);
    const captured = units(price, currency);
    let refunded = 0n;
    for (const [index, part] of parts.entries()) {
      const { status, json } = await shop.refund(id, { amount: part });
      refunded += units(part, currency);
      expect([status, json.status, json.currency]).toEqual([200, 'succeeded', currency]);
      expect(json.amount).toBe(formatMoney(units(part, currency), currency));
      // The invoice is updated right after.
      await shop.events(invoice_id, index + 2);
      expect(await seen(id, currency)).toEqual({
        captured: new Set([captured]),
        refunded: new Set([refunded]),
        refundable: captured - refunded,
        status: refunded < captured ? 'partially_refunded' : 'refunded',
      });
    }
    expect(refunded).toBe(captured);
    const nothing = await shop.refund(id);
    expect([nothing.status, nothing.json.error.type]).toEqual([400, 'validation_error']);
  });

  test('a percentage discount is exact to the smallest unit on payment and invoice', async () => {
    const discountCode = await shop.discount(`THIRD-${currency}`, { percent_off: 33.3 });
    const session = await shop.checkout({ currency, discount_code: discountCode });
    await shop.pay(session, { currency, discountCode, total: reduced });
    const payment = await shop.lastOf(session);
    expect([payment.status, payment.amount]).toEqual(['succeeded', reduced]);
    const invoice = await shop.read(`/invoices/${payment.invoice_id}`);
    expect([invoice.subtotal, invoice.total]).toEqual([price, reduced]);
    expect(units(invoice.subtotal, currency) - units(invoice.discount_total, currency)).toBe(
      units(reduced, currency),
    );
    const { json } = await shop.refund(payment.id);
    expect(json.amount).toBe(reduced);
  });
});

// prettier-ignore
const LARGEST: [currency: string, price: string, less: string][] = [
  ['JPY', '999999999999',      '999999999998'],
  ['USD', '999999999999.99',   '999999999999.98'],
  ['KWD', '999999999999.999',  '999999999999.998'],
  ['CLF', '999999999999.9999', '999999999999.9998'],
];
test.each(LARGEST)(
  '%s %s, an amount which no double holds, is refunded but for one unit, then that one',
  async (currency, price, less) => {
    const body = { name: 'Palace', prices: [{ amount: price, currency }] };
    const { json: palace } = await shop.server.call('POST', '/products', { body });
    const checkout = { product_id: palace.id };
    const { id, amount, invoice_id } = await shop.buy({ checkout, currency, total: price });
    expect(amount).toBe(price);
    expect((await shop.refund(id, { amount: less })).json.amount).toBe(less);
    const { json } = await shop.refund(id);
    expect(units(json.amount, currency)).toBe(1n);
    const { status, amount_refunded } = await shop.payment(id);
    expect([status, amount_refunded]).toEqual(['refunded', price]);
    const updates = await shop.events(invoice_id, 3);
    expect(updates.slice(1).map(({ data }) => data.amountDelta)).toEqual([less, json.amount]);
    const { total, amount_refunded: credited } = await shop.read(`/invoices/${invoice_id}`);
    expect([total, credited]).toEqual([price, price]);
  },
);
