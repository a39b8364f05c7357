import type { Reply, TestServer } from '../../support/server.ts';

export const BUYER = 'buyer@example.com';

/** The id of a new product with these prices, each like `['10.00', 'USD']`. */
export async function product(
  server: TestServer,
  options: { prices?: [amount: string, currency: string][]; key?: string; body?: object } = {},
): Promise<{ id: string; slug: string; prices: { id: string }[] }> {
  const { prices = [['10.00', 'USD']], key, body } = options;
  const reply = await server.call('POST', '/products', {
    ...(key !== undefined && { key }),
    body: {
      name: 'Widget',
      prices: prices.map(([amount, currency]) => ({ amount, currency })),
      ...body,
    },
  });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.json;
}

export async function discount(server: TestServer, body: object): Promise<string> {
  const reply = await server.call('POST', '/discounts', { body });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.json.id;
}

export const checkout = (server: TestServer, body: object, key?: string): Promise<Reply> =>
  server.call('POST', '/checkouts', {
    body: { customer_email: BUYER, ...body },
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });

export async function checkouts(server: TestServer): Promise<number> {
  const [row] = await server.sql<{ count: bigint }[]>`select count(*) from checkouts`;
  return Number(row!.count);
}
