// Far more customers than actors may be in memory: memory stays bounded, and every answer is right.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Setting, tally, testBooksClose, times } from '../http/metering/setting.ts';

const ACTORS_MAX = 8;
const CUSTOMERS = 60;
/**
 * One round of the sweep gives each used actor a second chance, so a few more may be in memory for
 * a moment.
 */
const ACTORS_SEEN_MAX = ACTORS_MAX + 2;

let setting: Setting;
let customers: string[];
beforeAll(async () => {
  setting = await Setting.open({ actorsMax: ACTORS_MAX });
  await setting.meter('api');
  await setting.meter('users', { aggregation: 'unique', unique_property: 'user' });
  customers = await times(CUSTOMERS, (index) =>
    setting.customer({ external_customer_id: `customer ${index}` }),
  );
  await times(CUSTOMERS, (index) => setting.grant(customers[index]!, 'api', { amount: 1000 }));
});
afterAll(() => setting.stop());

test('the cache stays within its bound, and what was evicted is right again', async () => {
  setting.server.ledger.forgetAll();
  for (let round = 1; round <= 3; round += 1) {
    for (const customer of customers) {
      const { json } = await setting.track(customer, 'api');
      expect([json.consumed, json.balance]).toEqual([round, 1000 - round]);
      expect(setting.server.ledger.stats['actors']).toBeLessThanOrEqual(ACTORS_SEEN_MAX);
    }
  }
  expect(setting.server.ledger.stats['evicted']).toBeGreaterThanOrEqual(2 * CUSTOMERS);
});

test('keyed, late, unique and named calls under eviction: nothing is refused, all is counted', async () => {
  const before = await Promise.all(customers.map((id) => setting.consumed(id, 'api')));
  const start = Date.now();
  const replies = await times(CUSTOMERS * 20, async (index) => {
    const customer = customers[(index * 7) % CUSTOMERS]!;
    switch (index % 5) {
      case 0:
        return setting.track(customer, 'api', { idempotency_key: `storm ${index}` });
      case 1: {
        const timestamp = new Date(start - 86_400_000 - index * 1000).toISOString();
        return setting.ingest([{ name: 'api', customer_id: customer, timestamp }]);
      }
      case 2:
        return setting.track(customer, 'users', { metadata: { user: `user ${index % 3}` } });
      case 3: {
        const external = `customer ${(index * 7) % CUSTOMERS}`;
        return setting.post('/track', { feature_key: 'api', external_customer_id: external });
      }
      default:
        return setting.check(customer, 'api', { consume: true });
    }
  });
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: CUSTOMERS * 20 });
  const sum = (rows: readonly (readonly number[])[]) => rows.flat().reduce((a, b) => a + b, 0);
  const after = await Promise.all(customers.map((id) => setting.consumed(id, 'api')));
  expect(sum(after) - sum(before)).toBe((CUSTOMERS * 20 * 4) / 5);
  // All of them may have been in use at once, and so in memory; the next ones push them out.
  for (let i = 0; i < 3; i += 1) await setting.check(await setting.customer(), 'api');
  expect(setting.server.ledger.stats['actors']).toBeLessThanOrEqual(ACTORS_SEEN_MAX);
});

test('one key over and over while its customer is evicted is one event', async () => {
  const [customer, ...others] = customers as [string, ...string[]];
  const before = (await setting.consumed(customer, 'api')).reduce((a, b) => a + b, 0);
  const replies = await times(300, async (index) => {
    if (index % 3 > 0) return setting.check(others[index % others.length]!, 'api');
    return setting.track(customer, 'api', { idempotency_key: 'pushed out' });
  });
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 300 });
  const answers = new Set(replies.flatMap(({ json }) => (json.id === undefined ? [] : [json.id])));
  expect(answers.size).toBe(1);
  const consumed = await setting.consumed(customer, 'api');
  expect(consumed.reduce((a, b) => a + b, 0)).toBe(before + 1);
});

test('grants given and voided while their customers are evicted are right', async () => {
  const replies = await times(CUSTOMERS * 4, async (index) => {
    const customer = customers[index % CUSTOMERS]!;
    const body = { feature_key: 'api', amount: 1, idempotency_key: `pushed ${index % 120}` };
    const made = await setting.post(`/customers/${customer}/grants`, body);
    if (made.status !== 201) return made;
    return setting.server.call('POST', `/grants/${made.json.id}/void`);
  });
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: CUSTOMERS * 4 });
  for (const customer of customers.slice(0, 5)) {
    expect(await setting.balance(customer, 'api')).toMatchObject({ limit: 1000 });
  }
});

test('reservations made, extended and resolved while their customers are evicted are right', async () => {
  const before = await Promise.all(customers.map((id) => setting.consumed(id, 'api')));
  const limited = await times(CUSTOMERS, () => setting.customer());
  await times(CUSTOMERS, (index) => setting.grant(limited[index]!, 'api', { amount: 10 }));
  const open = await times(CUSTOMERS, async (index) => {
    const body = { feature_key: 'api', customer_id: limited[index], amount: 6 };
    return (await setting.post('/reservations', body)).json.id as string;
  });
  const extended = await times(CUSTOMERS, (index) =>
    setting.post(`/reservations/${open[index]}/extend`, { amount: 9 }),
  );
  expect(tally(extended.map(({ status }) => status))).toEqual({ 200: CUSTOMERS });
  const replies = await times(CUSTOMERS * 3, (index) => {
    const id = open[index % CUSTOMERS];
    return index % 2 === 0
      ? setting.post(`/reservations/${id}/commit`, { value: 4 })
      : setting.post(`/reservations/${id}/release`, {});
  });
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: CUSTOMERS * 3 });
  for (const [index, customer] of limited.entries()) {
    const used = index % 2 === 0 ? 4 : 0;
    expect((await setting.check(customer, 'api')).json).toMatchObject({
      consumed: used,
      reserved: 0,
      balance: 10 - used,
    });
  }
  expect(await Promise.all(customers.map((id) => setting.consumed(id, 'api')))).toEqual(before);
});

testBooksClose(() => setting);
