// Where {CHECKOUT_TOKEN} may stand. In the host of an address it would send the token of a checkout
// to name servers, and to a host that nobody has named.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { checkout, checkouts, product } from './fixture.ts';

let server: TestServer;
let product_id: string;
beforeAll(async () => {
  server = await startServer();
  ({ id: product_id } = await product(server));
});
afterAll(() => server.stop());

const TOKEN = '{CHECKOUT_TOKEN}';

// prettier-ignore
const URLS: [string, url: string, status: 'ok' | 400][] = [
  ['in the path',                    `https://shop.example/${TOKEN}`,                'ok'],
  ['in the query',                   `https://shop.example/?t=${TOKEN}`,             'ok'],
  ['in the query, without a path',   `https://shop.example?t=${TOKEN}`,              'ok'],
  ['in the fragment',                `https://shop.example/#${TOKEN}`,               'ok'],
  ['in the fragment, alone',         `https://shop.example#${TOKEN}`,                'ok'],
  ['in a host of the query',         `https://shop.example/?u=https://${TOKEN}.example`, 'ok'],
  ['in the path, like a host',       `https://shop.example//${TOKEN}.example`,       'ok'],
  ['as a name of the host',          `https://${TOKEN}.shop.example/`,               400],
  ['as a part of a name',            `https://a-${TOKEN}.shop.example/`,             400],
  ['as the host',                    `https://${TOKEN}/`,                            400],
  ['as the host, without a path',    `https://${TOKEN}`,                             400],
  ['as the last name of the host',   `https://shop.${TOKEN}`,                        400],
  ['in the host and in the path',    `https://${TOKEN}.shop.example/${TOKEN}`,       400],
  ['in the host, before a query',    `https://${TOKEN}.shop.example?a=1`,            400],
  ['in the host, behind slashes',    `https:////${TOKEN}.shop.example/`,             400],
  ['in the host, in capitals',       `HTTPS://${TOKEN}.SHOP.EXAMPLE/`,               400],
  ['as a user',                      `https://${TOKEN}@shop.example/`,               400],
  ['as a port',                      `https://shop.example:${TOKEN}/`,               400],
  ['as the host of this machine',    `http://${TOKEN}/`,                             400],
];

const FIELDS = ['success_url', 'cancel_url'] as const;
const CASES = FIELDS.flatMap((field) => URLS.map(([...row]) => [field, ...row] as const));

test.each(CASES)('POST /checkouts, %s with the token %s', async (field, _where, url, status) => {
  const before = await checkouts(server);
  const reply = await checkout(server, { product_id, [field]: url });
  const issues = reply.json.error?.issues?.map(({ path }: { path: string[] }) => path.join('.'));
  expect([reply.status, issues]).toEqual(status === 400 ? [400, [field]] : [201, undefined]);
  expect(await checkouts(server)).toBe(before + (status === 400 ? 0 : 1));
});

test.each(URLS)(
  "a buy link's success_url with the token %s",
  async (_where, success_url, status) => {
    const before = await checkouts(server);
    const call = { key: null, body: { success_url } };
    const reply = await server.call('POST', `/buy-links/${product_id}/checkout`, call);
    expect(reply.status).toBe(status === 400 ? 400 : 200);
    expect(await checkouts(server)).toBe(before + (status === 400 ? 0 : 1));
  },
);
