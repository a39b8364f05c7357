// An action that many callers send at once, that is cut off, or that is sent again: it happens
// once, and no connection is held for ever.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import type { Reply } from '../../support/server.ts';
import { Club, type Json } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

const times = <T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_none, index) => call(index)));
const act = (id: string, action: string, body?: object, key?: string): Promise<Reply> =>
  club.post(`/subscriptions/${id}/${action}`, body, {
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });

// prettier-ignore
const ACTIONS: [string, object | undefined, string[]][] = [
  // action     body                     events that it makes
  ['pause',     undefined,               ['subscription.updated']],
  ['cancel',    undefined,               ['subscription.canceled']],
  ['cancel',    { mode: 'immediate' },   ['subscription.canceled', 'subscription.expired']],
  ['change',    { quantity: 4 },         ['payment.succeeded', 'subscription.updated']],
];
test.each(ACTIONS)(
  'ten at once of one action on a subscription do it once: %s %j',
  async (action, body, types) => {
    const plan = await club.plan();
    const { id } = await club.signUp(plan);
    const replies = await times(10, () => act(id, action, body));
    for (const { status } of replies) expect([200, 409]).toContain(status);
    expect((await club.types(id)).slice(2)).toEqual(types);
    expect(await club.payments(id)).toHaveLength(types.includes('payment.succeeded') ? 2 : 1);
  },
);

test('ten at once of one action with one key get one answer', async () => {
  const plan = await club.plan();
  const { id } = await club.signUp(plan);
  const replies = await times(10, () => act(id, 'change', { quantity: 4 }, 'ten'));
  const answers = new Set(replies.map(({ status, text }) => `${status} ${text}`));
  expect(answers.size).toBe(1);
  expect((await club.types(id)).slice(2)).toEqual(['payment.succeeded', 'subscription.updated']);
});

test('ten resumes at once after the period pay for one', async () => {
  const plan = await club.plan();
  const { id } = await club.signUp(plan);
  await act(id, 'pause');
  await club.advance('P2M');
  const replies = await times(10, () => act(id, 'resume'));
  for (const { status } of replies) expect(status).toBe(200);
  expect(await club.subscription(id)).toMatchObject({ status: 'active' });
  expect(await club.payments(id)).toHaveLength(2);
});

test('forty starts of subscriptions at once, each with a key, all succeed', async () => {
  const plan = await club.plan();
  const customer = await club.cardholder();
  const body = { customer_id: customer, product_id: plan.productId };
  const replies = await times(40, (index) =>
    club.post('/subscriptions', body, { headers: { 'idempotency-key': `forty ${index % 20}` } }),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201));
  const started = new Set(replies.map(({ json }) => json.id));
  expect(started.size).toBe(20);
  for (const id of started) expect(await club.payments(id)).toHaveLength(1);
  // All of it, and at once.
  const { limit } = await club.check({ customer_id: customer }, plan);
  expect(limit).toBe(200_000);
});

test('a cancellation and a renewal at once are one of the two, whole', async () => {
  const plan = await club.plan({ interval: 'day' });
  const started = await times(8, () => club.signUp(plan));
  const [moved, ...replies] = await Promise.all([
    club.advance('P1D'),
    ...started.map(({ id }: Json) => act(id, 'cancel', { mode: 'immediate' })),
  ]);
  expect(moved).toBeUndefined();
  for (const { status } of replies) expect(status).toBe(200);
  for (const { id } of started) {
    const types = await club.types(id);
    expect(types.filter((type) => type === 'subscription.expired')).toHaveLength(1);
    const paid = (await club.payments(id)).filter(({ status }) => status === 'succeeded');
    expect(types.filter((type) => type === 'payment.succeeded')).toHaveLength(paid.length);
    for (const { status } of await club.invoices(id)) expect(['paid', 'void']).toContain(status);
  }
});

test('a subscription loaded again after each call is as it was', async () => {
  const plan = await club.plan();
  const { id, current_period_end: end, ...signedUp } = await club.signUp(plan, 'renewalFails');
  const { ledger } = club.shop.server;
  const steps = [
    () => club.act(id, 'pause', { keep_invoices: true }),
    () => club.act(id, 'resume'),
    () => club.act(id, 'cancel'),
    () => club.act(id, 'uncancel'),
    () => club.advanceTo(end),
    () => club.advance('P15D'),
  ];
  for (const step of steps) {
    ledger.forgetAll();
    await step();
  }
  ledger.forgetAll();
  expect(await club.subscription(id)).toMatchObject({ status: 'active', overdue_state: 'blocked' });
  expect(await club.check(signedUp, plan)).toMatchObject({ reason: 'blocked' });
  ledger.forgetAll();
  await club.advance('P7D');
  expect(await club.subscription(id)).toMatchObject({ status: 'canceled' });
});
