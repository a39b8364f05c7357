// A paused subscription: what it grants meanwhile, and what resuming costs.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Club, DAY_MS } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

test('a resume within the paid period goes on in it, at no charge', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id } = subscription;
  await club.track(subscription, plan, 400);
  const paused = await club.act(id, 'pause');
  expect(paused).toMatchObject({ status: 'paused', resumes_at: null, keep_invoices: false });
  expect(paused.paused_at).toBeString();
  expect(await club.check(subscription, plan)).toMatchObject({
    allowed: false,
    reason: 'subscription_paused',
  });
  await club.advance('P10D');
  const resumed = await club.act(id, 'resume');
  expect(resumed).toEqual(subscription);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true, balance: 9600 });
  expect(await club.payments(id)).toHaveLength(1);
  const events = (await club.events(id)).slice(2);
  expect(events.map(({ type, data }) => [type, data.status, data.changes, data.previous])).toEqual([
    ['subscription.updated', 'paused', ['status'], { status: 'active' }],
    ['subscription.updated', 'active', ['status'], { status: 'paused' }],
  ]);
});

test('a resume after the paid period begins a new one, and charges it', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id } = subscription;
  await club.track(subscription, plan, 400);
  await club.act(id, 'pause');
  await club.advance('P3M');
  // Nothing was billed, and no date has moved.
  expect(await club.invoices(id)).toHaveLength(1);
  expect((await club.subscription(id)).current_period_end).toBe(subscription.current_period_end);
  const before = await club.now();
  const resumed = await club.act(id, 'resume');
  expect(resumed).toMatchObject({ status: 'active', paused_at: null });
  expect(Date.parse(resumed.current_period_start)).toBeGreaterThanOrEqual(before);
  expect(resumed.anchor_at).toBe(resumed.current_period_start);
  expect(await club.check(subscription, plan)).toMatchObject({
    allowed: true,
    balance: 10_000,
    period_start: resumed.current_period_start,
    resets_at: resumed.current_period_end,
  });
  const [, invoice] = await club.invoices(id);
  expect(invoice).toMatchObject({
    status: 'paid',
    total: '30.00',
    billing_reason: 'subscription_resume',
    period_start: resumed.current_period_start,
    period_end: resumed.current_period_end,
  });
  expect((await club.types(id)).slice(2)).toEqual([
    'subscription.updated',
    'payment.succeeded',
    'subscription.updated',
  ]);
  await club.advanceTo(resumed.current_period_end);
  expect(await club.payments(id)).toHaveLength(3);
});

test('a resume whose payment is declined leaves the subscription paused', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan, 'renewalFails');
  const { id } = subscription;
  await club.act(id, 'pause');
  await club.advance('P2M');
  const [status, type, message] = await club.refused(id, 'resume');
  expect([status, type]).toEqual([402, 'payment_failed']);
  expect(message).toMatch(/declined/);
  expect(await club.subscription(id)).toMatchObject({ status: 'paused', overdue_state: 'clear' });
  expect(await club.check(subscription, plan)).toMatchObject({ reason: 'subscription_paused' });
  const invoices = await club.invoices(id);
  expect(invoices.map((invoice) => invoice.status)).toEqual(['paid', 'void']);
  const failed = (await club.events(id)).at(-1);
  expect([failed.type, failed.data.nextAttemptAt]).toEqual(['payment.failed', null]);
  // Its payment is tried again.
  expect((await club.refused(id, 'resume'))[0]).toBe(402);
  expect(await club.payments(id)).toHaveLength(3);
});

test('a pause until a time resumes by itself, within the period and after it', async () => {
  const plan = await club.plan();
  for (const [days, charges] of [
    [10, 1],
    [45, 2],
  ] as const) {
    const subscription = await club.signUp(plan);
    const { id } = subscription;
    const at = new Date((await club.now()) + days * DAY_MS).toISOString();
    expect(await club.act(id, 'pause', { resumes_at: at })).toMatchObject({ resumes_at: at });
    await club.advanceTo(Date.parse(at) - 60_000);
    expect((await club.subscription(id)).status).toBe('paused');
    await club.advanceTo(at);
    const resumed = await club.subscription(id);
    expect(resumed).toMatchObject({ status: 'active', resumes_at: null, paused_at: null });
    expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
    expect(await club.payments(id)).toHaveLength(charges);
    if (charges === 2) expect(resumed.current_period_start).toBe(at);
  }
});

test('a pause that keeps invoices makes drafts, which the merchant finalises or voids', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id, current_period_end: end } = subscription;
  await club.act(id, 'pause', { keep_invoices: true });
  await club.advance('P2M');
  const [, first, second] = await club.invoices(id);
  for (const draft of [first, second]) {
    expect(draft).toMatchObject({ status: 'draft', number: null, total: '30.00' });
  }
  expect([first.period_start, second.period_start]).toEqual([end, first.period_end]);
  expect(await club.payments(id)).toHaveLength(1);
  expect((await club.subscription(id)).current_period_start).toBe(second.period_start);
  expect((await club.post(`/invoices/${first.id}/void`)).status).toBe(200);
  const { json: issued } = await club.post(`/invoices/${second.id}/finalize`);
  expect([issued.status, issued.amount_due]).toEqual(['open', '30.00']);
  const { status, json: paid } = await club.post(`/invoices/${second.id}/pay`);
  expect([status, paid.status]).toEqual([200, 'paid']);
  // The current period is paid.
  expect(await club.act(id, 'resume')).toMatchObject({
    status: 'active',
    keep_invoices: false,
    current_period_start: second.period_start,
  });
  expect(await club.payments(id)).toHaveLength(2);
});
