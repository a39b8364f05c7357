// A typed e-mail address proves nothing: a stranger with a buy link changes nothing of an existing
// customer.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { type Means, NUMBERS } from '../../support/means.ts';
import { type Session, sessionOf } from '../../support/shop.ts';
import { Club, type Json, type Plan } from '../subscriptions/subscribing.ts';

setDefaultTimeout(60_000);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

const newEmail = () => `${ids.next()}@example.com`;

/** What a stranger without a key can do: open the link, type, pay. Returns the payment. */
async function viaLink(plan: Plan, email: string, means: Means): Promise<Json> {
  const { json } = await club.post(`/buy-links/${plan.productId}/checkout`, {}, { key: null });
  return pay(sessionOf(json), means, { email });
}

async function viaKey(plan: Plan, means: Means, fields: object): Promise<Json> {
  const body = { product_id: plan.productId, currency: 'USD', ...fields };
  const { status, json } = await club.post('/checkouts', body);
  expect(status).toBe(201);
  return pay(sessionOf(json), means);
}

async function pay(session: Session, means: Means, typed: { email?: string } = {}): Promise<Json> {
  const form = {
    payment_method: 'card',
    card_number: NUMBERS[means],
    card_expiry: '12/34',
    card_cvc: '123',
    ...typed,
  };
  const response = await fetch(`${club.shop.server.url}/pay/${session.token}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  expect(response.status).toBe(303);
  return club.shop.lastOf(session);
}

const chargedTo = async (subscriptionId: string): Promise<(string | null)[]> =>
  (await club.payments(subscriptionId)).map(
    ({ payment_method, status }) => `${payment_method?.last4} ${status}`,
  );

const trial = () => club.plan({ trial_days: 7 });

test("after a stranger's trial under the victim's address, the victim renews with the victim's card", async () => {
  const plan = await trial();
  const email = newEmail();
  const victim = await viaKey(plan, 'good', { customer_email: email, external_customer_id: email });
  const before = await club.shop.read(`/customers/${victim.customer_id}`);
  const stranger = await viaLink(plan, email.toUpperCase(), 'renewalFails');
  expect(stranger.customer_id).not.toBe(victim.customer_id);
  expect(await club.shop.read(`/customers/${victim.customer_id}`)).toEqual(before);
  await club.advance('P7DT1H');
  expect(await chargedTo(victim.subscription_id)).toEqual(['4242 succeeded', '4242 succeeded']);
  expect(await club.subscription(victim.subscription_id)).toMatchObject({
    status: 'active',
    overdue_state: 'clear',
    next_retry_at: null,
  });
  expect(await chargedTo(stranger.subscription_id)).toEqual(['0341 succeeded', '0341 failed']);
});

test.each([['by its address'], ['from a buy link']])(
  "after a stranger's trial under an address, a victim who comes %s pays for its own alone",
  async (how) => {
    const plan = await trial();
    const email = newEmail();
    const stranger = await viaLink(plan, email, 'renewalFails');
    const victim =
      how === 'from a buy link'
        ? await viaLink(plan, email, 'good')
        : await viaKey(plan, 'good', { customer_email: email });
    expect(victim.customer_id).not.toBe(stranger.customer_id);
    await club.advance('P7DT1H');
    expect(await chargedTo(stranger.subscription_id)).toEqual(['0341 succeeded', '0341 failed']);
    expect(await chargedTo(victim.subscription_id)).toEqual(['4242 succeeded', '4242 succeeded']);
    // Two customers with one address: the merchant sees both.
    const { data } = await club.shop.read(`/customers?email=${email}`);
    expect(new Set(data.map(({ id }: Json) => id))).toEqual(
      new Set([stranger.customer_id, victim.customer_id]),
    );
  },
);

test('each buy link payment makes a customer of its own', async () => {
  const plan = await club.plan();
  const email = newEmail();
  const payments = await Promise.all([1, 2, 3].map(() => viaLink(plan, email, 'good')));
  expect(new Set(payments.map(({ customer_id }) => customer_id)).size).toBe(3);
});

test('an address that the merchant has confirmed names the customer of a buy link', async () => {
  const plan = await club.plan();
  const { customer_id: id } = await viaLink(plan, newEmail(), 'good');
  const email = newEmail();
  const patched = await club.shop.server.call('PATCH', `/customers/${id}`, { body: { email } });
  expect(patched.status).toBe(200);
  expect((await viaKey(plan, 'good', { customer_email: email })).customer_id).toBe(id);
});

test('an address typed on the page of a checkout made with a key names no customer', async () => {
  const plan = await club.plan();
  const [known, mine] = [newEmail(), newEmail()];
  const owner = await viaKey(plan, 'good', { customer_email: known });
  const body = { product_id: plan.productId, customer_email: mine };
  const session = sessionOf((await club.post('/checkouts', body)).json);
  const payment = await pay(session, 'good', { email: known });
  expect(payment.customer_id).not.toBe(owner.customer_id);
  expect(payment.customer_email).toBe(mine);
});
