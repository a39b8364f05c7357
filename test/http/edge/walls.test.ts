// One tenant's slow lists and replays, and calls with invented keys, delay no other tenant.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { newKey } from '../../../src/platform/crypto/keys.ts';
import { clock } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { insertKey } from '../../../src/records/api-keys.ts';
import { type Reply, startServer, type TestServer } from '../../support/server.ts';

setDefaultTimeout(60_000);

/** Well below the 5 s after which a list is ended, and above what a busy machine takes. */
const PROMPT_MS = 3000;
const LISTS = 50;
const REPLAYS = 20;
const INVENTED = 500;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function made(path: string, body: object, key: string): Promise<Reply['json']> {
  const { status, json, text } = await server.call('POST', path, { body, key });
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  return json;
}

/** While this runs, listing tags and replaying events waits for the database. */
async function whileSlow(task: () => Promise<void>): Promise<void> {
  await server.sql.begin(async (sql) => {
    await sql`lock table annotations, retention in access exclusive mode`;
    await task();
  });
}

/** No node has it in its cache yet. */
function coldKey(organisationId: string): Promise<string> {
  const owner = { kind: 'organisation', organisationId } as const;
  const options = {
    id: ids.next(),
    owner,
    mode: 'test',
    expiresAt: null,
    now: clock.now(),
  } as const;
  return server.sql.begin((sql) => insertKey(sql, options));
}

async function prompt(what: string, call: Promise<Reply>): Promise<void> {
  const began = performance.now();
  const { status } = await call;
  expect([what, status < 300]).toEqual([what, true]);
  expect([what, performance.now() - began < PROMPT_MS]).toEqual([what, true]);
}

test('slow lists, replays and invented keys of one tenant delay no other tenant', async () => {
  const { organisation, other } = server;
  const endpoint = await made(
    '/webhook-endpoints',
    { url: 'http://localhost:65000/' },
    organisation.testKey,
  );
  await made('/meters', { slug: 'calls' }, other.testKey);
  const customer = await made('/customers', { external_customer_id: 'user-1' }, other.testKey);
  const portal = await made(`/customers/${customer.id}/portal-tokens`, {}, other.testKey);
  const prices = [{ amount: '1', currency: 'USD' }];
  const product = await made('/products', { name: 'Lamp', prices }, other.testKey);
  const keys = await Promise.all(Array.from({ length: 10 }, () => coldKey(other.id)));
  const since = new Date(clock.now() - 1000).toISOString();
  const until = new Date(clock.now()).toISOString();
  const of = <T>(length: number, one: () => T): T[] => Array.from({ length }, one);

  const replies: Promise<Reply>[] = [];
  await whileSlow(async () => {
    replies.push(
      ...of(LISTS, () => server.call('GET', '/tags')),
      ...of(REPLAYS, () =>
        server.call('POST', `/webhook-endpoints/${endpoint.id}/replay`, { body: { since, until } }),
      ),
    );
    // They are running and hold as many places as they may.
    await prompt('a list of another', server.call('GET', '/products', { key: other.testKey }));
    const invented = of(INVENTED, () =>
      server.call('GET', '/meters', { key: newKey({ kind: 'organisation', mode: 'test' }) }),
    );
    const check = { feature_key: 'calls', external_customer_id: 'user-1' };
    const checkout = { product_id: product.id, customer_email: 'a@example.com' };
    const { pathname } = new URL(portal.url as string);
    await Promise.all([
      ...keys.map((key) => prompt('/check', server.call('POST', '/check', { key, body: check }))),
      prompt('the portal', server.call('GET', pathname, { key: null })),
      prompt(
        'a checkout',
        server.call('POST', '/checkouts', { key: other.testKey, body: checkout }),
      ),
      prompt('a list', server.call('GET', '/customers', { key: other.testKey })),
      prompt('a buy link', server.call('POST', `/buy-links/${product.id}/checkout`, { key: null })),
    ]);
    for (const { status } of await Promise.all(invented)) expect(status).toBe(401);
  });
  // The slow tenant's extra calls are told to retry: there is no place for them.
  const statuses = new Set((await Promise.all(replies)).map(({ status }) => status));
  expect([...statuses].filter((status) => ![200, 503].includes(status))).toEqual([]);
});
