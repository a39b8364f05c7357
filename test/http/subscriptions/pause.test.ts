// A paused subscription: what it grants meanwhile, and what resuming costs.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { NUMBERS } from '../../support/means.ts';
import { portalOf } from '../portal/customer.ts';
import { Club, DAY_MS, type Json } from './subscribing.ts';

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

/** Paused, with the draft of the period that began then, which was finalised. */
async function finalised(id: string): Promise<Json> {
  await club.act(id, 'pause', { keep_invoices: true });
  await club.advanceTo((await club.subscription(id)).current_period_end);
  const { id: draft } = (await club.invoices(id)).at(-1);
  return (await club.post(`/invoices/${draft}/finalize`)).json;
}

test('a resume in a period whose draft was declined is not free: it is charged, and declined', async () => {
  const { id } = await club.signUp(await club.plan(), 'renewalFails');
  const { id: draft } = await finalised(id);
  expect((await club.post(`/invoices/${draft}/pay`)).status).toBe(402);
  const preview = (await club.post(`/subscriptions/${id}/resume/preview`)).json;
  expect(preview).toMatchObject({ total: '30.00', waits_for_payment: true });
  expect((await club.refused(id, 'resume')).slice(0, 2)).toEqual([402, 'payment_failed']);
  expect(await club.subscription(id)).toMatchObject({ status: 'paused', overdue_state: 'warning' });
  const invoices = await club.invoices(id);
  expect(invoices.map(({ status }) => status)).toEqual(['paid', 'open', 'void']);
});

test('a resume in a period whose draft was declined begins a new one in its place', async () => {
  const plan = await club.plan();
  const { subscription_id: id } = await club.pay(await club.checkout(plan), 'iban');
  await club.shop.settle();
  const draft = await finalised(id);
  expect((await club.post(`/invoices/${draft.id}/pay`)).status).toBe(202);
  // The bank will say no.
  await club.shop.server.sql`
    update sandbox_charges set next_status = 'declined', failure_code = 'card_declined', failure_message = 'No.'
    where key = ${(await club.payments(id)).at(-1).id}`;
  await club.shop.settle();
  expect(await club.subscription(id)).toMatchObject({ status: 'paused', overdue_state: 'warning' });
  const { pending_change: pending } = await club.act(id, 'resume');
  expect(pending).toMatchObject({ invoice_id: expect.any(String) });
  await club.shop.settle();
  expect(await club.subscription(id)).toMatchObject({
    status: 'active',
    overdue_state: 'clear',
    current_period_start: pending.since,
    next_retry_at: null,
  });
  const invoices = await club.invoices(id);
  expect(invoices.map(({ status, billing_reason: reason }) => [status, reason])).toEqual([
    ['paid', 'subscription_create'],
    ['void', 'subscription_cycle'],
    ['paid', 'subscription_resume'],
  ]);
  const payments = await club.payments(id);
  expect(payments.map(({ status }) => status)).toEqual(['succeeded', 'failed', 'succeeded']);
});

/** What has become of it that its merchant, and its customer, hear of. */
async function heard(id: string, customer: string) {
  const { status, overdue_state: overdue, next_retry_at: next } = await club.subscription(id);
  const last = (await club.invoices(id)).at(-1);
  const customers = await club.events(customer);
  const changes = customers.filter(({ type }) => type === 'subscription.overdue_changed');
  return {
    status,
    overdue,
    retriedIn: next === null ? null : Date.parse(next) - Date.parse(last.period_start),
    invoice: [last.status, last.total],
    told: changes.map(({ data }) => [data.previousState, data.overdueState, data.balance]),
  };
}

// prettier-ignore
test.each([
  ['a renewal',               null],
  ['a resume at its time',    { keep_invoices: false }],
  ['one in a time of drafts', { keep_invoices: true }],
])('%s without a payment method leaves what is owed, is told of, and is tried again', async (_what, pause) => {
  const plan = await club.plan();
  const customer = await club.customer();
  const days = 10;
  const trial_days = pause === null ? days : 5;
  const { id } = await club.subscribe(plan, customer, { trial_days });
  const at = new Date((await club.now()) + days * DAY_MS).toISOString();
  if (pause !== null) await club.act(id, 'pause', { resumes_at: at, ...pause });
  await club.advanceTo(Date.parse(at) + 60_000);
  const owed = {
    status: 'active',
    overdue: 'warning',
    invoice: ['open', '30.00'],
    told: [['clear', 'warning', '30.00']],
  };
  const first = await heard(id, customer);
  expect(first).toMatchObject(owed);
  expect(Math.round(first.retriedIn! / DAY_MS)).toBe(1);
  await club.advance('P1D');
  expect(Math.round((await heard(id, customer)).retriedIn! / DAY_MS)).toBe(3);
  const portal = await portalOf(club.shop.server, customer);
  expect((await portal.saveCard(NUMBERS.good)).status).toBe(303);
  expect(await heard(id, customer)).toMatchObject({
    status: 'active',
    overdue: 'clear',
    invoice: ['paid', '30.00'],
    told: [['clear', 'warning', '30.00'], ['warning', 'clear', null]],
  });
});

test('a resume at its time whose payment is declined is in dunning, as a renewal', async () => {
  const { id, customer_id: customer } = await club.signUp(await club.plan(), 'renewalFails');
  const at = new Date((await club.now()) + 45 * DAY_MS).toISOString();
  await club.act(id, 'pause', { resumes_at: at });
  await club.advanceTo(Date.parse(at) + 60_000);
  expect(await heard(id, customer)).toMatchObject({ status: 'active', overdue: 'warning' });
  const failed = (await club.events(id)).at(-1);
  expect([failed.type, failed.data.attempt, failed.data.nextAttemptAt === null]).toEqual([
    'payment.failed',
    1,
    false,
  ]);
});
