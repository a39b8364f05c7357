// Each reason from a real situation: the sentence, and what was in force.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Capped } from '../spend-cap/setting.ts';
import { type Club, DAY_MS, type Json } from '../subscriptions/subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let capped: Capped;
let club: Club;
beforeAll(async () => {
  capped = await Capped.open();
  ({ club } = capped);
});
afterAll(() => club.close());

/** What explains a no of now. */
async function why(customer: string, feature: string, value = 1): Promise<Json> {
  const body = { customer_id: customer, feature_key: feature, value };
  const reply = await club.post('/check', body);
  expect(reply.json.allowed).toBe(false);
  await club.shop.server.flush();
  const at = encodeURIComponent(new Date((await club.now()) + 1000).toISOString());
  const path = `/decisions?customer_id=${customer}&feature_key=${feature}&at=${at}`;
  const { status, json } = await club.shop.server.call('GET', path);
  expect(status).toBe(200);
  const [decision] = json.data as Json[];
  expect(decision).toMatchObject({ kind: 'check', allowed: false, reason: reply.json.reason });
  expect(decision.balance_after).toEqual({
    balance: reply.json.balance,
    limit: reply.json.limit,
    consumed: reply.json.consumed,
  });
  expect(json.state).toMatchObject({ decision_id: decision.id, customer_id: customer });
  return { ...json, decision };
}

const inForce = (json: Json): Json[] =>
  (json.state.grants as Json[]).filter(({ state }) => state === 'in_force');

test('a check is denied with insufficient_balance, with something left and with nothing', async () => {
  const plan = await club.plan({ limit: 10 });
  const subscription = await club.signUp(plan);
  const { customer_id: customer, id } = subscription;
  const more = await why(customer, plan.feature, 11);
  expect(more.decision.rule).toBe('10 of 10 were left, and 11 were asked for.');
  await club.track(subscription, plan, 10);
  const none = await why(customer, plan.feature);
  expect(none.decision).toMatchObject({
    reason: 'insufficient_balance',
    rule: 'Nothing was left: 10 of 10 were used. 1 was asked for.',
    value: 1,
    period_start: subscription.current_period_start,
    period_end: subscription.current_period_end,
  });
  expect(inForce(none)).toMatchObject([
    { source: 'subscription', amount: 10, subscription_id: id, suspended: null },
  ]);
  expect(none.state.subscriptions).toMatchObject([
    { id, status: 'active', blocked: false, status_now: 'active' },
  ]);
});

test('a check without a grant, or before it starts, is denied with not_entitled', async () => {
  const { feature } = await club.plan();
  const customer = await club.customer();
  const none = await why(customer, feature);
  expect(none.decision).toMatchObject({
    reason: 'not_entitled',
    rule: 'The customer had no grant of this feature.',
    balance_after: { balance: 0, limit: 0, consumed: 0 },
  });
  expect(none.state.grants).toEqual([]);
  const later = new Date((await club.now()) + DAY_MS).toISOString();
  const body = { feature_key: feature, amount: 5, effective_at: later };
  expect((await club.post(`/customers/${customer}/grants`, body)).status).toBe(201);
  const soon = await why(customer, feature);
  expect(soon.decision.reason).toBe('not_entitled');
  expect(soon.state.grants).toMatchObject([{ state: 'to_come', effective_at: later, amount: 5 }]);
});

test('a check after the last grant has ended is denied with expired', async () => {
  const { feature } = await club.plan();
  const customer = await club.customer();
  const expires = new Date((await club.now()) + DAY_MS).toISOString();
  const body = { feature_key: feature, amount: 5, expires_at: expires };
  expect((await club.post(`/customers/${customer}/grants`, body)).status).toBe(201);
  await club.advance('P2D');
  const { decision, state } = await why(customer, feature);
  expect(decision).toMatchObject({
    reason: 'expired',
    rule: 'Every grant of this feature had expired.',
  });
  expect(state.grants).toMatchObject([
    { state: 'over', ended_how: 'expired', ended_at: expires, amount: 5 },
  ]);
});

test('a check denied with subscription_paused still reads so after the resume', async () => {
  const plan = await club.plan({ limit: 10 });
  const subscription = await club.signUp(plan);
  const { customer_id: customer, id } = subscription;
  await club.act(id, 'pause');
  const paused = await why(customer, plan.feature);
  expect(paused.decision).toMatchObject({ reason: 'subscription_paused' });
  expect(paused.decision.rule).toContain('paused');
  await club.act(id, 'resume');
  const at = encodeURIComponent(paused.decision.at);
  const { json } = await club.shop.server.call(
    'GET',
    `/decisions?customer_id=${customer}&feature_key=${plan.feature}&at=${at}`,
  );
  expect(json.data[0].id).toBe(paused.decision.id);
  expect(inForce(json)).toMatchObject([{ suspended: 'paused' }]);
  expect(json.state.subscriptions).toMatchObject([{ status: 'paused', status_now: 'active' }]);
});

test('a check during dunning is denied with blocked', async () => {
  const plan = await club.plan({ limit: 10, interval: 'year' });
  const subscription = await club.signUp(plan, 'renewalFails');
  await club.advanceTo(Date.parse(subscription.current_period_end) + 14 * DAY_MS);
  const { decision, state } = await why(subscription.customer_id, plan.feature);
  expect(decision).toMatchObject({ reason: 'blocked' });
  expect(decision.rule).toContain('a payment was overdue');
  expect(state.subscriptions).toMatchObject([{ status: 'active', blocked: true }]);
  expect(state.grants[0]).toMatchObject({ state: 'in_force', suspended: 'blocked' });
});

test('a check beyond the spend cap is denied with spend_cap', async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.05', plan);
  await capped.track(customer, plan, 10);
  const { decision, ...json } = await why(customer, plan.feature, 6);
  expect(decision).toMatchObject({
    reason: 'spend_cap',
    rule: '10 of 10 were used. 6 were asked for, which would have cost more than was left of the spend cap.',
  });
  expect(inForce(json)).toMatchObject([{ is_sold: true }]);
});

test('a decision on recorded usage says: within the limit, past it, allowed overage, or no limit', async () => {
  const { feature } = await club.plan();
  const told = async (grants: object[], value: number): Promise<unknown[]> => {
    const customer = await club.customer();
    for (const grant of grants) {
      const body = { feature_key: feature, ...grant };
      expect((await club.post(`/customers/${customer}/grants`, body)).status).toBe(201);
    }
    const body = { customer_id: customer, feature_key: feature, value };
    const { id } = (await club.post('/track', body)).json;
    const { json } = await club.shop.server.call('GET', `/decisions?event_id=${id}`);
    const [decision, ...others] = json.data as Json[];
    expect(others).toEqual([]);
    expect(decision).toMatchObject({ kind: 'usage', allowed: true, event_id: id, value });
    expect(decision.balance_before.consumed + value).toBe(decision.balance_after.consumed);
    return [decision.reason, decision.rule];
  };
  expect(await told([{ amount: 10 }], 3)).toEqual([
    'ok',
    'It was within the limit: 7 of 10 were left after it.',
  ]);
  expect(await told([{ amount: 10 }], 12)).toEqual([
    'ok',
    'Usage is recorded in full, also past the limit: 12 of 10 were used after it.',
  ]);
  expect(await told([{ amount: 10, overage_allowed: true }], 12)).toEqual([
    'overage_allowed',
    'Usage over the limit was allowed: 12 of 10 were used after it.',
  ]);
  expect(await told([{ unlimited: true }], 12)).toEqual([
    'unlimited',
    'A grant without a limit was in force.',
  ]);
});

test('a decision lists the grants in force in their burn order', async () => {
  const { feature } = await club.plan();
  const customer = await club.customer();
  const soon = new Date((await club.now()) + DAY_MS).toISOString();
  for (const grant of [{ priority: 200 }, { priority: 50 }, { priority: 200, expires_at: soon }]) {
    const body = { feature_key: feature, amount: 1, ...grant };
    expect((await club.post(`/customers/${customer}/grants`, body)).status).toBe(201);
  }
  const json = await why(customer, feature, 4);
  expect(inForce(json).map((grant) => [grant.priority, grant.expires_at])).toEqual([
    [50, null],
    [200, soon],
    [200, null],
  ]);
});
