// The methods against the real service: what is sent and answered has the names of TypeScript, and
// is what the types say.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { NotFoundError, Tollhouse, type Customer } from '../../src/client/index.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let tollhouse: Tollhouse;
beforeAll(async () => {
  server = await startServer();
  tollhouse = new Tollhouse({ baseUrl: server.url, apiKey: server.organisation.testKey });
});
afterAll(async () => {
  await tollhouse.close();
  await server.stop();
});

test('the client keeps metadata as its caller named it, and all else is camelCase', async () => {
  const metadata = { userId: '1', user_id: '2', 'team-Name': 'x' };
  const billingAddress = { line1: 'Ringstraße 1', postalCode: '1010', country: 'AT' };
  const made = await tollhouse.customers.create({
    externalCustomerId: 'ann',
    billingAddress,
    metadata,
  });
  expect(made).toMatchObject({ externalCustomerId: 'ann', billingAddress, metadata });
  expect(await tollhouse.customers.retrieve(made.id)).toEqual(made);
  const { json } = await server.call('GET', `/customers/${made.id}`);
  expect(json).toMatchObject({ external_customer_id: 'ann', metadata });
});

test('the client makes an object once under a key', async () => {
  const create = () => tollhouse.customers.create({ name: 'Ada' }, { idempotencyKey: 'once' });
  const [one, two] = [await create(), await create()];
  expect(two).toEqual(one);
});

test("a client's loop runs over all pages of the service", async () => {
  for (let count = 0; count < 7; count += 1) {
    await tollhouse.tags.create({
      objectType: 'customer',
      objectId: (await tollhouse.customers.put('tagged', {})).id,
      name: `tag ${count}`,
    });
  }
  const names: string[] = [];
  for await (const { name } of tollhouse.tags.list({ limit: 3 })) names.push(name);
  expect(names).toEqual([6, 5, 4, 3, 2, 1, 0].map((count) => `tag ${count}`));
  const page = await tollhouse.tags.list({ limit: 3, name: 'tag 4' });
  expect([page.data.length, page.limit, page.hasMore]).toEqual([1, 3, false]);
});

test('the client calls an operation with two ids in the path, and without a body', async () => {
  const { id, prices } = await tollhouse.products.create({
    name: 'Pro',
    prices: [{ amount: '49.00', currency: 'USD', interval: 'month', intervalCount: 2 }],
  });
  const price = await tollhouse.products.archivePrice(id, prices[0]!.id);
  expect([price.status, price.intervalCount]).toEqual(['archived', 2]);
  const meter = await tollhouse.meters.put('calls', { name: 'Calls' });
  expect(await tollhouse.meters.del(meter.id)).toBeUndefined();
});

test('the client answers a printable page as text', async () => {
  const { id } = await tollhouse.invoices.create({
    externalCustomerId: 'ann',
    currency: 'EUR',
    lines: [{ description: 'Onboarding', quantity: 2, unitAmount: '150.00' }],
  });
  expect(await tollhouse.invoices.print(id)).toContain('Onboarding');
});

test('the client puts an id into one segment of the path, whatever is in it', async () => {
  const strange = 'a/b?c=#d e%2f..';
  const { externalCustomerId } = await tollhouse.customers.put(strange, {});
  expect(externalCustomerId).toBe(strange);
  const missing: Promise<Customer> = tollhouse.customers.retrieve('../meters');
  expect(await missing.catch((error: unknown) => error)).toBeInstanceOf(NotFoundError);
});

test('the client reads the processor of an organization: none, and what a key is refused for', async () => {
  const { organization } = tollhouse;
  expect(organization.retrieveProcessor()).rejects.toThrow(NotFoundError);
  expect(organization.disconnectProcessor()).rejects.toThrow(NotFoundError);
  const secretKey = 'pk_test_51HqLyjWDarjtT1zdp7dc';
  const connected = organization.connectProcessor({ type: 'stripe', secretKey });
  expect(connected).rejects.toThrow('secret_key is a publishable key');
});
