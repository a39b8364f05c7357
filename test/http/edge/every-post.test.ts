// A call that is sent twice under one Idempotency-Key has one effect and one answer.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Reply } from '../../support/server.ts';
import { Club } from '../subscriptions/subscribing.ts';
import { EVERY_POST, type Posted } from './every-post.ts';

setDefaultTimeout(60_000);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
// No audit: the wall clock differs from the test clock of the deliveries.
afterAll(() => club.shop.server.stop());

/** The service's own tables, which change all the time; usage is moved from its deltas into bins. */
const LIVING = new Set(
  'nodes slots api_keys idempotency usage_deltas usage_bins usage_totals'.split(' '),
);

/** All stored rows, once all deferred work is done. */
async function stored(): Promise<Record<string, string>> {
  for (let before = ''; ;) {
    const now = await contents();
    const text = JSON.stringify(now);
    if (text === before) return now;
    before = text;
    await Bun.sleep(100);
  }
}

async function contents(): Promise<Record<string, string>> {
  const { sql } = club.shop.server;
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`;
  const hashes = tables
    .filter(({ name }) => !LIVING.has(name))
    .map(async ({ name }) => {
      const [row] = await sql<{ hash: string }[]>`
        select count(*) || ' ' || coalesce(md5(string_agg(t::text, ' ' order by t::text)), '') as hash
        from ${sql(name)} as t`;
      return [name, row!.hash] as const;
    });
  return Object.fromEntries(await Promise.all(hashes));
}

let keys = 0;

function send({ path, body, key }: Posted, idempotencyKey: string) {
  return club.shop.server.call('POST', path, {
    ...(body !== undefined && { body }),
    ...(key !== undefined && { key }),
    headers: { 'idempotency-key': idempotencyKey },
  });
}

/** /events/ingest says of each event whether it was a duplicate. */
function toldOf(name: string, { text, json }: Reply): unknown {
  return name === '/events/ingest' ? json.events.map(({ id }: { id: string }) => id) : text;
}

test('they are all that the document has', async () => {
  const { paths } = await club.shop.read('/openapi.json');
  type Operations = { post?: { parameters: { name: string }[] } };
  const keyed = Object.entries(paths as Record<string, Operations>).filter(([, { post }]) =>
    post?.parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  expect(keyed.map(([path]) => path).sort()).toEqual(Object.keys(EVERY_POST).sort());
});

test.each(Object.keys(EVERY_POST))('POST %s', async (name) => {
  const posted = await EVERY_POST[name]!(club);
  const key = `key ${(keys += 1)}`;
  const first = await send(posted, key);
  expect([first.status < 300, first.text]).toEqual([true, first.text]);
  expect(first.headers.get('idempotency-replayed')).toBeNull();
  const before = await stored();
  const again = await send(posted, key);
  expect([again.status, toldOf(name, again)]).toEqual([first.status, toldOf(name, first)]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await stored()).toEqual(before);
});

test.each(Object.keys(EVERY_POST))('POST %s, both at once', async (name) => {
  const posted = await EVERY_POST[name]!(club);
  const key = `key ${(keys += 1)}`;
  const both = await Promise.all([send(posted, key), send(posted, key)]);
  const [one, two] = both.map((reply) => ({ status: reply.status, told: toldOf(name, reply) }));
  expect(one?.status).toBeLessThan(300);
  expect(two).toEqual(one);
  const replays = both.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
  expect(replays).toHaveLength(1);
});

test('where there is nothing to do once, the header means nothing', async () => {
  const customer = await club.customer();
  const slug = (await EVERY_POST['/meters']!(club)).body as { slug: string };
  await club.post('/meters', slug);
  const body = { feature_key: slug.slug, customer_id: customer };
  for (const [path, sent] of [
    ['/check', body],
    ['/check/batch', { checks: [body] }],
  ] as const) {
    const one = await send({ path, body: sent }, 'same');
    await club.post(`/customers/${customer}/grants`, { feature_key: slug.slug, amount: 1 });
    const two = await send({ path, body: sent }, 'same');
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(two.headers.get('idempotency-replayed')).toBeNull();
    expect(two.text).not.toBe(one.text);
  }
});
