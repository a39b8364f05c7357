// A key belongs to its customer, whichever id names the customer and whichever route records the
// usage.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Fields, Setting, testBooksClose } from './setting.ts';

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api', { event_name: 'call' });
  await setting.meter('calls', { event_name: 'call', aggregation: 'count' });
});
afterAll(() => setting.stop());

type Who = { readonly customer_id: string } | { readonly external_customer_id: string };
type Customer = { readonly id: string; readonly byId: Who; readonly byName: Who };

let named = 0;
async function customer(): Promise<Customer> {
  named += 1;
  const name = `customer ${named}`;
  const id = await setting.customer({ external_customer_id: name });
  await setting.grant(id, 'api', { amount: 100 });
  return { id, byId: { customer_id: id }, byName: { external_customer_id: name } };
}

/**
 * Ways to send a usage of 3 under a key: whether the answer says that it counts now, and the
 * event's id, if it shows one.
 */
type Way = (who: Who, key: string) => Promise<{ readonly isNew: boolean; readonly id: unknown }>;

const post = async (path: string, body: Fields, headers = {}) => {
  const reply = await setting.post(path, body, { headers });
  expect(reply.status).toBe(200);
  return reply;
};
const usage = { feature_key: 'api', value: 3 };
const header = (key: string) => ({ 'idempotency-key': key });

const WAYS: Record<string, Way> = {
  async track(who, key) {
    const { json } = await post('/track', { ...who, ...usage, idempotency_key: key });
    return { isNew: json.duplicate === false, id: json.id };
  },
  async 'track by header'(who, key) {
    const { json, headers } = await post('/track', { ...who, ...usage }, header(key));
    return { isNew: headers.get('idempotency-replayed') === null, id: json.id };
  },
  async consume(who, key) {
    const body = { ...who, ...usage, consume: true, idempotency_key: key };
    const { headers } = await post('/check', body);
    return { isNew: headers.get('idempotency-replayed') === null, id: null };
  },
  async 'consume by header'(who, key) {
    const { headers } = await post('/check', { ...who, ...usage, consume: true }, header(key));
    return { isNew: headers.get('idempotency-replayed') === null, id: null };
  },
  async ingest(who, key) {
    const event = { ...who, name: 'call', value: 3, external_id: key };
    const { json } = await post('/events/ingest', { events: [event] });
    return { isNew: json.inserted === 1, id: json.events[0].id };
  },
  async 'ingest by header'(who, key) {
    const events = [{ ...who, name: 'call', value: 3 }];
    const { json } = await post('/events/ingest', { events }, header(key));
    return { isNew: json.inserted === 1, id: json.events[0].id };
  },
};

test.each(Object.keys(WAYS))(
  'by %s the same key of another customer is another event',
  async (way) => {
    const send = WAYS[way]!;
    const [one, other] = [await customer(), await customer()];
    const key = `key of ${way}`;
    const first = await send(one.byId, key);
    const again = await send(one.byName, key);
    const others = await send(other.byName, key);
    const othersAgain = await send(other.byId, key);
    const isNew = [first, again, others, othersAgain].map((sent) => sent.isNew);
    expect(isNew).toEqual([true, false, true, false]);
    expect([again.id, othersAgain.id]).toEqual([first.id, others.id]);
    if (first.id !== null) expect(others.id).not.toBe(first.id);
    expect(await setting.consumed(one.id, 'api')).toEqual([3]);
    expect(await setting.consumed(other.id, 'api')).toEqual([3]);
  },
);

test('a key sent by one operation and again by another is one event of each customer', async () => {
  for (const who of [await customer(), await customer()]) {
    const sent = [
      await WAYS['ingest']!(who.byName, 'mixed'),
      await WAYS['track']!(who.byId, 'mixed'),
    ];
    expect(sent.map(({ isNew }) => isNew)).toEqual([true, false]);
    expect(sent[1]!.id).toBe(sent[0]!.id);
    expect(await setting.consumed(who.id, 'api')).toEqual([3]);
  }
});

test('a key in one ingest counts once for each customer, with all the meters that it feeds', async () => {
  const [one, other] = [await customer(), await customer()];
  const event = { name: 'call', value: 3, external_id: 'in one call' };
  const events = [one.byId, other.byId, one.byName, other.byName].map((who) => ({
    ...event,
    ...who,
  }));
  for (const statuses of [
    ['inserted', 'inserted', 'duplicate', 'duplicate'],
    ['duplicate', 'duplicate', 'duplicate', 'duplicate'],
  ]) {
    const { json } = await post('/events/ingest', { events });
    const made = json.events as { id: string; status: string }[];
    expect(made.map(({ status }) => status)).toEqual(statuses);
    expect(made.map(({ id }) => id)).toEqual([0, 1, 0, 1].map((of) => made[of]!.id));
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
  }
  for (const { id } of [one, other]) {
    expect(await setting.consumed(id, 'api')).toEqual([3]);
    expect(await setting.consumed(id, 'calls')).toEqual([1]);
  }
});

testBooksClose(() => setting);
