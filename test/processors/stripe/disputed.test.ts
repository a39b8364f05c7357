// Disputes at Stripe, from its webhook to the payment: they change what can be refunded.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { audit } from '../../../src/database/audit.ts';
import { type Bank, type Merchant, openBank } from '../../http/organization/connected.ts';
import type { Reply } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import type { FakeAccount } from './fake.ts';

setDefaultTimeout(60_000);

let bank: Bank;
let mine: Merchant;
let account: FakeAccount;
let productId: string;
beforeAll(async () => {
  bank = await openBank();
  mine = await bank.merchant();
  account = bank.fake.newAccount();
  const connected = await mine.connect(account.testKey);
  expect([connected.status, connected.text]).toEqual([200, connected.text]);
  const prices = [{ amount: '100', currency: 'USD' }];
  productId = (await call('POST', '/products', { name: 'Lamp', prices })).json.id;
});
afterAll(async () => {
  await bank.server.payments.close();
  expect(await audit(bank.server.sql)).toEqual([]);
  await bank.stop();
});

const call = (method: string, path: string, body?: object): Promise<Reply> =>
  bank.server.call(method, path, { key: mine.testKey, ...(body === undefined ? {} : { body }) });

const payment = async (id: string) => (await call('GET', `/payments/${id}`)).json;

/** Paid on Stripe's page, and known to be. */
async function buy(card: string): Promise<string> {
  const wanted = { product_id: productId, customer_email: 'ada@example.com' };
  const { json: checkout } = await call('POST', '/checkouts', wanted);
  const token = must((checkout.url as string).split('/').at(-1), 'a token');
  const order = { email: null, name: null, currency: 'USD', discountCode: null };
  const outcome = await bank.server.payments.pay(token, {
    ...order,
    total: 10_000n,
    instrument: null,
  });
  if (outcome.kind !== 'requires_action') throw new Error(outcome.kind);
  await bank.fake.buyer.pays(outcome.url, card);
  const { data } = (await call('GET', `/payments?checkout_id=${checkout.id}`)).json;
  await bank.server.payments.refresh(data[0].id);
  await until('it is paid', async () => (await payment(data[0].id)).status === 'succeeded');
  return data[0].id;
}

const there = () => bank.fake.books(account.id, 'test');

/** The payment's intent at Stripe. */
function intentOf(id: string): string {
  const found = there().intents.find(({ metadata }) => metadata['key'] === id);
  return must(found, 'its intent').id;
}

async function disputeThatIs(status: string, id: string) {
  const read = async () => (await payment(id)).disputes?.at(-1);
  await until(`a dispute ${status}`, async () => (await read())?.status === status);
  return payment(id);
}

test('a card that disputes what it pays: the webhook of Stripe is followed', async () => {
  const id = await buy('4000000000000259');
  const opened = await disputeThatIs('opened', id);
  const [dispute] = there().disputes;
  expect(opened).toMatchObject({
    refundable_amount: '0.00',
    disputes: [{ reference: dispute?.id, reason: 'fraudulent', amount_held: '100.00' }],
  });
  expect((await call('POST', `/payments/${id}/refund`)).status).toBe(400);
  bank.fake.closeDispute(must(dispute, 'a dispute').id, 'lost');
  expect(await disputeThatIs('lost', id)).toMatchObject({
    status: 'succeeded',
    refundable_amount: '0.00',
    disputes: [{ amount_charged_back: '100.00' }],
  });
});

test('a Stripe dispute of a part, won: the rest can be refunded meanwhile', async () => {
  const id = await buy('4242424242424242');
  const dispute = bank.fake.dispute(intentOf(id), { amount: 4000, reason: 'duplicate' });
  expect(await disputeThatIs('opened', id)).toMatchObject({ refundable_amount: '60.00' });
  bank.fake.closeDispute(dispute, 'won');
  expect(await disputeThatIs('won', id)).toMatchObject({ refundable_amount: '100.00' });
  const { json: refund } = await call('POST', `/payments/${id}/refund`);
  expect([refund.status, refund.amount]).toEqual(['succeeded', '100.00']);
});

test('a Stripe dispute that is lost, but won in part: what came back can be refunded', async () => {
  const id = await buy('4242424242424242');
  const dispute = bank.fake.dispute(intentOf(id));
  await disputeThatIs('opened', id);
  bank.fake.closeDispute(dispute, 'lost', 2500);
  expect(await disputeThatIs('lost', id)).toMatchObject({
    refundable_amount: '25.00',
    disputes: [{ amount: '75.00', amount_charged_back: '75.00' }],
  });
});

test('an inquiry at Stripe is no dispute until money is taken', async () => {
  const id = await buy('4242424242424242');
  const dispute = bank.fake.dispute(intentOf(id), { isInquiry: true });
  const scope = { organisationId: mine.id, mode: 'test' as const };
  const nothing = { kind: 'asked', changed: [], refused: [] } as const;
  expect(await bank.server.payments.pollDisputes(scope, id)).toEqual(nothing);
  expect(await payment(id)).not.toHaveProperty('disputes');
  bank.fake.closeDispute(dispute, 'lost');
  expect(await disputeThatIs('lost', id)).toMatchObject({ refundable_amount: '0.00' });
});

test("without Stripe's webhooks a dispute is told once, to who asks", async () => {
  const id = await buy('4242424242424242');
  bank.fake.webhooks.mode = 'off';
  const dispute = bank.fake.dispute(intentOf(id));
  bank.fake.closeDispute(dispute, 'lost');
  const scope = { organisationId: mine.id, mode: 'test' as const };
  const replies = await Promise.all([1, 2].map(() => bank.server.payments.pollDisputes(scope, id)));
  bank.fake.webhooks.mode = 'on';
  const changed = replies.flatMap((reply) => (reply.kind === 'asked' ? reply.changed : []));
  expect(changed.map(({ status }) => status)).toEqual(['lost']);
  const { data } = (await call('GET', `/events?object_id=${id}&type=payment.disputed`)).json;
  expect(data).toHaveLength(1);
});
