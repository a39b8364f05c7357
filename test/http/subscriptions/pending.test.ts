// A change that a bank debit pays takes days: it is shown while it waits, and can be taken back.
// What is paid of it all the same is refunded in full.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { portalOf } from '../portal/customer.ts';
import { Club, type Json, type Plan } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
// It audits.
afterAll(() => club.close());

type Waiting = {
  readonly plan: Plan;
  readonly id: string;
  readonly dearer: string;
  readonly shown: Json;
};

/** The subscription that begins when its debit has settled. */
async function signUp(plan: Plan): Promise<string> {
  return (await club.pay(await club.checkout(plan), 'iban')).subscription_id;
}

async function debited(plan: Plan): Promise<Json> {
  const id = await signUp(plan);
  await club.shop.settle();
  return club.subscription(id);
}

/** Changed to a dearer price, whose payment has not settled. */
async function waiting(): Promise<Waiting> {
  const plan = await club.plan();
  const { id } = await debited(plan);
  const dearer = await club.price(plan, { amount: '90.00' });
  const shown = await club.act(id, 'change', { price_id: dearer });
  return { plan, id, dearer, shown };
}

const updates = async (id: string) =>
  (await club.events(id))
    .filter(({ type }) => type === 'subscription.updated')
    .map(({ data }) => [data.changes, data.pendingChange?.priceId ?? null]);

/** The payment of the change, once all of it is given back. */
async function givenBack(paymentId: string): Promise<Json> {
  return club.shop.paymentThatIs('refunded', paymentId);
}

describe('a change that waits for its payment', () => {
  test('is shown with what it waits for, and told; paid, it begins', async () => {
    const { plan, id, dearer, shown } = await waiting();
    const payment = (await club.payments(id)).at(-1);
    const pending = {
      price_id: dearer,
      quantity: 1,
      invoice_id: payment.invoice_id,
      payment_id: payment.id,
      since: expect.any(String),
    };
    expect(shown).toMatchObject({ price_id: plan.priceId, pending_change: pending });
    expect((await club.subscription(id)).pending_change).toEqual(shown.pending_change);
    expect(await updates(id)).toEqual([[['pendingChange'], dearer]]);
    await club.shop.settle();
    expect(await club.subscription(id)).toMatchObject({ price_id: dearer, pending_change: null });
    expect((await updates(id)).at(-1)).toEqual([
      ['plan', 'priceId', 'amount', 'pendingChange'],
      null,
    ]);
  });

  test('is why a pause or another change is refused', async () => {
    const { id, shown } = await waiting();
    const { since, payment_id: paymentId } = shown.pending_change;
    const why = `a change has waited since ${since} for the payment ${paymentId}; unschedule takes it back`;
    for (const [action, body] of [
      ['pause', undefined],
      ['change', { quantity: 3 }],
    ] as const) {
      expect(await club.refused(id, action, body)).toEqual([
        409,
        'invalid_state',
        `it cannot ${action} now: ${why}; legal now: cancel, uncancel, resume, unschedule`,
      ]);
    }
    const preview = await club.post(`/subscriptions/${id}/change/preview`, { quantity: 3 });
    expect([preview.status, preview.json.error.message]).toEqual([
      409,
      expect.stringContaining(why),
    ]);
    await club.shop.settle();
  });

  test('is taken back by unschedule: what settles later is refunded, and credited to nobody', async () => {
    const { plan, id, dearer, shown } = await waiting();
    const { payment_id: paymentId, invoice_id: invoiceId } = shown.pending_change;
    const back = await club.act(id, 'unschedule');
    expect(back).toMatchObject({ price_id: plan.priceId, pending_change: null, status: 'active' });
    expect((await club.shop.payment(paymentId)).status).toBe('processing');
    expect((await club.shop.read(`/invoices/${invoiceId}`)).status).toBe('open');
    expect((await club.refused(id, 'unschedule')).slice(0, 2)).toEqual([409, 'invalid_state']);
    await club.shop.settle();
    const { amount } = await givenBack(paymentId);
    expect(await club.shop.read(`/invoices/${invoiceId}`)).toMatchObject({
      status: 'paid',
      amount_paid: amount,
      amount_refunded: amount,
    });
    expect(await club.subscription(id)).toMatchObject({ price_id: plan.priceId, status: 'active' });
    expect(await updates(id)).toEqual([
      [['pendingChange'], dearer],
      [['pendingChange'], null],
    ]);
    const { current_period_start: start, current_period_end: end } = await club.subscription(id);
    // The next change credits the rest of what was paid for the month: the refund was of something
    // else.
    await club.advanceTo((Date.parse(start) + Date.parse(end)) / 2);
    const next = { price_id: await club.price(plan, { amount: '60.00' }) };
    const { lines } = (await club.post(`/subscriptions/${id}/change/preview`, next)).json;
    expect(lines[0].amount).toBe('-15.00');
    // The renewal costs what it did before.
    await club.advanceTo(end);
    expect((await club.invoices(id)).at(-1)).toMatchObject({
      billing_reason: 'subscription_cycle',
      total: '30.00',
    });
    await club.shop.settle();
  });

  test.each([
    ['at_period_end', 'active', true],
    ['immediate', 'canceled', false],
  ])('is taken back by a cancel %s', async (mode, status, atEnd) => {
    const { id, shown } = await waiting();
    const { payment_id: paymentId } = shown.pending_change;
    expect(await club.act(id, 'cancel', { mode })).toMatchObject({
      status,
      cancel_at_period_end: atEnd,
      pending_change: null,
    });
    await club.shop.settle();
    await givenBack(paymentId);
    expect(await club.subscription(id)).toMatchObject({ status, cancel_at_period_end: atEnd });
    const types = await club.types(id);
    expect(types.filter((type) => type === 'payment.succeeded')).toHaveLength(2);
    expect(types).toContain('subscription.canceled');
  });

  test('and fails after it was taken back leaves a void invoice, and nothing overdue', async () => {
    const plan = await club.plan();
    const { id } = await debited(plan);
    const dearer = await club.price(plan, { amount: '90.00' });
    const { pending_change: pending } = await club.act(id, 'change', { price_id: dearer });
    await club.act(id, 'unschedule');
    // The bank will say no.
    await club.shop.server.sql`
      update sandbox_charges set next_status = 'declined', failure_code = 'card_declined', failure_message = 'No.'
      where key = ${pending.payment_id}`;
    await club.shop.settle();
    expect((await club.shop.payment(pending.payment_id)).status).toBe('failed');
    expect((await club.shop.read(`/invoices/${pending.invoice_id}`)).status).toBe('void');
    expect(await club.subscription(id)).toMatchObject({
      price_id: plan.priceId,
      overdue_state: 'clear',
    });
  });

  test('with usage that was cut for it: the usage is billed once, with the renewal', async () => {
    const plan = await club.plan({ limit: 10 });
    const usage = {
      feature_key: plan.feature,
      currency: 'USD',
      model: 'per_unit',
      unit_amount: '1.00',
    };
    await club.post(`/products/${plan.productId}/usage-prices`, usage);
    const subscription = await debited(plan);
    const { id } = subscription;
    await club.track(subscription, plan, 15);
    const dearer = await club.price(plan, { amount: '90.00' });
    const { pending_change: pending } = await club.act(id, 'change', { price_id: dearer });
    await club.act(id, 'unschedule');
    await club.shop.settle();
    const { amount } = await givenBack(pending.payment_id);
    expect(Number(amount)).toBeGreaterThan(60);
    const { current_period_end: end } = await club.subscription(id);
    await club.advanceTo(end);
    expect((await club.invoices(id)).at(-1)).toMatchObject({ total: '35.00' });
    await club.shop.settle();
  });
});

test.each(['unschedule', 'cancel'])(
  'a %s beside the settlement: one or the other, and the money is exact',
  async (action) => {
    const plan = await club.plan();
    const dearer = await club.price(plan, { amount: '90.00' });
    const debits = [await signUp(plan), await signUp(plan), await signUp(plan), await signUp(plan)];
    await club.shop.settle();
    const all = await Promise.all(debits.map((id) => club.act(id, 'change', { price_id: dearer })));
    const body = action === 'cancel' ? { mode: 'immediate' } : undefined;
    const answers = await Promise.all([
      ...all.map(({ id }) => club.post(`/subscriptions/${id}/${action}`, body)),
      club.shop.settle(),
    ]);
    await club.shop.settle();
    for (const [n, { id, pending_change: pending }] of all.entries()) {
      const answer = answers[n];
      if (answer === undefined) throw new Error('an answer');
      const { payment_id: paymentId } = pending;
      const { price_id: price } = await club.subscription(id);
      // Begun, it is not given back; taken back, it is.
      if (price === dearer) {
        expect(answer.status).toBe(action === 'cancel' ? 200 : 409);
        expect((await club.shop.payment(paymentId)).status).toBe('succeeded');
      } else {
        expect(answer.status).toBe(200);
        await givenBack(paymentId);
      }
    }
  },
);

describe('in the portal', () => {
  test('a change that waits is shown, and is taken back by its button', async () => {
    const { id, shown } = await waiting();
    const portal = await portalOf(club.shop.server, shown.customer_id);
    const page = (await portal.get()).text;
    expect(page).toContain('has waited for its payment since');
    expect(page).toContain('Undo change');
    const confirm = await portal.get(`unschedule?subscription_id=${id}`);
    expect(confirm.text).toContain('the whole payment is refunded');
    const cancels = await portal.get(`cancel?subscription_id=${id}`);
    expect(cancels.text).toContain('The change that waits for its payment is undone');
    const done = await portal.submit('unschedule', { subscription_id: id });
    expect(done.status).toBe(303);
    expect((await portal.get()).text).not.toContain('Undo change');
    const again = await portal.post('unschedule', { subscription_id: id });
    expect([again.status, again.json.error.type]).toEqual([409, 'invalid_state']);
    await club.shop.settle();
    await givenBack(shown.pending_change.payment_id);
  });
});

test('a change that a card pays at once is not told to wait', async () => {
  const plan = await club.plan();
  const { id } = await club.subscribe(plan, await club.cardholder());
  const dearer = await club.price(plan, { amount: '90.00' });
  expect((await club.act(id, 'change', { price_id: dearer })).pending_change).toBeNull();
  expect(await updates(id)).toEqual([[['plan', 'priceId', 'amount'], null]]);
});
