// Invalid bodies and queries, and refusals that depend on the subscription; nothing is stored.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Club, type Plan, UNKNOWN } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
let plan: Plan;
let customer: string;
let id: string;
beforeAll(async () => {
  club = await Club.open();
  plan = await club.plan({ amount: '0' });
  customer = await club.customer();
  ({ id } = await club.subscribe(plan, customer));
});
afterAll(() => club.close());

const body = (fields: object) => ({
  customer_id: customer,
  product_id: plan.productId,
  ...fields,
});

// prettier-ignore
const BODIES: [string, () => object, string][] = [
  // what                       body                                                             at
  ['nobody',                    () => body({ customer_id: undefined }),                          'customer_id'],
  ['two customers',             () => body({ external_customer_id: 'u' }),                       'customer_id'],
  ['a customer that is no UUID', () => body({ customer_id: 'u_1' }),                             'customer_id'],
  ['no customer’s own id',      () => body({ customer_id: undefined, external_customer_id: '' }), 'external_customer_id'],
  ['no product',                () => body({ product_id: undefined }),                           'product_id'],
  ['a product that is no UUID', () => body({ product_id: 'prod' }),                              'product_id'],
  ['a price that is no UUID',   () => body({ price_id: 'x' }),                                   'price_id'],
  ['quantity 0',                () => body({ quantity: 0 }),                                     'quantity'],
  ['half a quantity',           () => body({ quantity: 1.5 }),                                   'quantity'],
  ['too large a quantity',      () => body({ quantity: 1_000_001 }),                             'quantity'],
  ['a quantity as a string',    () => body({ quantity: '1' }),                                   'quantity'],
  ['a trial before now',        () => body({ trial_days: -1 }),                                  'trial_days'],
  ['a trial of 731 days',       () => body({ trial_days: 731 }),                                 'trial_days'],
  ['metadata that is no text',  () => body({ metadata: { a: 1 } }),                              'metadata.a'],
  ['a field nobody knows',      () => body({ status: 'active' }),                                'status'],
];
test.each(BODIES)('POST /subscriptions is 400: %s', async (_what, given, at) => {
  const reply = await club.post('/subscriptions', given());
  expect([reply.status, reply.json.error?.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map(({ path }: { path: string[] }) => path.join('.'));
  expect(paths).toEqual([at]);
});

test('POST /subscriptions of a product without a recurring price, or not for sale, is refused', async () => {
  const prices = [{ currency: 'USD', amount: '1' }];
  const { json: once } = await club.post('/products', { name: 'Once', prices });
  const archived = await club.plan();
  await club.post(`/products/${archived.productId}/archive`);
  for (const productId of [once.id, archived.productId]) {
    const { status, json } = await club.post('/subscriptions', body({ product_id: productId }));
    expect([status, json.error.issues?.map(({ path }: { path: string[] }) => path)]).toEqual([
      400,
      [['product_id']],
    ]);
  }
});

// prettier-ignore
const ACTIONS: [string, object, string][] = [
  // action    body                                          at
  ['change',   {},                                           ''],
  ['change',   { quantity: 0 },                              'quantity'],
  ['change',   { price_id: 'x' },                            'price_id'],
  ['change',   { quantity: 2, prorate: true },               'prorate'],
  ['cancel',   { mode: 'immediately' },                      'mode'],
  ['cancel',   { reason: 'unused' },                         'reason'],
  ['pause',    { resumes_at: 'tomorrow' },                   'resumes_at'],
  ['pause',    { resumes_at: '2027-02-30T00:00:00Z' },       'resumes_at'],
  ['pause',    { resumes_at: '2020-01-01T00:00:00Z' },       'resumes_at'],
  ['pause',    { resumes_at: '2199-01-01T00:00:00Z' },       'resumes_at'],
  ['pause',    { keep_invoices: 'yes' },                     'keep_invoices'],
  ['pause',    { until: 'x' },                               'until'],
];
test.each(ACTIONS)('POST /subscriptions/{id}/%s with %j is 400', async (action, given, at) => {
  const before = await club.subscription(id);
  const { status, json } = await club.post(`/subscriptions/${id}/${action}`, given);
  expect([status, json.error?.type]).toEqual([400, 'invalid_request']);
  expect(json.error.issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([at]);
  expect(await club.subscription(id)).toEqual(before);
  expect(await club.events(id)).toHaveLength(1);
});

test('a plan change to another currency, an archived product or a one-time price is 400', async () => {
  const euros = await club.plan({ currency: 'EUR' });
  const gone = await club.plan();
  await club.post(`/products/${gone.productId}/archive`);
  const prices = [{ currency: 'USD', amount: '1' }];
  const { json: once } = await club.post('/products', { name: 'Once', prices });
  const answers = [];
  for (const price of [euros.priceId, gone.priceId, once.prices[0].id, UNKNOWN]) {
    const { status, json } = await club.post(`/subscriptions/${id}/change`, { price_id: price });
    answers.push([status, json.error.issues?.[0].path[0]]);
  }
  expect(answers).toEqual([
    [400, 'price_id'],
    [400, 'price_id'],
    [404, undefined],
    [404, undefined],
  ]);
  expect(await club.events(id)).toHaveLength(1);
});

// prettier-ignore
const QUERIES: [string, string][] = [
  ['limit=0',            'limit'],
  ['offset=-1',          'offset'],
  ['status=trialing',    'status'],
  ['customer_id=x',      'customer_id'],
  ['product_id=%00',     'product_id'],
  ['customer=x',         'customer'],
];
test.each(QUERIES)('GET /subscriptions?%s is 400', async (query, at) => {
  const { status, json } = await club.shop.server.call('GET', `/subscriptions?${query}`);
  expect([status, json.error.issues.map(({ path }: { path: string[] }) => path)]).toEqual([
    400,
    [[at]],
  ]);
});

test('no refused subscription call stored anything', async () => {
  expect((await club.shop.read('/subscriptions')).data).toHaveLength(1);
});
