// Responses conform to the schemas of the document: payments, refunds, checkouts, invoices,
// customers and events in each state.
import type { TSchema } from '@sinclair/typebox';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { issuesOf, validator } from '../../src/http/edge/validate.ts';
import { Checkout } from '../../src/http/wire/checkouts.ts';
import { Customer } from '../../src/http/wire/customers.ts';
import { Event } from '../../src/http/wire/events.ts';
import { Invoice } from '../../src/http/wire/invoices.ts';
import { Payment, Refund } from '../../src/http/wire/payments.ts';
import { Subscription } from '../../src/http/wire/subscriptions.ts';
import { Club } from '../http/subscriptions/subscribing.ts';
import type { Means } from '../support/means.ts';
import { PATIENCE_MS, Shop } from '../payments/shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
  await shop.discount('HALF', { percent_off: 50 });
  await shop.pay(await shop.checkout({ metadata: { a: 'b' } }), {
    discountCode: 'HALF',
    total: '50',
  });
  const bought = new Map<Means, string>();
  for (const means of ['good', 'declined', 'error', 'challenge', 'iban'] as const) {
    bought.set(means, (await shop.buy({ means })).id);
  }
  const { id } = await shop.buy({ means: 'refundFailsLate', currency: 'JPY', total: '10000' });
  const { json: late } = await shop.refund(id, { amount: '5' });
  await shop.refund(bought.get('good')!, { amount: '0.01', reason: 'duplicate' });
  await shop.refundThatIs('failed', late.id);
  const club = new Club(shop);
  const plan = await club.plan();
  for (const [action, body] of [
    ['pause', { resumes_at: new Date((await club.now()) + 60_000).toISOString() }],
    ['cancel', {}],
    ['cancel', { mode: 'immediate' }],
  ] as const) {
    await club.act((await club.signUp(plan)).id, action, body);
  }
  await club.subscribe(plan, await club.customer(), { trial_days: 1 });
  await club.subscribe(plan, await club.customer(), { metadata: { a: 'b' } });
});
afterAll(() => shop.close());

/** The document's schema, made strict: an unknown field is a fault. */
const closed = ({ anyOf, ...schema }: TSchema): TSchema =>
  anyOf === undefined
    ? { ...schema, additionalProperties: false }
    : { ...schema, anyOf: anyOf.map(closed) };

// prettier-ignore
const LISTS: [string, TSchema][] = [
  ['/payments',  closed(Payment)],
  ['/checkouts', closed(Checkout)],
  ['/invoices',  closed(Invoice)],
  ['/customers', closed(Customer)],
  ['/events',    closed(Event)],
  ['/subscriptions', closed(Subscription)],
];

async function expectToFit(path: string, schema: TSchema): Promise<unknown[]> {
  const { data } = await shop.read(`${path}?limit=200`);
  const check = validator(schema);
  for (const item of data) expect([item, issuesOf(check, item)]).toEqual([item, []]);
  return data;
}

describe.each(LISTS)("the contract's examples of %s", (path, schema) => {
  test('fit its schema', async () => {
    const data = await expectToFit(path, schema);
    expect(data.length).toBeGreaterThan(0);
  });
});

test("the contract's examples of payments' refunds fit", async () => {
  const statuses = new Set<unknown>();
  const pending = await shop.buy({ means: 'refundPends', currency: 'CLF', total: '1' });
  const { data } = await shop.read('/payments');
  // It is pending for a moment only.
  await shop.refund(pending.id);
  for (const { id } of data) {
    const refunds = await expectToFit(`/payments/${id}/refunds`, closed(Refund));
    for (const refund of refunds) statuses.add((refund as { status: string }).status);
  }
  expect(statuses).toEqual(new Set(['pending', 'succeeded', 'failed']));
});
