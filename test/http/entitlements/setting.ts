// Meters, and products to attach them to.
import type { TestServer } from '../../support/server.ts';

export const UNKNOWN = '01890000-0000-7000-8000-000000000000';

/** Its slug. */
export async function makeMeter(server: TestServer, slug: string, scale = 6): Promise<string> {
  const { status, text } = await server.call('POST', '/meters', { body: { slug, scale } });
  if (status !== 201) throw new Error(text);
  return slug;
}

type Price = { readonly interval?: string; readonly interval_count?: number };

/** Its id. */
export async function makeProduct(
  server: TestServer,
  prices: readonly Price[] = [],
): Promise<string> {
  const priced = prices.map((price) => ({ amount: '10', currency: 'USD', ...price }));
  const { status, json, text } = await server.call('POST', '/products', {
    body: { name: 'Plan', prices: priced },
  });
  if (status !== 201) throw new Error(text);
  return json.id;
}

export function attach(server: TestServer, product: string, body: object, key?: string) {
  return server.call('POST', `/products/${product}/entitlements`, {
    body,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
}

export const listed = async (server: TestServer, product: string, query = '') =>
  (await server.call('GET', `/products/${product}/entitlements${query}`)).json;
