import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Redis } from 'ioredis';
import { newNetwork } from '../../support/network.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { testServices } from '../../support/services.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { checkouts, product } from '../checkouts/fixture.ts';

const MOST = 3;

const client = newNetwork();

let server: TestServer;
let id: string;
beforeAll(async () => {
  const limits = { ...TEST_SETTINGS.limits, buyLinks: MOST };
  // Each test is a client of its own, by the address that its proxy reports.
  server = await startServer({ settings: { limits, proxyHops: 1 } });
  ({ id } = await product(server));
  const redis = new Redis(testServices().redisUrl);
  // Remains of a run a moment ago; no other test is limited by the address of its connection.
  await redis.del('rate:buy-link:127.0.0.1');
  redis.disconnect();
});
afterAll(() => server.stop());

const open = (address: string | null, reference = id) =>
  server.call('POST', `/buy-links/${reference}/checkout`, {
    key: null,
    headers: address === null ? {} : { 'x-forwarded-for': address },
  });

test.each([
  ['of the proxy', client(1)],
  ['of the connection', null],
])(
  'an address %s opens as many buy link checkouts a minute as the limit says',
  async (_what, address) => {
    const before = await checkouts(server);
    const replies = await Promise.all(Array.from({ length: MOST + 4 }, () => open(address)));
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(4);
    expect(await checkouts(server)).toBe(before + MOST);
    for (const { status, json, headers } of refused) {
      expect([status, json.error.type]).toEqual([429, 'rate_limited']);
      const wait = Number(headers.get('retry-after'));
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(60);
      expect(headers.get('ratelimit-limit')).toBe(String(MOST));
      expect(headers.get('ratelimit-remaining')).toBe('0');
      expect(headers.get('ratelimit-reset')).toBe(String(wait));
    }
  },
);

test('another address has a buy link rate limit of its own', async () => {
  for (let count = 0; count <= MOST; count += 1) await open(client(2));
  expect((await open(client(2))).status).toBe(429);
  expect((await open(client(3))).status).toBe(200);
});

test('calls of unknown buy links count to the rate limit too', async () => {
  for (let count = 0; count < MOST; count += 1) {
    expect((await open(client(4), 'nothing')).status).toBe(404);
  }
  expect((await open(client(4), 'nothing')).status).toBe(429);
});
