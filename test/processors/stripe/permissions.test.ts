// A restricted key with the permissions that src/OPERATIONS.md names, and no other, is enough for
// all that is asked of Stripe.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bank, type Merchant, openBank } from '../../http/organization/connected.ts';
import { runAdmin } from '../../support/admin.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';
import { BUYER, sessionOf } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import type { Permission } from './call.ts';
import type { FakeAccount } from './fake.ts';

setDefaultTimeout(60_000);

const PAGE = readFileSync(join(import.meta.dir, '../../../src/OPERATIONS.md'), 'utf8');
const DOCUMENTED = [...PAGE.matchAll(/`rak_(\w+)` \|/g)].map(([, name]) => name as Permission);

let bank: Bank;
let mine: Merchant;
let account: FakeAccount;
beforeAll(async () => {
  bank = await openBank();
  mine = await bank.merchant();
  account = bank.fake.newAccount();
});
afterAll(() => bank.stop());

const call = async (method: string, path: string, body?: object) => {
  const reply = await bank.server.call(method, path, {
    key: mine.testKey,
    ...(body !== undefined && { body }),
  });
  expect([method, path, reply.status < 300]).toEqual([method, path, true]);
  return reply.json;
};

/** The payment, once the condition holds. */
async function paymentThatIs(status: string, id: string) {
  const read = () => call('GET', `/payments/${id}`);
  await until(`the payment is ${status}`, async () => (await read()).status === status);
}

async function buy(product_id: string, total: bigint, typing: string): Promise<string> {
  const session = sessionOf(
    await call('POST', '/checkouts', { product_id, customer_email: BUYER }),
  );
  const outcome = await bank.server.payments.pay(session.token, {
    email: null,
    name: null,
    discountCode: null,
    currency: 'USD',
    total,
    instrument: null,
  });
  if (outcome.kind !== 'requires_action') throw new Error(`not led away: ${outcome.kind}`);
  await bank.fake.buyer.pays(outcome.url, typing);
  return (await call('GET', `/payments?checkout_id=${session.id}`)).data[0].id;
}

const reconcile = () =>
  runAdmin(['reconcile', '--org', mine.id, '--json'], bank.server.databaseUrl, {
    SECRETS_KEY: Buffer.from(TEST_SECRETS_KEY).toString('base64'),
    STRIPE_API_URL: bank.fake.url,
  });

test('the documented Stripe permissions are enough to sell, save, renew, refund, dispute and reconcile', async () => {
  expect(DOCUMENTED.length).toBeGreaterThan(8);
  const { json } = await mine.connect(account.restrictedKey('test', DOCUMENTED));
  expect(json.status).toBe('active');
  const price = { amount: '10', currency: 'USD' };
  const lamp = await call('POST', '/products', { name: 'Lamp', prices: [price] });
  const paid = await buy(lamp.id, 1000n, '4242424242424242');
  await paymentThatIs('succeeded', paid);
  await call('POST', `/payments/${paid}/refund`, { amount: '1.00' });
  const intent = bank.fake.books(account.id, 'test').intents[0]!.id;
  bank.fake.dispute(intent, { reason: 'fraudulent', amount: 500 });
  await until('the dispute is known', async () => {
    return (await call('GET', `/payments/${paid}`)).disputes?.length === 1;
  });
  // A trial only saves; then it is charged without its buyer.
  const monthly = { ...price, interval: 'month', trial_days: 7 };
  const plan = await call('POST', '/products', { name: 'Plan', prices: [monthly] });
  const trial = await buy(plan.id, 0n, '4242424242424242');
  await paymentThatIs('succeeded', trial);
  const subscriptions = async () => (await call('GET', '/subscriptions')).data;
  await until('it is subscribed', async () => (await subscriptions()).length === 1);
  const [{ id }] = await subscriptions();
  await call('POST', `/subscriptions/${id}/end-trial`);
  await until('it is renewed', async () => {
    const payments = (await call('GET', '/payments')).data;
    return payments.some(
      (one: { id: string; status: string; subscription_id: string | null }) =>
        ![paid, trial].includes(one.id) && one.status === 'succeeded',
    );
  });
  const { exitCode, stderr } = await reconcile();
  expect([exitCode, stderr]).toEqual([0, '']);
  expect((await mine.get()).json.status).toBe('active');
});

test('without one of the documented Stripe permissions a call is refused, and that is said', async () => {
  const without = (name: Permission) => DOCUMENTED.filter((one) => one !== name);
  const other = bank.fake.newAccount();
  const key = other.restrictedKey('test', without('checkout_session_write'));
  expect((await mine.connect(key)).json.status).toBe('active');
  const price = { amount: '10', currency: 'USD' };
  const lamp = await call('POST', '/products', { name: 'Lamp', prices: [price] });
  expect(buy(lamp.id, 1000n, '4242424242424242')).rejects.toThrow('not led away');
  await until('it is failing', async () => (await mine.get()).json.status === 'failing');
  const { text } = await bank.server.call('GET', '/metrics', { key: null });
  expect(text.split('\n')).toContain('tollhouse_processors_failing 1');
});
