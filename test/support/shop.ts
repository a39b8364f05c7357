// A product that is for sale, and buyers of it: what a test needs before there is a payment to look at.
import { must } from '../../ledger/assert.ts';
import { parseMoney } from '../../ledger/money.ts';
import type { Instrument } from '../../src/processors/processor.ts';
import type { Reply, TestServer } from './server.ts';

export type Sale = { readonly currency?: string; readonly discountCode?: string };

export class Shop {
  readonly #server: TestServer;
  readonly #productId: string;

  private constructor(server: TestServer, productId: string) {
    this.#server = server;
    this.#productId = productId;
  }

  static async open(server: TestServer, prices: Readonly<Record<string, string>>): Promise<Shop> {
    const body = {
      name: 'Widget',
      prices: Object.entries(prices).map(([currency, amount]) => ({ currency, amount })),
    };
    return new Shop(server, made(await server.call('POST', '/products', { body })).id);
  }

  async discount(code: string, percent: number): Promise<void> {
    const body = { code, percent_off: percent };
    made(await this.#server.call('POST', '/discounts', { body }));
  }

  /** One checkout, tried with each instrument in turn. The last payment. */
  async buy(instruments: Instrument | readonly Instrument[], sale: Sale = {}): Promise<string> {
    const { payments, sql } = this.#server;
    const { currency = 'USD', discountCode = null } = sale;
    const body = {
      product_id: this.#productId,
      customer_email: 'buyer@example.com',
      currency,
      ...(discountCode !== null && { discount_code: discountCode }),
    };
    const { id, url, amount } = made(await this.#server.call('POST', '/checkouts', { body }));
    const token = (url as string).split('/').at(-1) ?? '';
    const total = parseMoney(amount as string, currency);
    if (typeof total === 'string') throw new Error(total);
    for (const instrument of [instruments].flat()) {
      const order = { email: null, name: null, currency, discountCode, total, instrument };
      const { kind } = await payments.pay(token, order);
      if (kind !== 'attempted' && kind !== 'requires_action') throw new Error(kind);
    }
    const [row] = await sql<{ payment: string }[]>`
      select payment_id as payment from checkouts where id = ${id as string}`;
    return must(row?.payment, 'a checkout that was tried');
  }

  refund(payment: string, amount: string | null, key?: string): Promise<Reply> {
    return this.#server.call('POST', `/payments/${payment}/refund`, {
      body: amount === null ? {} : { amount },
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    });
  }
}

export const card = (number: string): Instrument => ({
  type: 'card',
  number,
  expiry: '12/34',
  cvc: '123',
});

export const debit = (iban: string): Instrument => ({ type: 'bank_debit', iban });

/** The body of a 201. */
function made(reply: Reply): ReturnType<typeof JSON.parse> {
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
  return reply.json;
}
