// PUT /customers/{id}/auto-topups/{feature_key}: what is refused, and changes nothing.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { type Subject, Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

let topped: Topped;
let subject: Subject;
beforeAll(async () => {
  topped = await Topped.open();
  subject = await topped.subject();
});
afterAll(() => topped.close());

const send = (fields: object, of: Partial<Subject> = {}) => {
  const usual = { enabled: true, threshold: 50, amount: 500, price_id: subject.priceId };
  return topped.call('PUT', { ...subject, ...of }, { ...usual, ...fields });
};

const BAD = [
  ['a threshold below 0', { threshold: -1 }, ['threshold']],
  ['a threshold with decimals that the meter has not', { threshold: 0.0000001 }, ['threshold']],
  ['a threshold out of range', { threshold: 1e15 }, ['threshold']],
  ['an amount of nothing', { amount: 0 }, ['amount']],
  ['an amount below 0', { amount: '-5' }, ['amount']],
  ['an amount out of range', { amount: '999999999999999' }, ['amount']],
  ['no amount', { amount: null }, ['amount']],
  ['no number', { amount: 'many' }, ['amount']],
  ['enabled as a text', { enabled: 'yes' }, ['enabled']],
  ['a price that is no id', { price_id: 'price' }, ['price_id']],
  ['a limit of none', { limit: { count: 0, interval: 'day' } }, ['limit', 'count']],
  ['a limit of too many', { limit: { count: 1001, interval: 'day' } }, ['limit', 'count']],
  ['a limit of a fraction', { limit: { count: 1.5, interval: 'day' } }, ['limit', 'count']],
  ['a limit of a year', { limit: { count: 1, interval: 'year' } }, ['limit', 'interval']],
  ['a limit without its interval', { limit: { count: 1 } }, ['limit', 'interval']],
  ['a field that is not known', { cooldown: 30 }, ['cooldown']],
] as const;

test.each(BAD)('PUT of an auto top-up with %s is 400', async (_name, fields, path) => {
  const { status, json } = await send(fields);
  expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  expect(json.error.issues.map((issue: { path: unknown }) => issue.path)).toContainEqual([...path]);
  expect((await topped.call('GET', subject)).status).toBe(404);
});

test('an auto top-up of a price that recurs, is free, archived or of another product is refused', async () => {
  const prices = [
    { amount: '1', currency: 'USD', interval: 'month' },
    { amount: '0', currency: 'EUR' },
    { amount: '1', currency: 'EUR' },
  ];
  const product = made(await topped.post('/products', { name: 'P', prices }));
  const ids = product.prices.map(({ id }: { id: string }) => id);
  await topped.server.call('POST', `/products/${product.id}/prices/${ids[2]}/archive`);
  const gone = made(
    await topped.post('/products', { name: 'Q', prices: [{ amount: '1', currency: 'USD' }] }),
  );
  await topped.server.call('POST', `/products/${gone.id}/archive`);
  for (const id of [...ids, gone.prices[0].id]) {
    const { status, json } = await send({ price_id: id });
    expect([id, status, json.error?.issues?.[0]?.path]).toEqual([id, 400, ['price_id']]);
  }
});

test('an auto top-up whose price was archived since still charges that price', async () => {
  const { priceId, ...of } = await topped.subject();
  const price = await topped.shop.read(`/products?limit=200`);
  const owner = price.data.find(({ prices }: { prices: { id: string }[] }) =>
    prices.some(({ id }) => id === priceId),
  );
  const agreed = { ...of, priceId };
  await topped.put(agreed);
  await topped.server.call('POST', `/products/${owner.id}/archive`);
  await topped.put(agreed, { threshold: 101 });
  await topped.settled(agreed, { status: 'armed' });
  expect(await topped.level(agreed)).toBe(600);
});

test.each(['max', 'last', 'unique'] as const)(
  'an auto top-up of a %s meter is refused',
  async (aggregation) => {
    const unique = aggregation === 'unique' ? { unique_property: 'user' } : {};
    const { status, json } = await send(
      {},
      {
        feature: await topped.feature({ aggregation, ...unique }),
      },
    );
    expect([status, json.error?.issues?.[0]?.path]).toEqual([400, ['feature_key']]);
  },
);

test('DELETE of a meter that has an auto top-up is refused', async () => {
  const of = await topped.subject({ units: 0 });
  await topped.put(of, { enabled: false });
  const meters = await topped.shop.read('/meters?limit=200');
  const { id } = meters.data.find(({ slug }: { slug: string }) => slug === of.feature);
  const refused = await topped.server.call('DELETE', `/meters/${id}`);
  expect([refused.status, refused.json.error.type]).toEqual([409, 'conflict']);
  await topped.call('DELETE', of);
  expect((await topped.server.call('DELETE', `/meters/${id}`)).status).toBe(204);
});

test('an auto top-up with an unknown customer, feature or price, or one of another mode, is 404', async () => {
  const refused: [string, string][] = [];
  for (const [fields, of] of [
    [{}, { customer: UNKNOWN }],
    [{}, { feature: 'nothing' }],
    [{ price_id: UNKNOWN }, {}],
  ] as const) {
    const { status, json } = await send(fields, of);
    refused.push([`${status} ${json.error.type}`, json.error.message]);
  }
  expect(refused).toEqual([
    ['404 not_found', 'no such customer'],
    ['404 not_found', 'no such feature'],
    ['404 not_found', 'no such price'],
  ]);
  for (const method of ['GET', 'DELETE']) {
    expect((await topped.call(method, { ...subject, customer: UNKNOWN })).status).toBe(404);
    for (const feature of ['nothing', '%00', '%EF%BF%BF']) {
      expect((await topped.call(method, { ...subject, feature })).status).toBe(404);
    }
  }
  expect((await topped.call('GET', subject)).status).toBe(404);
  const key = topped.server.other.testKey;
  const path = `/customers/${subject.customer}/auto-topups/${subject.feature}`;
  expect((await topped.server.call('GET', path, { key })).status).toBe(404);
});
