// The webhooks of the fake, as a receiver meets them.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import Stripe from 'stripe';
import { until } from '../../support/until.ts';
import { openStripeFake, type StripeFake } from './fake.ts';
import { errorOf, openShop, type Shop } from './shop.ts';

type Received = { readonly body: string; readonly signature: string };

let fake: StripeFake;
let shop: Shop;
let received: Received[] = [];
let status = 200;
let endpoint: Stripe.WebhookEndpoint;
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const signature = request.headers.get('stripe-signature') ?? '';
    received.push({ body: await request.text(), signature });
    return new Response(null, { status });
  },
});

beforeAll(async () => {
  fake = await openStripeFake();
});
beforeEach(async () => {
  shop = openShop(fake);
  received = [];
  endpoint = await shop.stripe.webhookEndpoints.create({
    url: receiver.url.href,
    enabled_events: ['checkout.session.completed', 'payment_intent.succeeded', 'refund.created'],
  });
});
afterEach(async () => {
  fake.webhooks.mode = 'on';
  status = 200;
  await shop.stripe.webhookEndpoints.del(endpoint.id);
  await fake.webhooks.idle();
});
afterAll(async () => {
  await fake.close();
  await receiver.stop(true);
});

async function pays(): Promise<string> {
  const { id, url } = await shop.session({ payment_intent_data: { metadata: { key: 'mine' } } });
  await fake.buyer.pays(url, '4242424242424242');
  return (await shop.intentOf(id)).id;
}
const verified = ({ body, signature }: Received, secret = endpoint.secret ?? '') =>
  shop.stripe.webhooks.constructEventAsync(body, signature, secret);
const types = (): Promise<string[]> =>
  Promise.all(received.map(async (one) => (await verified(one)).type));

describe('a webhook event of the fake Stripe', () => {
  test('is signed so that the package takes it, with what it is about', async () => {
    const id = await pays();
    await until('both are here', () => received.length === 2);
    const events = await Promise.all(received.map((one) => verified(one)));
    const event = events.find(({ type }) => type === 'payment_intent.succeeded');
    if (event?.type !== 'payment_intent.succeeded') throw new Error('no event');
    expect(event.data.object).toMatchObject({ id, metadata: { key: 'mine' } });
    expect(event).toMatchObject({ livemode: false, api_version: Stripe.API_VERSION });
    const found = await shop.stripe.events.retrieve(event.id);
    expect(found.id).toBe(event.id);
    const { data } = await shop.stripe.events.list({ type: 'payment_intent.succeeded' });
    expect(data.map((one) => one.id)).toEqual([event.id]);
  });

  test('is held, and comes in any order, or twice', async () => {
    fake.webhooks.mode = 'hold';
    await pays();
    expect(received).toEqual([]);
    await fake.webhooks.release('reverse');
    expect(await types()).toEqual(['checkout.session.completed', 'payment_intent.succeeded']);
    received = [];
    await pays();
    await fake.webhooks.release('twice');
    const twice = await types();
    expect(twice.filter((type) => type === 'payment_intent.succeeded')).toHaveLength(2);
    expect(twice).toHaveLength(4);
  });

  test('is not told while they are off, but is listed', async () => {
    fake.webhooks.mode = 'off';
    await pays();
    fake.webhooks.mode = 'on';
    await fake.webhooks.idle();
    expect(received).toEqual([]);
    const { data } = await shop.stripe.events.list({ type: 'payment_intent.succeeded' });
    expect(data).toHaveLength(1);
  });

  test('is sent again while the receiver fails', async () => {
    status = 500;
    await pays();
    await until('both have failed', () => received.length >= 2);
    status = 200;
    const seen = received.length;
    await until('they are sent again', () => received.length >= seen + 2);
    const ids = await Promise.all(received.map(async (one) => (await verified(one)).id));
    expect(new Set(ids).size).toBe(2);
  });

  test('goes to no endpoint that has not asked, is disabled, or is of the other mode', async () => {
    await shop.stripe.webhookEndpoints.update(endpoint.id, { enabled_events: ['refund.created'] });
    const id = await pays();
    await fake.webhooks.idle();
    expect(received).toEqual([]);
    await shop.stripe.refunds.create({ payment_intent: id, amount: 1 });
    await until('it is here', () => received.length === 1);
    await shop.stripe.webhookEndpoints.update(endpoint.id, { disabled: true });
    await shop.stripe.refunds.create({ payment_intent: id, amount: 1 });
    await fake.webhooks.idle();
    expect(received).toHaveLength(1);
    const live = shop.with(shop.account.liveKey).webhookEndpoints.list();
    expect((await live).data).toEqual([]);
  });
});

describe('a webhook endpoint of the fake Stripe', () => {
  test('tells its secret once', async () => {
    expect(endpoint.secret).toMatch(/^whsec_/);
    const found = await shop.stripe.webhookEndpoints.retrieve(endpoint.id);
    expect(found.secret).toBeUndefined();
    const { data } = await shop.stripe.webhookEndpoints.list();
    expect(data).toMatchObject([{ id: endpoint.id, status: 'enabled' }]);
  });

  test('is gone once it is deleted', async () => {
    const other = await shop.stripe.webhookEndpoints.create({
      url: receiver.url.href,
      enabled_events: ['*'],
    });
    await shop.stripe.webhookEndpoints.del(other.id);
    const error = await errorOf(shop.stripe.webhookEndpoints.retrieve(other.id));
    expect(error).toMatchObject({ statusCode: 404, code: 'resource_missing' });
  });
});

test.each<[string, object]>([
  ['signed by another secret', {}],
  ['too old', { ageMs: 3_600_000 }],
  ['without a signature', { signature: null }],
])(
  'a forged event of the fake Stripe is refused by the Stripe package: %s',
  async (what, forged) => {
    const secret = what === 'too old' ? { secret: endpoint.secret ?? '' } : {};
    await fake.webhooks.forge(receiver.url.href, { ...forged, ...secret });
    const [one] = received;
    const outcome = await verified(one!).then(
      () => 'taken',
      () => 'refused',
    );
    expect(outcome).toBe('refused');
  },
);
