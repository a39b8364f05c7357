// A shop, its buyers at the checkout, and reads of a payment afterwards: all through the API and
// the payments' API.
import { expect } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { parseMoney } from '../../ledger/kernel/money.ts';
import type { Order, PayOutcome } from '../../src/payments/payments.ts';
import { clock, timers } from '../../src/platform/clock.ts';
import type { Instrument } from '../../src/processors/processor.ts';
import { type Sandbox, openSandbox } from '../../src/processors/sandbox.ts';
import { misfitsOf } from '../support/catalogue.ts';
import {
  type Call,
  type Reply,
  type ServerOptions,
  startServer,
  type TestServer,
} from '../support/server.ts';
import { settle, settleAtStripe } from '../support/settling.ts';
import { IS_STRIPE, payThere, stripeOf } from '../support/stripe-side.ts';
import { TEST_SETTINGS } from '../support/settings.ts';
import { type Means, NUMBERS } from '../support/means.ts';
import { BUYER, type Session, sessionOf } from '../support/shop.ts';
import { until } from '../support/until.ts';

/**
 * An alarm finds a later settlement within a second; a busy machine needs longer for everything.
 */
export const PATIENCE_MS = 60_000;

export type Fields = Readonly<Record<string, unknown>>;
export type Payment = Reply['json'];
export type Envelope = Reply['json'];

/** Changes to the usual buyer: a good card, 100.00 USD, no customer named. */
export type Wish = Partial<Omit<Order, 'total' | 'instrument'>> & {
  readonly means?: Means;
  readonly instrument?: Instrument | null;
  /** The attempt token of the page. */
  readonly total?: string;
};

function instrumentOf(means: Means): Instrument {
  const number = NUMBERS[means];
  return number.startsWith('DE')
    ? { type: 'bank_debit', iban: number }
    : { type: 'card', number, expiry: '12/34', cvc: '123' };
}

export class Shop {
  readonly server: TestServer;
  readonly productId: string;
  readonly priceId: string;
  /** The sandbox, as its own pages call it. */
  readonly bank: Sandbox;

  private constructor(server: TestServer, product: Reply['json']) {
    this.server = server;
    this.productId = product.id;
    this.priceId = product.prices[0].id;
    this.bank = openSandbox({
      sql: server.sql,
      timers,
      settleMs: TEST_SETTINGS.sandboxSettleMs,
      origin: 'https://bank.example',
      challengeUrl: (key) => key,
    })(clock);
  }

  /** Sells one thing for 100.00 USD, 10000 JPY, 10.000 KWD or 1.0000 CLF. */
  static async open(options: ServerOptions = {}): Promise<Shop> {
    const server = await startServer(options);
    const prices = [
      { amount: '100', currency: 'USD' },
      { amount: '10000', currency: 'JPY' },
      { amount: '10', currency: 'KWD' },
      { amount: '1', currency: 'CLF' },
    ];
    const product = await server.call('POST', '/products', { body: { name: 'Lamp', prices } });
    return new Shop(server, made(product));
  }

  async checkout(fields: Fields = {}, call: Call = {}): Promise<Session> {
    const body = { product_id: this.productId, customer_email: BUYER, ...fields };
    return sessionOf(made(await this.server.call('POST', '/checkouts', { body, ...call })));
  }

  /** The code of a new discount. */
  async discount(code: string, fields: Fields): Promise<string> {
    made(await this.server.call('POST', '/discounts', { body: { code, ...fields } }));
    return code;
  }

  /** One attempt at a checkout; on Stripe's page, until it is paid there or given up. */
  async pay(session: Session, wish: Wish = {}): Promise<PayOutcome> {
    const { means = 'good', instrument, total = '100.00', ...rest } = wish;
    const currency = rest.currency ?? 'USD';
    const typed = instrument === undefined ? instrumentOf(means) : instrument;
    const outcome = await this.server.payments.pay(session.token, {
      email: null,
      name: null,
      discountCode: null,
      ...rest,
      currency,
      total: units(total, currency),
      instrument: IS_STRIPE ? null : typed,
    });
    if (outcome.kind !== 'requires_action' || stripeOf(outcome.url) === null) return outcome;
    const isDone = await payThere(outcome.url, must(typed, 'what the buyer types'));
    const { payments, sql } = this.server;
    const [attempt] = await sql<{ id: string }[]>`
      select payment_id as id from checkouts where token = ${session.token}`;
    const { id } = must(attempt, 'the attempt at this checkout');
    await (isDone ? payments.refresh(id) : payments.giveUp(id));
    return { kind: 'attempted' };
  }

  /** A payment attempted at a checkout of its own, as it is right afterwards. */
  async buy(wish: Wish & { readonly checkout?: Fields } = {}): Promise<Payment> {
    const { checkout = {}, ...rest } = wish;
    const session = await this.checkout(checkout);
    await this.pay(session, rest);
    return this.lastOf(session);
  }

  /** Settles what is pending. */
  settle(): Promise<void> {
    return settle(this.server);
  }

  async lastOf({ id }: Session): Promise<Payment> {
    const [payment] = await this.paymentsOf({ id });
    expect(payment).toBeDefined();
    return payment;
  }

  /** The attempts at a checkout, newest first. */
  async paymentsOf({ id }: Pick<Session, 'id'>): Promise<Payment[]> {
    return (await this.read(`/payments?checkout_id=${id}`)).data;
  }

  payment(id: string): Promise<Payment> {
    return this.read(`/payments/${id}`);
  }

  /** The payment, once the condition holds. */
  async paymentThatIs(status: string, id: string): Promise<Payment> {
    await until(`payment ${status}`, async () => {
      await settleAtStripe(this.server);
      return (await this.payment(id)).status === status;
    });
    return this.payment(id);
  }

  async refundThatIs(status: string, id: string): Promise<Reply['json']> {
    const read = () => this.read(`/refunds/${id}`);
    await until(`refund ${status}`, async () => {
      await settleAtStripe(this.server);
      return (await read()).status === status;
    });
    return read();
  }

  /** The session, once no attempt at it is running. */
  async checkoutAfter({ id }: Pick<Session, 'id'>): Promise<Reply['json']> {
    const read = () => this.read(`/checkouts/${id}`);
    await until('an attempt is over', async () => {
      await settleAtStripe(this.server);
      return (await read()).status !== 'processing';
    });
    return read();
  }

  refund(paymentId: string, body?: unknown, call: Call = {}): Promise<Reply> {
    const sent = body === undefined ? {} : { body };
    return this.server.call('POST', `/payments/${paymentId}/refund`, { ...sent, ...call });
  }

  /** A retry is recognised by its key. */
  refundWithKey(key: string, paymentId: string, body?: unknown, call: Call = {}): Promise<Reply> {
    return this.refund(paymentId, body, { ...call, headers: { 'idempotency-key': key } });
  }

  /** The events of an object, in order; waits for `count` of them, where that is given. */
  async events(objectId: string, count?: number): Promise<Envelope[]> {
    const path = `/events?object_id=${objectId}&limit=200`;
    const read = async (): Promise<Envelope[]> => (await this.read(path)).data.toReversed();
    if (count !== undefined) {
      await until(`${count} events`, async () => (await read()).length >= count);
    }
    const events = await read();
    expectOrdered(events);
    if (count !== undefined) expect(events).toHaveLength(count);
    return events;
  }

  async read(path: string, call: Call = {}): Promise<Reply['json']> {
    const reply = await this.server.call('GET', path, call);
    expect([path, reply.status]).toEqual([path, 200]);
    return reply.json;
  }

  /** The books balance, and every event conforms to the catalogue. */
  async close(): Promise<void> {
    expect(await audit(this.server.sql)).toEqual([]);
    expect(await misfitsOf(this.server.sql)).toEqual([]);
    await this.server.stop();
  }
}

/** In the currency's minor unit. */
export function units(amount: string, currency: string): bigint {
  const parsed = parseMoney(amount, currency);
  if (typeof parsed === 'string') throw new Error(`${amount} ${currency}: ${parsed}`);
  return parsed;
}

/** Numbered without a gap, at ascending times, and each event renders the same twice. */
function expectOrdered(events: readonly Envelope[]): void {
  expect(events.map(({ data }) => data.sequence)).toEqual(events.map((_event, index) => index + 1));
  let before = '';
  for (const { id, type, timestamp, data } of events) {
    expect(timestamp > before).toBe(true);
    before = timestamp;
    expect(data).toMatchObject({ id, eventType: type, timestamp });
  }
}

export function made(reply: Reply): Reply['json'] {
  expect([reply.status, reply.text]).toEqual([201, reply.text]);
  return reply.json;
}
