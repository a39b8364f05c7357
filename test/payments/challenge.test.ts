// The buyer's bank asks for confirmation (3-D Secure).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../support/means.ts';
import type { Session } from '../support/shop.ts';
import { PATIENCE_MS, type Payment, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  // A payment that is not used soon is evicted: then the database decides.
  shop = await Shop.open({ alone: true, actorsMax: 1 });
});
afterAll(() => shop.close());

async function challenged(means: Means = 'challenge'): Promise<[Payment, Session]> {
  const session = await shop.checkout();
  const outcome = await shop.pay(session, { means });
  const payment = await shop.lastOf(session);
  expect(outcome).toEqual({
    kind: 'requires_action',
    url: expect.stringMatching(new RegExp(`^http://localhost/.*${payment.id}$`)),
  });
  expect(payment).toMatchObject({
    status: 'requires_action',
    payment_method: { type: 'card', brand: 'visa' },
    refundable_amount: '0.00',
    failure_code: null,
  });
  expect((await shop.read(`/checkouts/${session.id}`)).status).toBe('processing');
  return [payment, session];
}

/** The 15 minutes are over. */
async function timePasses({ id }: Payment): Promise<void> {
  const { sql } = shop.server;
  for (let other = 0; other < 3; other += 1) await shop.buy();
  await sql`
    update payments set created_at = created_at - interval '15 min', ask_at = now() - interval '1 s' where id = ${id}`;
  await sql`update alarms set due_at = now() where subject_id = ${id}`;
}

// prettier-ignore
const ANSWERS: [Means, boolean, string, string | null, string][] = [
  // card               confirmed  payment      failure                  checkout
  ['challenge',         true,      'succeeded', null,                    'paid'],
  ['challenge',         false,     'failed',    'authentication_failed', 'active'],
  ['challengeDeclined', true,      'failed',    'card_declined',         'active'],
  ['challengeDeclined', false,     'failed',    'authentication_failed', 'active'],
];
test.each(ANSWERS)(
  'a payment with 3-D Secure by %s, confirmed %p, is %s',
  async (means, passed, status, code, checkout) => {
    const [payment, session] = await challenged(means);
    expect(await shop.pay(session)).toEqual({ kind: 'not_open' });
    // Coming back without an answer changes nothing.
    await shop.server.payments.refresh(payment.id);
    expect((await shop.payment(payment.id)).status).toBe('requires_action');
    expect(await shop.events(payment.id)).toEqual([]);
    await shop.bank.answerChallenge(payment.id, passed);
    await Promise.all([1, 2, 3].map(() => shop.server.payments.refresh(payment.id)));
    expect(await shop.payment(payment.id)).toMatchObject({ status, failure_code: code });
    expect((await shop.checkoutAfter(session)).status).toBe(checkout);
    const [event] = await shop.events(payment.id, 1);
    expect(event.type).toBe(`payment.${status}`);
    // A changed mind is too late.
    expect(await shop.bank.answerChallenge(payment.id, !passed)).toBeNull();
  },
);

test('a buyer who confirms 3-D Secure and never comes back has paid', async () => {
  const [payment, session] = await challenged();
  await shop.bank.answerChallenge(payment.id, true);
  await shop.paymentThatIs('succeeded', payment.id);
  expect((await shop.checkoutAfter(session)).status).toBe('paid');
});

test('a 3-D Secure challenge is given up after 15 minutes, and the checkout can be paid again', async () => {
  const [payment, session] = await challenged();
  await timePasses(payment);
  expect(await shop.paymentThatIs('canceled', payment.id)).toMatchObject({
    failure_code: 'authentication_abandoned',
  });
  expect((await shop.checkoutAfter(session)).status).toBe('active');
  const [event] = await shop.events(payment.id, 1);
  expect(event.type).toBe('payment.failed');
  // The bank's page in another tab cannot take the money any more.
  expect(await shop.bank.answerChallenge(payment.id, true)).toBeNull();
  expect(await shop.pay(session)).toEqual({ kind: 'attempted' });
  expect((await shop.lastOf(session)).status).toBe('succeeded');
});

test('a buyer who gives up 3-D Secure may pay again at once, and no more at the bank', async () => {
  const [payment, session] = await challenged();
  await Promise.all([1, 2, 3].map(() => shop.server.payments.giveUp(payment.id)));
  expect(await shop.payment(payment.id)).toMatchObject({
    status: 'canceled',
    failure_code: 'canceled',
  });
  expect((await shop.read(`/checkouts/${session.id}`)).status).toBe('active');
  const [event] = await shop.events(payment.id, 1);
  expect([event.type, event.data.failureCode]).toEqual(['payment.failed', 'canceled']);
  expect(await shop.bank.answerChallenge(payment.id, true)).toBeNull();
  expect(await shop.pay(session)).toEqual({ kind: 'attempted' });
  // Too late: it is paid.
  const { id } = await shop.lastOf(session);
  await shop.server.payments.giveUp(id);
  expect((await shop.payment(id)).status).toBe('succeeded');
});

test('a payment that the buyer confirmed at the bank is charged, even where it is given up then', async () => {
  const [payment, session] = await challenged();
  await shop.bank.answerChallenge(payment.id, true);
  await shop.server.payments.giveUp(payment.id);
  expect((await shop.payment(payment.id)).status).toBe('succeeded');
  expect((await shop.checkoutAfter(session)).status).toBe('paid');
});

test('a challenge given up in one tab and confirmed in another is one of the two, never both', async () => {
  const { payments } = shop.server;
  for (let round = 0; round < 10; round += 1) {
    const [payment, session] = await challenged();
    await Promise.all([
      shop.bank.answerChallenge(payment.id, true).then(() => payments.refresh(payment.id)),
      payments.giveUp(payment.id),
    ]);
    // The question of one may have been under way when the other asked.
    await payments.refresh(payment.id);
    const { status } = await shop.payment(payment.id);
    expect(['canceled', 'succeeded']).toContain(status);
    expect((await shop.checkoutAfter(session)).status).toBe(
      status === 'canceled' ? 'active' : 'paid',
    );
  }
});

test('a challenge confirmed at the moment of giving up is one of the two, never both', async () => {
  const { payments } = shop.server;
  for (let round = 0; round < 10; round += 1) {
    const [payment, session] = await challenged();
    await timePasses(payment);
    const [confirmed] = await Promise.all([
      shop.bank.answerChallenge(payment.id, true),
      payments.due(payment.id),
    ]);
    await payments.due(payment.id);
    const { status } = await shop.payment(payment.id);
    // The bank charged nothing: what is given up before it is confirmed stays so.
    expect(confirmed === null ? ['canceled'] : ['canceled', 'succeeded']).toContain(status);
    expect((await shop.checkoutAfter(session)).status).toBe(
      status === 'canceled' ? 'active' : 'paid',
    );
  }
});
