// A slug stays its organisation's: an old buy link never leads to what another organisation sells.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const prices = [{ amount: '24.50', currency: 'EUR' }];
let slugs = 0;
const aSlug = () => `guide-${(slugs += 1)}-${crypto.randomUUID().slice(0, 8)}`;

async function make(slug: string, key?: string) {
  const call = { body: { name: 'Guide', slug, prices }, ...(key !== undefined && { key }) };
  const { status, json } = await server.call('POST', '/products', call);
  return { status, id: json.id as string };
}
const rename = async (id: string, slug: string, key?: string): Promise<number> => {
  const call = { body: { slug }, ...(key !== undefined && { key }) };
  return (await server.call('PATCH', `/products/${id}`, call)).status;
};
/** What a buyer gets there: the product, or a status. */
async function buys(slug: string): Promise<string | number> {
  const { status, json } = await server.call('POST', `/buy-links/${slug}/checkout`, { key: null });
  return status === 200 ? json.product_id : status;
}

test('a slug that a product had is taken by no other organisation, in either mode', async () => {
  const { other } = server;
  const [old, next] = [aSlug(), aSlug()];
  const { id } = await make(old);
  expect(await buys(old)).toBe(id);
  expect(await rename(id, next)).toBe(200);
  for (const key of [other.testKey, other.liveKey]) {
    expect((await make(old, key)).status).toBe(409);
    const theirs = await make(aSlug(), key);
    expect([theirs.status, await rename(theirs.id, old, key)]).toEqual([201, 409]);
  }
  expect([await buys(old), await buys(next)]).toEqual([404, id]);
});

test('a slug that a product had is free for its organisation, in either mode', async () => {
  const { liveKey } = server.organisation;
  const [old, next] = [aSlug(), aSlug()];
  const { id } = await make(old);
  await rename(id, next);
  const live = await make(old, liveKey);
  expect([live.status, await rename(id, old)]).toEqual([201, 409]);
  await rename(live.id, aSlug(), liveKey);
  expect([await rename(id, old), await buys(old)]).toEqual([200, id]);
  // As often as it goes to and fro.
  expect((await make(next, server.other.testKey)).status).toBe(409);
  expect((await make(next)).status).toBe(201);
});

test('nobody takes a slug in the moment in which it is given up', async () => {
  const { other } = server;
  const [old, theirs] = [aSlug(), await make(aSlug(), other.testKey)];
  const { id } = await make(old);
  const tries = () => [make(old, other.testKey), rename(theirs.id, old, other.testKey)] as const;
  const all = await Promise.all([...tries(), rename(id, aSlug()), ...tries(), ...tries()]);
  const statuses = all.map((each) => (typeof each === 'number' ? each : each.status));
  expect(statuses).toEqual([409, 409, 200, 409, 409, 409, 409]);
});

test('a refused slug stays free', async () => {
  const { other } = server;
  const [taken, wanted] = [aSlug(), aSlug()];
  await make(taken, other.testKey);
  const { id } = await make(aSlug());
  const body = { slug: wanted, name: '' };
  expect((await server.call('PATCH', `/products/${id}`, { body })).status).toBe(400);
  expect(await rename(crypto.randomUUID(), wanted)).toBe(404);
  expect(await rename(id, taken)).toBe(409);
  expect((await make(wanted, other.testKey)).status).toBe(201);
});

test('an organisation has at most so many slugs that no product has any more', async () => {
  const bounds = { ...TEST_SETTINGS.bounds, formerSlugs: 2 };
  const bounded = await startServer({ settings: { bounds } });
  try {
    const call = (method: string, path: string, body: object) =>
      bounded.call(method, path, { body });
    const made = { name: 'Guide', slug: aSlug() };
    const { id } = (await call('POST', '/products', made)).json;
    const patch = (body: object) => call('PATCH', `/products/${id}`, body);
    const replies = await Promise.all(Array.from({ length: 4 }, () => patch({ slug: aSlug() })));
    const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 409, 409]);
    expect(replies.find(({ status }) => status === 409)!.json.error).toEqual({
      type: 'conflict',
      message:
        'an organisation has at most 2 slugs that no product of it has any more (LIMIT_FORMER_SLUGS)',
    });
    // What gives none up goes on.
    const { slug } = (await bounded.call('GET', `/products/${id}`)).json;
    expect((await patch({ slug, name: 'Other' })).status).toBe(200);
    expect((await call('POST', '/products', { name: 'More', slug: aSlug() })).status).toBe(201);
  } finally {
    await bounded.stop();
  }
});
