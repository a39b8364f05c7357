// A checkout made with an API key may name its customer, with any e-mail address.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS, Shop } from '../../payments/shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

const customer = async (body: object): Promise<string> =>
  made(await shop.server.call('POST', '/customers', { body })).id;
const create = (fields: object) =>
  shop.server.call('POST', '/checkouts', {
    body: { product_id: shop.productId, customer_email: 'new@example.com', ...fields },
  });

test("a checkout made for a customer's id is paid by that customer, whose known fields stay", async () => {
  const email = 'known@example.com';
  const id = await customer({ email, external_customer_id: 'known' });
  const payment = await shop.buy({ checkout: { customer_id: id.toUpperCase() } });
  expect(payment).toMatchObject({ customer_id: id, status: 'succeeded' });
  const { data } = await shop.read(`/checkouts?status=paid`);
  expect(data[0]).toMatchObject({ customer_id: id, external_customer_id: null });
  expect(await shop.read(`/customers/${id}`)).toMatchObject({ email, name: null });
});

test('a checkout fills in the fields that its customer lacks', async () => {
  const id = await customer({ external_customer_id: 'bare' });
  const fields = { customer_id: id, customer_email: 'bare@example.com', customer_name: 'Bare' };
  await shop.buy({ checkout: fields });
  expect(await shop.read(`/customers/${id}`)).toMatchObject({
    email: 'bare@example.com',
    name: 'Bare',
  });
});

test('a checkout takes both ids of a customer, where they are of one', async () => {
  const id = await customer({ external_customer_id: 'one' });
  await customer({ external_customer_id: 'two' });
  const reply = await create({ customer_id: id.toUpperCase(), external_customer_id: 'one' });
  expect([reply.status, reply.json.customer_id, reply.json.external_customer_id]).toEqual([
    201,
    id,
    'one',
  ]);
  for (const external_customer_id of ['two', 'nobody']) {
    const { status, json } = await create({ customer_id: id, external_customer_id });
    expect([status, json.error.type, json.error.issues[0].path]).toEqual([
      400,
      'invalid_request',
      ['external_customer_id'],
    ]);
  }
});

test('a checkout without a customer gets the one who paid', async () => {
  const session = await shop.checkout({ customer_email: 'later@example.com' });
  const read = () => shop.read(`/checkouts/${session.id}`);
  expect((await read()).customer_id).toBeNull();
  await shop.pay(session);
  const { customer_id } = await shop.lastOf(session);
  expect(await read()).toMatchObject({ status: 'paid', customer_id });
});
