// Usage prices of products. Meters and products are made as for entitlements.
import type { TestServer } from '../../support/server.ts';

/** 0.002 USD for each call. */
export const PER_CALL = {
  feature_key: 'calls',
  currency: 'USD',
  model: 'per_unit',
  unit_amount: '0.002',
};

export function price(server: TestServer, product: string, body: object, key?: string) {
  return server.call('POST', `/products/${product}/usage-prices`, {
    body,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
}

export const archive = (server: TestServer, product: string, id: string) =>
  server.call('POST', `/products/${product}/usage-prices/${id}/archive`);

export const listed = async (server: TestServer, product: string, query = '') =>
  (await server.call('GET', `/products/${product}/usage-prices${query}`)).json;
