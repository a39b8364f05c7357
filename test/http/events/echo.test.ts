// Which reference fields an event carries: for an object that a checkout began, those of the
// checkout; for all others, those of the customer now.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { EventEnvelope } from '../../../src/records/events.ts';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { misfits } from '../../support/catalogue.ts';
import { Club, type Json } from '../subscriptions/subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

const SENT = { externalCustomerId: 'as sent', metadata: { of: 'the checkout' } };
const OWN = { externalCustomerId: 'now', metadata: { of: 'the customer' } };
const BY_HAND = { ...OWN, metadata: { of: 'the subscription' } };

let club: Club;
let customer: string;
let began: Json;
let byHand: Json;
let checkout: { id: string; token: string };
const told: EventEnvelope[] = [];

/** The types of the events about these objects, with the fields that each returns. */
function echoes(of: (event: EventEnvelope) => boolean): [string, unknown][] {
  return told.filter(of).map(({ type, data }) => {
    const { externalCustomerId, metadata } = data as unknown as typeof SENT;
    return [type, { externalCustomerId, metadata }];
  });
}

const typesOf = (found: [string, unknown][]): string[] =>
  [...new Set(found.map(([type]) => type))].sort();

async function happen(): Promise<void> {
  const session = { external_customer_id: SENT.externalCustomerId, metadata: SENT.metadata };
  const post = async (path: string, body: object) => made(await club.post(path, body));
  const named = { external_customer_id: SENT.externalCustomerId, email: 'a@example.com' };
  customer = (await post('/customers', named)).id;
  const plan = await club.plan({ limit: 10 });
  checkout = await club.checkout(plan, session);
  began = await club.subscription((await club.pay(checkout, 'renewalFails')).subscription_id);
  expect(began.customer_id).toBe(customer);
  const body = { external_customer_id: OWN.externalCustomerId, metadata: OWN.metadata };
  await club.shop.server.call('PATCH', `/customers/${customer}`, { body });
  const cheaper = await club.price(plan, { amount: '20.00' });
  await club.act(began.id, 'change', { price_id: cheaper });
  await club.track({ customer_id: customer }, plan, 11);
  const other = await club.plan({ limit: null });
  byHand = await club.subscribe(other, customer, { metadata: BY_HAND.metadata });
  const feature = await club.plan();
  const grant = { feature_key: feature.feature, amount: 5 };
  await post(`/customers/${customer}/grants`, grant);
  await club.track({ customer_id: customer }, feature, 6);
  const [invoice] = await club.invoices(began.id);
  for (const [object_type, object_id] of [
    ['customer', customer],
    ['subscription', began.id],
    ['invoice', invoice.id],
  ]) {
    const tag = await post('/tags', { object_type, object_id, name: 'a' });
    await club.shop.server.call('DELETE', `/tags/${tag.id}`);
    await post('/custom-fields', { object_type, object_id, name: 'a', value: 'b' });
  }
  await club.advanceTo(began.current_period_end);
  await club.advance('P30D');
  const lines = [{ description: 'By hand', quantity: 1, unit_amount: '5.00' }];
  await post('/invoices', { customer_id: customer, currency: 'USD', lines });
}

beforeAll(async () => {
  club = await Club.open();
  await happen();
  for (let page = 0; ; page += 1) {
    const { data, has_more: more } = await club.shop.read(`/events?limit=200&offset=${page * 200}`);
    told.push(...data);
    if (more !== true) break;
  }
});
afterAll(() => club.close());

const isOf = (id: string) => (event: EventEnvelope) =>
  event.data.objectId === id || (event.data as unknown as Json).subscriptionId === id;

test("events of a subscription give back the checkout's metadata, whatever the customer is called since", () => {
  const found = echoes(isOf(began.id));
  expect(typesOf(found)).toEqual([
    'entitlement.granted',
    'invoice.created',
    'invoice.updated',
    'payment.failed',
    'payment.succeeded',
    'subscription.blocked',
    'subscription.created',
    'subscription.expired',
    'subscription.updated',
  ]);
  for (const [type, echo] of found) expect([type, echo]).toEqual([type, SENT]);
});

test("entitlement events give back the checkout's metadata, or the customer's for a plain grant", () => {
  const exhausted = echoes(({ type }) => type === 'entitlement.exhausted');
  expect(exhausted.map(([, echo]) => echo)).toContainEqual(SENT);
  expect(exhausted.map(([, echo]) => echo)).toContainEqual(OWN);
  const granted = echoes(
    ({ type, data }) =>
      type === 'entitlement.granted' && (data as unknown as Json).subscriptionId === null,
  );
  expect(granted.map(([, echo]) => echo)).toEqual([OWN]);
});

test('events of a subscription that was made by the API give back its own metadata', () => {
  const found = echoes(isOf(byHand.id));
  expect(typesOf(found)).toContain('invoice.created');
  expect(typesOf(found)).toContain('entitlement.granted');
  for (const [type, echo] of found) expect([type, echo]).toEqual([type, BY_HAND]);
});

test("events of a customer or an annotation give back the customer's metadata", () => {
  const types = ['tag.', 'custom_field.', 'customer.updated', 'subscription.overdue_changed'];
  const found = echoes(({ type }) => types.some((begin) => type.startsWith(begin)));
  expect(typesOf(found)).toEqual([
    'custom_field.created',
    'customer.updated',
    'subscription.overdue_changed',
    'tag.created',
    'tag.deleted',
  ]);
  for (const [type, echo] of found) expect([type, echo]).toEqual([type, OWN]);
  const manual = echoes(({ data }) => (data as unknown as Json).billingReason === 'manual');
  expect(manual).toEqual([['invoice.created', OWN]]);
});

test('the event of a plan change names the new price and the one before', () => {
  const [updated] = told.filter(({ type }) => type === 'subscription.updated');
  expect(updated!.data).toMatchObject({
    amount: '20.00',
    currency: 'USD',
    quantity: 1,
    resumesAt: null,
    changes: ['plan', 'priceId', 'amount'],
    previous: { priceId: began.price_id, amount: '30.00' },
  });
  expect(Object.keys((updated!.data as unknown as Json).previous).sort()).toEqual([
    'amount',
    'priceId',
  ]);
});

test('the refund of a renewal names the checkout, as its payment did', async () => {
  const plan = await club.plan();
  const session = await club.checkout(plan, {
    external_customer_id: 'renews',
    metadata: SENT.metadata,
  });
  const { subscription_id: id } = await club.pay(session);
  const before = await club.subscription(id);
  await club.advanceTo(before.current_period_end);
  const renewal = (await club.payments(id)).at(-1);
  const body = { reason: 'duplicate' };
  expect((await club.post(`/payments/${renewal.id}/refund`, body)).status).toBeLessThan(300);
  const [refunded] = await club.shop.events(renewal.id);
  const paid = (await club.events(id)).findLast(({ type }) => type === 'payment.succeeded');
  const link = { paymentLinkId: session.id, paymentLinkToken: session.token };
  const echo = { externalCustomerId: 'renews', metadata: SENT.metadata, clientReferenceId: null };
  expect([refunded.type, refunded.data.transactionType]).toEqual(['payment.refunded', 'REFUND']);
  expect(paid.data).toMatchObject({ transactionType: 'RECURRING', ...link, ...echo });
  expect(refunded.data).toMatchObject({ paymentId: renewal.id, ...link, ...echo });
});

test("every event of a subscription's life fits its schema", () => {
  expect(told.flatMap(misfits)).toEqual([]);
});
