// Many concurrent callers on real connections: one customer's ceiling is never passed, and one key
// counts once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { postTo, restart, Setting, tally, testBooksClose, times } from './setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
});
afterAll(() => setting.stop());

test('of 2,000 checks at once that consume 75 of 500, exactly 6 are allowed', async () => {
  await setting.meter('credits');
  const customer = await setting.customer();
  await setting.grant(customer, 'credits', { amount: 500 });
  const replies = await times(2000, () =>
    setting.check(customer, 'credits', { consume: true, value: 75 }),
  );
  expect(tally(replies.map(({ status, json }) => `${status} ${json.reason}`))).toEqual({
    '200 ok': 6,
    '200 insufficient_balance': 1994,
  });
  expect(await setting.balance(customer, 'credits')).toMatchObject({ consumed: 450, balance: 50 });
  expect(await setting.consumed(customer, 'credits')).toEqual([450]);
});

test('of 1,000 tracks at once of 75 on a balance of 500 with overage: reject, exactly 6 are recorded', async () => {
  await setting.meter('rejected');
  const customer = await setting.customer();
  await setting.grant(customer, 'rejected', { amount: 500 });
  const replies = await times(1000, () =>
    setting.track(customer, 'rejected', { value: 75, overage: 'reject' }),
  );
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 6, 402: 994 });
  // Each accepted call saw a different remaining balance.
  const consumed = replies.flatMap(({ status, json }) => (status === 200 ? [json.consumed] : []));
  expect(consumed.toSorted((a, b) => a - b)).toEqual([75, 150, 225, 300, 375, 450]);
});

test('five tracks at once of 10 on a balance of 5 consume 50 and leave -45', async () => {
  await setting.meter('tokens');
  const customer = await setting.customer();
  await setting.grant(customer, 'tokens', { amount: 5 });
  const replies = await times(5, () => setting.track(customer, 'tokens', { value: 10 }));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const balances = replies.map(({ json }) => json.balance as number);
  expect(balances.toSorted((a, b) => b - a)).toEqual([-5, -15, -25, -35, -45]);
  expect(await setting.balance(customer, 'tokens')).toMatchObject({
    consumed: 50,
    balance: -45,
    remaining: 0,
    overage: 45,
  });
});

test('usage of 0.1 by many callers at once is exact', async () => {
  await setting.meter('tenths');
  const customer = await setting.customer();
  const replies = await times(40, () =>
    setting.ingest(
      Array.from({ length: 500 }, () => ({ name: 'tenths', customer_id: customer, value: 0.1 })),
    ),
  );
  expect(tally(replies.map(({ status, json }) => `${status} ${json.inserted}`))).toEqual({
    '200 500': 40,
  });
  expect((await setting.check(customer, 'tenths')).json.consumed).toBe(2000);
});

test('a customer whose row changes again and again is never refused usage', async () => {
  await setting.meter('changing');
  const customer = await setting.customer({ external_customer_id: 'before' });
  await setting.grant(customer, 'changing', { amount: 1000 });
  const calls = times(400, async (index) => {
    const key = { idempotency_key: `changing ${index % 200}` };
    if (index % 8 !== 7) return setting.track(customer, 'changing', key);
    const body = { external_customer_id: `name ${index}` };
    return setting.server.call('PATCH', `/customers/${customer}`, { body });
  });
  expect(tally((await calls).map(({ status }) => status))).toEqual({ 200: 400 });
  expect(await setting.consumed(customer, 'changing')).toEqual([175]);
});

test("a customer's external id that changes under load is in the answers after it", async () => {
  await setting.meter('renamed');
  const customer = await setting.customer({ external_customer_id: 'old' });
  const load = times(300, () => setting.track(customer, 'renamed'));
  const body = { external_customer_id: 'new' };
  const changed = setting.server.call('PATCH', `/customers/${customer}`, { body });
  await Promise.all([load, changed]);
  await setting.server.untilHeard();
  expect((await setting.track(customer, 'renamed')).json.external_customer_id).toBe('new');
  const byName = { external_customer_id: 'new', feature_key: 'renamed' };
  expect((await setting.post('/track', byName)).status).toBe(200);
  const byOldName = { external_customer_id: 'old', feature_key: 'renamed' };
  expect((await setting.post('/track', byOldName)).status).toBe(404);
});

testBooksClose(() => setting);

test('one key 100 times at once, after a restart, and by /events/ingest is one event', async () => {
  const own = await Setting.open({ alone: true });
  await own.meter('once', { event_name: 'once_event' });
  const customer = await own.customer();
  await own.grant(customer, 'once');
  const body = { customer_id: customer, feature_key: 'once', value: 3, idempotency_key: 'the key' };
  const first = await times(100, () => own.post('/track', body));
  expect(tally(first.map(({ status, json }) => `${status} ${json.duplicate}`))).toEqual({
    '200 false': 1,
    '200 true': 99,
  });
  const answers = first.map(({ json }) => ({ ...json, duplicate: true }));
  const [answer] = answers;
  expect(answers).toEqual(answers.map(() => answer));

  const again = await restart(own);
  try {
    const key = own.server.organisation.testKey;
    const second = await times(100, () => postTo(again.url, key, { path: '/track', body }));
    expect(second.map(({ json }) => json)).toEqual(second.map(() => answer));
    const events = [
      { name: 'once_event', customer_id: customer, value: 3, external_id: 'the key' },
    ];
    const third = await times(20, () =>
      postTo(again.url, key, { path: '/events/ingest', body: { events } }),
    );
    expect(third.map(({ json }) => json)).toEqual(
      third.map(() => ({
        inserted: 0,
        duplicates: 1,
        events: [{ index: 0, id: answer.id, external_id: 'the key', status: 'duplicate' }],
      })),
    );
    const headers = { 'idempotency-key': 'a request' };
    const byHeader = await postTo(again.url, key, { path: '/track', headers, body });
    expect(byHeader.json).toEqual({ ...answer, duplicate: false });
    const asked = { customer_id: customer, feature_key: 'once' };
    expect((await postTo(again.url, key, { path: '/check', body: asked })).json.consumed).toBe(3);
  } finally {
    await again.stop();
  }
  expect(await own.consumed(customer, 'once')).toEqual([3]);
  expect(await audit(own.server.sql)).toEqual([]);
  await own.stop();
});
