// usage.recorded: who gets it, for which usage, and its fields.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Call } from '../../support/server.ts';
import { type Fields, Setting, testBooksClose, times } from './setting.ts';

const URL = 'https://example.com/hook';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
});
afterAll(() => setting.stop());

/** An endpoint that subscribes to these; its id. */
async function subscribe(eventTypes: readonly string[] | null, call: Call = {}): Promise<string> {
  const body = { url: URL, ...(eventTypes && { event_types: eventTypes }) };
  const { status, json } = await setting.post('/webhook-endpoints', body, call);
  expect(status).toBe(201);
  return json.id;
}

const unsubscribe = (id: string) => setting.server.call('DELETE', `/webhook-endpoints/${id}`);

/** Those of one customer, in the order of recording. */
async function told(customer: string): Promise<Fields[]> {
  const rows = await setting.server.sql<{ id: string }[]>`
    select id from events where account_id = ${customer} and type = 'usage.recorded' order by id`;
  return Promise.all(
    rows.map(async ({ id }) => (await setting.server.call('GET', `/events/${id}`)).json.data),
  );
}

const toldOnce = async (customer: string): Promise<Fields> => {
  const [event, ...rest] = await told(customer);
  expect(rest).toEqual([]);
  return event ?? {};
};

describe('usage.recorded is written only with a subscribed endpoint', () => {
  beforeAll(() => setting.meter('asked'));

  test('is not written where no endpoint subscribes', async () => {
    const customer = await setting.customer();
    await setting.track(customer, 'asked');
    expect(await told(customer)).toEqual([]);
  });

  // prettier-ignore
  const SUBSCRIBERS: [string, readonly string[] | null, () => Call, number][] = [
    ['by name',                       ['usage.recorded'],                     () => ({}),                                       1],
    ['by name among others',          ['tag.created', 'usage.recorded'],      () => ({}),                                       1],
    ['all',                           ['*'],                                  () => ({}),                                       1],
    ['what an endpoint gets unasked', null,                                   () => ({}),                                       0],
    ['something else',                ['entitlement.exhausted'],              () => ({}),                                       0],
    ['the other mode',                ['*'],                                  () => ({ key: setting.server.organisation.liveKey }),  0],
    ['another organisation',          ['*'],                                  () => ({ key: setting.server.other.testKey }),    0],
  ];
  test.each(SUBSCRIBERS)('is written for: %s', async (_what, types, call, count) => {
    const customer = await setting.customer();
    const endpoint = await subscribe(types, call());
    await setting.track(customer, 'asked');
    expect(await told(customer)).toHaveLength(count);
    const { status } = await setting.server.call(
      'DELETE',
      `/webhook-endpoints/${endpoint}`,
      call(),
    );
    expect(status).toBe(204);
    await setting.track(customer, 'asked');
    expect(await told(customer)).toHaveLength(count);
  });

  test("is written for a group's endpoint, of its members", async () => {
    const customer = await setting.customer();
    const body = { url: URL, event_types: ['*'] };
    const call = { key: setting.server.group.testKey };
    const { json } = await setting.post('/partner/webhook-endpoints', body, call);
    await setting.track(customer, 'asked');
    expect(await told(customer)).toHaveLength(1);
    await setting.server.call('DELETE', `/partner/webhook-endpoints/${json.id}`, call);
    await setting.track(customer, 'asked');
    expect(await told(customer)).toHaveLength(1);
  });
});

describe('usage.recorded with a subscribed endpoint', () => {
  let endpoint: string;
  let meterId: string;
  beforeAll(async () => {
    endpoint = await subscribe(['usage.recorded']);
    meterId = await setting.meter('used', { scale: 2, event_name: 'use' });
    await setting.meter('also-used', { event_name: 'use' });
    await setting.meter('most', { aggregation: 'max' });
  });
  afterAll(() => unsubscribe(endpoint));

  const sent = { value: 2.5, idempotency_key: 'order-1', metadata: { region: 'eu' } };

  test('has every field of a /track', async () => {
    const customer = await setting.customer({ external_customer_id: 'u-1' });
    await setting.grant(customer, 'used', { amount: 10 });
    const { json: tracked } = await setting.track(customer, 'used', sent);
    const { id, timestamp, ...data } = await toldOnce(customer);
    expect([id, timestamp]).toEqual([expect.any(String), expect.any(String)]);
    expect(data).toEqual({
      eventType: 'usage.recorded',
      objectId: tracked.id,
      objectType: 'USAGE',
      accountId: customer,
      organizationId: setting.server.organisation.id,
      mode: 'test',
      sequence: 1,
      customerId: customer,
      externalCustomerId: 'u-1',
      featureKey: 'used',
      meterId,
      count: 1,
      value: 2.5,
      consumed: 2.5,
      balance: 7.5,
      usageEventId: tracked.id,
      idempotencyKey: 'order-1',
      externalId: null,
      metadata: { region: 'eu' },
      occurredAt: tracked.timestamp,
    });
  });

  test("has the key of a track's header, and null for what was not sent", async () => {
    const customer = await setting.customer();
    await setting.track(customer, 'used', {}, { headers: { 'idempotency-key': 'by header' } });
    expect(await toldOnce(customer)).toMatchObject({
      idempotencyKey: 'by header',
      externalId: null,
      externalCustomerId: null,
      metadata: null,
      balance: -1,
    });
  });

  test('is written once for each call, never for a repetition or a refusal', async () => {
    const customer = await setting.customer();
    await setting.grant(customer, 'used', { amount: 3 });
    for (let n = 0; n < 3; n += 1) {
      await setting.track(customer, 'used', { idempotency_key: `once ${customer}` });
    }
    await setting.track(customer, 'used', { value: 5, overage: 'reject' });
    const refused = { value: 5, overage: 'reject', idempotency_key: `no ${customer}` };
    for (let n = 0; n < 2; n += 1) {
      expect((await setting.track(customer, 'used', refused)).status).toBe(402);
    }
    await setting.track(customer, 'used', { value: -1 });
    const events = await told(customer);
    expect(events.map(({ value, balance }) => [value, balance])).toEqual([
      [1, 2],
      [-1, 3],
    ]);
  });

  test('is written for a /check with consume that is allowed', async () => {
    const customer = await setting.customer();
    await setting.grant(customer, 'used', { amount: 3 });
    const key = { idempotency_key: `consumed ${customer}` };
    await setting.check(customer, 'used', { consume: true, value: 2, ...key });
    await setting.check(customer, 'used', { consume: true, value: 2 });
    await setting.check(customer, 'used', { value: 1 });
    expect(await toldOnce(customer)).toMatchObject({ value: 2, balance: 1, ...camel(key) });
  });

  const camel = ({ idempotency_key: idempotencyKey }: { idempotency_key: string }) => ({
    idempotencyKey,
  });

  test('is written once for each customer and meter of an ingest, with the number of events', async () => {
    const [one, two] = [await setting.customer(), await setting.customer()];
    await setting.grant(one, 'used', { amount: 10 });
    const reply = await setting.ingest([
      { name: 'use', customer_id: one, value: 1, external_id: `first ${one}` },
      { name: 'use', customer_id: two, value: 5 },
      {
        name: 'use',
        customer_id: one,
        value: 1.5,
        external_id: `second ${one}`,
        metadata: { n: '2' },
      },
      { name: 'most', customer_id: one, value: 7 },
      { name: 'most', customer_id: one, value: 3 },
    ]);
    expect(reply.json.inserted).toBe(5);
    const of = async (customer: string) =>
      Object.fromEntries((await told(customer)).map((event) => [event['featureKey'], event]));
    const [ones, twos] = [await of(one), await of(two)];
    expect(Object.keys(ones).sort()).toEqual(['also-used', 'most', 'used']);
    expect(Object.keys(twos).sort()).toEqual(['also-used', 'used']);
    expect(ones['used']).toMatchObject({
      count: 2,
      value: 2.5,
      consumed: 2.5,
      balance: 7.5,
      usageEventId: reply.json.events[2].id,
      objectId: reply.json.events[2].id,
      externalId: `second ${one}`,
      idempotencyKey: null,
      metadata: { n: '2' },
    });
    expect(ones['also-used']).toMatchObject({ count: 2, value: 2.5, sequence: 1 });
    expect(ones['most']).toMatchObject({ count: 2, value: 7, consumed: 7 });
    expect(twos['used']).toMatchObject({ count: 1, value: 5, consumed: 5, externalId: null });
  });

  test('is written for the new events of an ingest sent again, and not where there are none', async () => {
    const customer = await setting.customer();
    const event = (n: number) => ({
      name: 'used',
      customer_id: customer,
      external_id: `${customer} ${n}`,
    });
    await setting.meter('used-alone', { event_name: 'used' });
    await setting.ingest([event(1), event(2)]);
    const { json } = await setting.ingest([event(1), event(2), event(3), event(3)]);
    expect(json).toMatchObject({ inserted: 1, duplicates: 3 });
    await setting.ingest([event(1), event(2), event(3)]);
    const events = await told(customer);
    expect(events.map(({ count, consumed }) => [count, consumed])).toEqual([
      [2, 2],
      [1, 3],
    ]);
  });

  test('is not written for an ingest that is refused', async () => {
    const customer = await setting.customer();
    await setting.meter('big', { scale: 0 });
    const event = { name: 'big', customer_id: customer, value: 9e14 };
    expect((await setting.ingest([event, event])).status).toBe(400);
    expect(await told(customer)).toEqual([]);
  });

  test('is written for 500 usages of a counting meter whose sum is too great for one', async () => {
    const customer = await setting.customer();
    await setting.meter('counted', { aggregation: 'count', scale: 0 });
    const event = { name: 'counted', customer_id: customer, value: 999_999_999_999_999 };
    const reply = await setting.ingest(Array.from({ length: 500 }, () => event));
    expect(reply.json.inserted).toBe(500);
    expect(await toldOnce(customer)).toMatchObject({ count: 500, value: null, consumed: 500 });
  });

  test('is written once for each of many calls at once, with every balance between', async () => {
    const customer = await setting.customer();
    await setting.grant(customer, 'used', { amount: 100 });
    await times(100, (n) =>
      setting.track(customer, 'used', { idempotency_key: `${customer} ${n % 60}` }),
    );
    const balances = (await told(customer)).map(({ balance }) => balance as number);
    expect(balances.sort((a, b) => b - a)).toEqual(Array.from({ length: 60 }, (_, n) => 99 - n));
  });
});

testBooksClose(() => setting);
