// A caller advances the clock by years of hourly allowances and disconnects: the work ends with the
// connection.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { made } from '../portal/customer.ts';
import { DAY, HOUR, moved, read } from './clock.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await made(server, '/meters', { slug: 'words' });
  const prices = [{ amount: '0.00', currency: 'USD', interval: 'year', interval_count: 3 }];
  const product = await made(server, '/products', { name: 'Hourly', prices });
  const hourly = { feature_key: 'words', limit: 5, reset_interval: 'hour' };
  await made(server, `/products/${product.id}/entitlements`, hourly);
  const customer = await made(server, '/customers', {});
  await made(server, '/subscriptions', { customer_id: customer.id, product_id: product.id });
});
afterAll(() => server.stop());

const status = async (): Promise<string> =>
  (await server.call('GET', '/test-clock')).json.status as string;

test('a test clock left within a move is ready where it got to, and goes on from there', async () => {
  const from = await read(server);
  const caller = new AbortController();
  const answer = fetch(`${server.url}/test-clock`, {
    method: 'POST',
    body: JSON.stringify({ advance: 'P5Y' }),
    headers: {
      authorization: `Bearer ${server.organisation.testKey}`,
      'content-type': 'application/json',
    },
    signal: caller.signal,
  }).catch((error: unknown) => error);
  await until('it has moved', async () => (await read(server)) > from + 3 * HOUR);
  caller.abort();
  await answer;
  await until('it is ready', async () => (await status()) === 'ready');
  const at = await read(server);
  expect(at).toBeLessThan(from + 365 * DAY);
  expect(await moved(server, { advance: 'PT2H' })).toBeGreaterThanOrEqual(at + 2 * HOUR);
});
