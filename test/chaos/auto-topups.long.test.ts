// Automatic top-ups with kill -9 between any two of their commits: each is charged once and granted
// once, and the usage that caused it counts once.
import { expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { portalOf } from '../http/portal/customer.ts';
import type { TestServer } from '../support/server.ts';
import { ask, type Seller } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { startKillable } from './killable.ts';
import { DECIDED_MS_MAX, isDone, MONEY_ENV, withSql, wrongBooks } from './money.ts';
import { Persistent } from './persistent.ts';
import { openSteps, type Step } from './steps.ts';
import { createKeys } from './tenant.ts';

/** Its commits, in order. */
const STEPS: readonly Step[] = [
  { name: 'the charge is ordered', on: 'insert on followups', when: `new.kind = 'top_up'` },
  { name: 'the payment is written down', on: 'insert on payments' },
  { name: 'the charge is made', on: 'insert on sandbox_charges', when: 'new.amount > 0' },
  { name: 'the payment hears of it', on: 'update on payments', when: 'old.status <> new.status' },
  { name: 'it is granted', on: 'insert on grants', when: 'new.product_id is not null' },
  { name: 'the invoice is issued', on: 'insert on invoices' },
];
const OUTCOMES = ['rolled back', 'committed'] as const;
const GRANTED = 100;
const AMOUNT = 500;

test('kill -9 at each commit of a top-up: one charge, one grant, one invoice', async () => {
  const service = await startKillable(MONEY_ENV);
  const steps = await openSteps(service.databaseUrl, STEPS);
  try {
    await withSql(service.databaseUrl, async (sql) => {
      const { testKey: key } = await createKeys(service.databaseUrl);
      const buyers = new Buyers(service.target, key);
      await buyers.open();
      const customers: string[] = [];
      for (const step of STEPS) {
        for (const outcome of OUTCOMES) {
          const customer = await buyers.join();
          customers.push(customer);
          const held = await steps.hold(step);
          const used = buyers.use(customer);
          await held.reached();
          await service.kill();
          await held.end(outcome);
          await service.restart();
          await used;
        }
      }
      await until('nothing is left to do', () => isDone(sql), 3 * DECIDED_MS_MAX);
      for (const customer of customers) {
        expect([customer, await buyers.levelOf(customer)]).toEqual([
          customer,
          GRANTED - 60 + AMOUNT,
        ]);
      }
      expect(await wrongCounts(sql, customers.length)).toEqual([]);
      expect(await wrongBooks(sql)).toEqual([]);
    });
  } finally {
    await steps.stop();
    await service.stop();
  }
}, 240_000);

/** Customers with a card, a feature and an automatic top-up of it. */
class Buyers {
  readonly #target: () => Promise<string>;
  readonly #key: string;
  readonly #calls: Persistent;
  #priceId = '';

  constructor(target: () => Promise<string>, key: string) {
    this.#target = target;
    this.#key = key;
    this.#calls = new Persistent({ target, key });
  }

  async open(): Promise<void> {
    const seller = { url: await this.#target(), key: this.#key };
    await ask(seller, 'POST', '/meters', { slug: 'calls', scale: 0 });
    const prices = [{ amount: '10.00', currency: 'USD' }];
    const product = await ask(seller, 'POST', '/products', { name: 'Credits', prices });
    this.#priceId = product.prices[0].id;
  }

  /** Begins again with another customer where a call is not answered. */
  join(): Promise<string> {
    return this.#calls.again((seller) => this.#join(seller));
  }

  async #join(seller: Seller): Promise<string> {
    const { id } = await ask(seller, 'POST', '/customers', {});
    await ask(seller, 'POST', `/customers/${id}/grants`, { feature_key: 'calls', amount: GRANTED });
    const portal = await portalOf(asServer(seller), id);
    expect((await portal.saveCard('4242424242424242')).status).toBe(303);
    const body = { enabled: true, threshold: 50, amount: AMOUNT, price_id: this.#priceId };
    await ask(seller, 'PUT', `/customers/${id}/auto-topups/calls`, body);
    return id;
  }

  /** Sent until it is answered; its key counts once. */
  async use(customer: string): Promise<void> {
    const body = { feature_key: 'calls', customer_id: customer, value: 60, idempotency_key: 'use' };
    await this.#calls.again((seller) => ask(seller, 'POST', '/track', body));
  }

  async levelOf(customer: string): Promise<number> {
    const seller = { url: await this.#target(), key: this.#key };
    const body = { feature_key: 'calls', customer_id: customer, value: 0 };
    return (await ask(seller, 'POST', '/check', body)).balance;
  }
}

/** As the forms of the portal are sent. */
function asServer({ url, key }: { readonly url: string; readonly key: string }): TestServer {
  const call: TestServer['call'] = async (method, path, { body, key: own = key } = {}) => {
    const headers = {
      'content-type': 'application/json',
      ...(own !== null && { authorization: `Bearer ${own}` }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, headers, ...sent });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && JSON.parse(text),
    };
  };
  return { url, call } as TestServer;
}

/** For each customer one of each. */
async function wrongCounts(sql: Sql, customers: number): Promise<string[]> {
  const [row] = await sql<Record<string, number>[]>`
    select (select count(*) from payments where status = 'succeeded')::int as payments,
      (select count(*) from payments where status <> 'succeeded')::int as others,
      (select count(*) from sandbox_charges where amount > 0 and status = 'succeeded')::int as charges,
      (select count(*) from grants g join payments p on p.id = g.id)::int as grants,
      (select count(*) from invoices where billing_reason = 'auto_topup' and status = 'paid')::int as invoices,
      (select count(*) from events where type = 'payment.succeeded')::int as told`;
  const { others, ...counts } = must(row, 'the counts');
  const isRight = others === 0 && Object.values(counts).every((count) => count === customers);
  return isRight ? [] : [JSON.stringify(row)];
}
