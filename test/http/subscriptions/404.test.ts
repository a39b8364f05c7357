// Subscriptions that are missing, of another organisation, or of the other mode.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import type { Call } from '../../support/server.ts';
import { Club, type Plan, UNKNOWN } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
let plan: Plan;
let customer: string;
let id: string;
beforeAll(async () => {
  club = await Club.open();
  plan = await club.plan({ amount: '0', trial_days: 9 });
  customer = await club.customer();
  ({ id } = await club.subscribe(plan, customer));
});
afterAll(() => club.close());

const ROUTES: [string, string, object | undefined][] = [
  ['GET', '', undefined],
  ['POST', '/change', { quantity: 2 }],
  ['POST', '/cancel', { mode: 'immediate' }],
  ['POST', '/uncancel', undefined],
  ['POST', '/unschedule', undefined],
  ['POST', '/pause', undefined],
  ['POST', '/resume', undefined],
  ['POST', '/end-trial', undefined],
];

test.each(ROUTES)(
  '%s /subscriptions/{id}%s of an unknown subscription or of another tenant is 404',
  async (method, rest, body) => {
    const { server } = club.shop;
    const { other, organisation } = server;
    const ask = async (of: string, more: Call = {}): Promise<unknown[]> => {
      const given = body === undefined ? more : { body, ...more };
      const { status, json } = await server.call(method, `/subscriptions/${of}${rest}`, given);
      return [status, json.error?.type];
    };
    const found = await Promise.all([
      ask(UNKNOWN),
      ask('x'),
      ask(`${id}x`),
      ask(customer),
      ask(id, { key: other.testKey }),
      ask(id, { key: organisation.liveKey }),
    ]);
    for (const answer of found) expect(answer).toEqual([404, 'not_found']);
    expect(await club.events(id)).toHaveLength(1);
  },
);

test('POST /subscriptions with a customer, product or price of another organisation is 404', async () => {
  const { other, organisation } = club.shop.server;
  const body = { customer_id: customer, product_id: plan.productId };
  const elsewhere = await club.plan();
  const { json: theirs } = await club.post('/customers', {}, { key: other.testKey });
  // The merchant's own id of a customer is not an id of ours.
  await club.post('/customers', { external_customer_id: UNKNOWN });
  const replies = await Promise.all([
    club.post('/subscriptions', { ...body, customer_id: UNKNOWN }),
    club.post('/subscriptions', { ...body, customer_id: theirs.id }),
    club.post('/subscriptions', { product_id: plan.productId, external_customer_id: customer }),
    club.post('/subscriptions', { ...body, product_id: UNKNOWN }),
    club.post('/subscriptions', { ...body, price_id: UNKNOWN }),
    club.post('/subscriptions', { ...body, price_id: elsewhere.priceId }),
    club.post('/subscriptions', { ...body, customer_id: theirs.id }, { key: other.testKey }),
    club.post('/subscriptions', body, { key: organisation.liveKey }),
  ]);
  expect(replies.map(({ status, json }) => [status, json.error?.type])).toEqual(
    replies.map(() => [404, 'not_found']),
  );
});

test('GET /subscriptions of another organisation is empty', async () => {
  const { server } = club.shop;
  const { other, organisation } = server;
  for (const key of [other.testKey, organisation.liveKey]) {
    const { json } = await server.call('GET', `/subscriptions?customer_id=${customer}`, { key });
    expect(json.data).toEqual([]);
  }
});
