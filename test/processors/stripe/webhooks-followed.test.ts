// What follows from Stripe's webhooks: Stripe is asked, and what it says is applied once. Disputes:
// disputed.test.ts.
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { type Bank, type Merchant, openBank } from '../../http/organization/connected.ts';
import { misfitsOf } from '../../support/catalogue.ts';
import { BUYER, sessionOf } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import type { FakeAccount } from './fake.ts';

setDefaultTimeout(60_000);

const CARD = '4242424242424242';
const SETTLES = 'DE89370400440532013000';
const BOUNCES = 'DE62370400440532013001';
const SECRET = 'whsec_thatTheMerchantHas';

let bank: Bank;
let mine: Merchant;
let account: FakeAccount;
beforeAll(async () => {
  bank = await openBank();
});
beforeEach(async () => {
  mine = await bank.merchant();
  account = bank.fake.newAccount();
  bank.fake.webhooks.mode = 'on';
});
afterAll(async () => {
  expect(await misfitsOf(bank.server.sql)).toEqual([]);
  expect(await audit(bank.server.sql)).toEqual([]);
  await bank.stop();
});

type Bought = { readonly id: string; readonly url: string };

const as = (merchant: Merchant) => ({ key: merchant.testKey });
const read = async (path: string, merchant = mine) =>
  (await bank.server.call('GET', path, as(merchant))).json;
const paymentOf = (id: string) => read(`/payments/${id}`);
const untilPayment = (id: string, status: string) =>
  until(`the payment is ${status}`, async () => (await paymentOf(id)).status === status);
const typesOf = async (id: string) => {
  const { data } = await read(`/events?object_id=${id}&limit=200`);
  return data.map(({ type }: { type: string }) => type).toReversed();
};
const books = () => bank.fake.books(account.id, 'test');
const open = async () => {
  const [row] = await bank.server.sql<{ n: number }[]>`
    select count(*)::int as n from processor_hints where organisation_id = ${mine.id} and settled_at is null`;
  return row!.n;
};
const untilFollowed = () => until('all hints are followed', async () => (await open()) === 0);
const stored = () =>
  bank.server
    .sql`select about, subject, tries from processor_hints where organisation_id = ${mine.id}`;

/** A checkout that waits for its buyer at Stripe. */
async function begin(merchant = mine): Promise<Bought> {
  const post = async (path: string, body: object) =>
    (await bank.server.call('POST', path, { ...as(merchant), body })).json;
  const prices = [{ amount: '100', currency: 'USD' }];
  const product = await post('/products', { name: 'Lamp', prices });
  const session = sessionOf(
    await post('/checkouts', { product_id: product.id, customer_email: BUYER }),
  );
  const outcome = await bank.server.payments.pay(session.token, {
    email: null,
    name: null,
    discountCode: null,
    currency: 'USD',
    total: 10_000n,
    instrument: null,
  });
  if (outcome.kind !== 'requires_action')
    throw new Error(`the buyer is not led away: ${outcome.kind}`);
  const { data } = await read(`/payments?checkout_id=${session.id}`, merchant);
  return { id: data[0].id, url: outcome.url };
}

test("a card that was paid at Stripe is charged when Stripe's webhook comes", async () => {
  await mine.connect(account.testKey);
  const { id, url } = await begin();
  expect(await bank.fake.buyer.pays(url, CARD)).toBe('paid');
  await untilPayment(id, 'succeeded');
  await untilFollowed();
  expect(await typesOf(id)).toEqual(['payment.succeeded']);
  expect(
    books().charges.map(({ captured, amount_captured: amount }) => [captured, amount]),
  ).toEqual([[true, 10_000]]);
  expect(bank.fake.webhooks.sent().every(({ status }) => status === 200)).toBe(true);
});

// The alarm of a debit comes hours later.
test.each([
  ['settles', SETTLES, 'succeeded', 'payment.succeeded'],
  ['bounces', BOUNCES, 'failed', 'payment.failed'],
])(
  "a bank debit that %s is known when Stripe's webhook comes",
  async (_what, iban, status, type) => {
    await mine.connect(account.testKey);
    const { id, url } = await begin();
    expect(await bank.fake.buyer.pays(url, iban)).toBe('processing');
    await untilPayment(id, 'processing');
    bank.fake.settle();
    await untilPayment(id, status);
    expect(await typesOf(id)).toContain(type);
  },
);

test("a refund that fails late is known when Stripe's webhook comes", async () => {
  await mine.connect(account.testKey);
  const { id, url } = await begin();
  await bank.fake.buyer.pays(url, '4000000000005126');
  await untilPayment(id, 'succeeded');
  const { json: refund } = await bank.server.call('POST', `/payments/${id}/refund`, {
    ...as(mine),
    body: { amount: '40.00' },
  });
  expect(refund.status).toBe('succeeded');
  bank.fake.settle();
  await until(
    'it has failed',
    async () => (await read(`/refunds/${refund.id}`)).status === 'failed',
  );
  expect(await typesOf(id)).toEqual([
    'payment.succeeded',
    'payment.refunded',
    'payment.refund_failed',
  ]);
});

test.each(['reverse', 'shuffle', 'twice'] as const)(
  "Stripe's webhooks late and in another order (%s) have the same effect, once",
  async (order) => {
    await mine.connect(account.testKey);
    bank.fake.webhooks.mode = 'hold';
    const { id, url } = await begin();
    await bank.fake.buyer.pays(url, SETTLES);
    bank.fake.settle();
    expect((await paymentOf(id)).status).not.toBe('succeeded');
    expect(bank.fake.webhooks.held().length).toBeGreaterThan(1);
    await bank.fake.webhooks.release(order);
    await untilPayment(id, 'succeeded');
    await untilFollowed();
    await bank.fake.webhooks.release('twice');
    await untilFollowed();
    expect(await typesOf(id)).toEqual(['payment.succeeded']);
    expect(books().charges).toHaveLength(1);
  },
);

test('a webhook of Stripe is not believed where Stripe itself says otherwise', async () => {
  await mine.put({ type: 'stripe', secret_key: account.testKey, webhook_secret: SECRET });
  const { id } = await begin();
  const object = {
    id: 'pi_1',
    object: 'payment_intent',
    status: 'succeeded',
    amount_received: 10_000,
    metadata: { key: id },
  };
  const event = { id: 'evt_lie', data: { object } };
  const reply = await bank.fake.webhooks.forge(mine.hook(), { secret: SECRET, event });
  expect(reply.status).toBe(200);
  await untilFollowed();
  expect(await stored()).toHaveLength(1);
  expect((await paymentOf(id)).status).toBe('requires_action');
});

test("a webhook of one organisation about another's payment does nothing", async () => {
  await mine.put({ type: 'stripe', secret_key: account.testKey, webhook_secret: SECRET });
  const other = await bank.merchant();
  const { testKey } = bank.fake.newAccount();
  await other.put({ type: 'stripe', secret_key: testKey, webhook_secret: 'whsec_ofTheOther' });
  const { id, url } = await begin(other);
  await bank.fake.buyer.pays(url, CARD);
  const before = bank.fake.requests().length;
  const object = { id: 'cs_1', object: 'checkout.session', metadata: { key: id } };
  const event = { id: 'evt_others', data: { object } };
  await bank.fake.webhooks.forge(mine.hook(), { secret: SECRET, event });
  await untilFollowed();
  const asked = bank.fake.requests().slice(before);
  expect(asked.filter(({ path }) => path.includes('/checkout/sessions/'))).toEqual([]);
  await bank.fake.webhooks.forge(other.hook(), { secret: 'whsec_ofTheOther', event });
  await until('its own is followed', async () => {
    return (await read(`/payments/${id}`, other)).status === 'succeeded';
  });
});

test('a webhook that a dead process left behind is followed by the next sweep', async () => {
  await mine.put({ type: 'stripe', secret_key: account.testKey, webhook_secret: SECRET });
  const { id, url } = await begin();
  await bank.fake.buyer.pays(url, CARD);
  await bank.server.sql`
    insert into processor_hints (organisation_id, mode, event_id, processor, about, subject)
    values (${mine.id}, 'test', 'evt_left', ${`stripe:${account.id}`}, 'charge', ${id})`;
  await untilFollowed();
  await untilPayment(id, 'succeeded');
});
