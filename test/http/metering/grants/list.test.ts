// GET /customers/{id}/grants: each grant as it stands, in the order in which they are used up.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, invalidAt, NOT_FOUND, refusal, Setting, testBooksClose } from '../setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  await setting.meter('seats');
});
afterAll(() => setting.stop());

const list = async (customer: string, query = ''): Promise<Fields[]> => {
  const path = `/customers/${encodeURIComponent(customer)}/grants${query}`;
  const { status, json } = await setting.server.call('GET', path);
  expect([status, json.error]).toEqual([200, undefined]);
  return json.data as Fields[];
};

test('GET of grants says what each was used for, what is left, and which start later', async () => {
  const customer = await setting.customer({ external_customer_id: 'a/b' });
  const later = new Date(Date.now() + 3_600_000).toISOString();
  await setting.grant(customer, 'api', { amount: 5, effective_at: later, priority: 1 });
  await setting.grant(customer, 'api', { amount: 2.5, expires_at: later, reason: 'sorry' });
  await setting.grant(customer, 'api', {
    amount: 10,
    reset_interval: 'month',
    rollover: { max: 3, expires_after_periods: 2 },
  });
  await setting.track(customer, 'api', { value: 4 });
  const rows = await list('a/b');
  expect(rows).toMatchObject([
    {
      source: 'top_up',
      amount: 2.5,
      used: 2.5,
      remaining: 0,
      expires_at: later,
      reason: 'sorry',
      status: 'active',
    },
    {
      source: 'manual',
      amount: 10,
      used: 1.5,
      remaining: 8.5,
      reset_interval: 'month',
      rollover: { max: 3, expires_after_periods: 2 },
    },
    {
      source: 'top_up',
      amount: 5,
      used: 0,
      remaining: 5,
      effective_at: later,
      priority: 1,
      status: 'scheduled',
    },
  ]);
  const [, allowance] = rows;
  const from = new Date(String(allowance?.['effective_at']));
  const renews = Date.parse(String(allowance?.['renews_at']));
  expect(renews - from.getTime()).toBeGreaterThanOrEqual(28 * 86_400_000);
  // The parts of what is active are the balance.
  expect((await setting.balance(customer, 'api'))?.['remaining']).toBe(8.5);
});

test('GET of grants: the usage of an unlimited one, of one feature, by the other id', async () => {
  const customer = await setting.customer();
  await setting.grant(customer, 'seats', { unlimited: true });
  await setting.grant(customer, 'api');
  await setting.track(customer, 'seats', { value: 7 });
  expect((await list(customer)).map((row) => row['feature_key'])).toEqual(['api', 'seats']);
  expect(await list(customer, '?feature_key=seats')).toMatchObject([
    { unlimited: true, amount: null, used: 7, remaining: null },
  ]);
  expect(await list(customer, '?feature_key=none')).toEqual([]);
});

test('GET of grants has none that have ended', async () => {
  const customer = await setting.customer();
  const { id } = await setting.grant(customer, 'api');
  await setting.server.call('POST', `/grants/${String(id)}/void`);
  expect(await list(customer)).toEqual([]);
});

test("GET of grants is 404 for another organisation's customer, 400 for an unknown field", async () => {
  const customer = await setting.customer();
  const path = `/customers/${customer}/grants`;
  const key = setting.server.other.testKey;
  expect(refusal(await setting.server.call('GET', path, { key }))).toEqual(NOT_FOUND);
  expect(refusal(await setting.server.call('GET', `${path}?feature=api`))).toEqual(
    invalidAt(['feature']),
  );
});

testBooksClose(() => setting);
