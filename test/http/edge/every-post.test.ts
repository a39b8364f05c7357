// A call that is sent twice under one Idempotency-Key has one effect and one answer.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Reply } from '../../support/server.ts';
import { Shop } from '../../payments/shop.ts';
import { UNHURRIED } from '../../support/settling.ts';
import { Club } from '../subscriptions/subscribing.ts';
import { EVERY_POST, type Posted } from './every-post.ts';

setDefaultTimeout(60_000);

type Stored = Readonly<Record<string, string>>;
type Sent = { readonly first: Reply; readonly again: Reply };

/** What the others have made is not the same afterwards: a reservation has ended. */
const MOVES_TIME = '/test-clock';

let club: Club;
/** By the path in the document: sent, and when all of them were, sent again. */
const calls = new Map<string, Sent>();
/** What was stored before each round was sent again, and after it. */
const rounds: { readonly before: Stored; readonly after: Stored }[] = [];
beforeAll(async () => {
  // All that it has stored is compared.
  club = new Club(await Shop.open({ own: true, settings: UNHURRIED }));
  const others = Object.keys(EVERY_POST).filter((name) => name !== MOVES_TIME);
  for (const names of [others, [MOVES_TIME]]) {
    const firsts: { name: string; posted: Posted; key: string; first: Reply }[] = [];
    for (const name of names) {
      const [posted, key] = [await EVERY_POST[name]!(club), newKey()];
      firsts.push({ name, posted, key, first: await send(posted, key) });
    }
    const before = await stored();
    for (const { name, posted, key, first } of firsts) {
      calls.set(name, { first, again: await send(posted, key) });
    }
    rounds.push({ before, after: await stored() });
  }
});
// No audit: the wall clock differs from the test clock of the deliveries.
afterAll(() => club.shop.server.stop());

/**
 * The service's own tables, which change all the time; usage is moved from its deltas into bins.
 */
const LIVING = new Set(
  'nodes slots api_keys idempotency usage_deltas usage_corrections usage_bins usage_totals'.split(
    ' ',
  ),
);

/** All stored rows, once all deferred work is done. */
async function stored(): Promise<Stored> {
  for (let last = ''; ;) {
    const now = await contents();
    const text = JSON.stringify(now);
    if (text === last) return now;
    last = text;
    await Bun.sleep(100);
  }
}

async function contents(): Promise<Stored> {
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
const newKey = () => `key ${(keys += 1)}`;

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

test('the table of POST requests has every POST of the OpenAPI document', async () => {
  const { paths } = await club.shop.read('/openapi.json');
  type Operations = { post?: { parameters: { name: string }[] } };
  const keyed = Object.entries(paths as Record<string, Operations>).filter(([, { post }]) =>
    post?.parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  expect(keyed.map(([path]) => path).sort()).toEqual(Object.keys(EVERY_POST).sort());
});

test.each(Object.keys(EVERY_POST))(
  'POST %s again under its Idempotency-Key gets the first answer',
  (name) => {
    const { first, again } = calls.get(name)!;
    expect([first.status < 300, first.text]).toEqual([true, first.text]);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect([again.status, toldOf(name, again)]).toEqual([first.status, toldOf(name, first)]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  },
);

test('no POST sent again under its Idempotency-Key has stored a row', () => {
  expect(rounds).toHaveLength(2);
  for (const { before, after } of rounds) expect(after).toEqual(before);
});

test.each(Object.keys(EVERY_POST))(
  'POST %s twice at once under one Idempotency-Key is executed once',
  async (name) => {
    const posted = await EVERY_POST[name]!(club);
    const key = newKey();
    const both = await Promise.all([send(posted, key), send(posted, key)]);
    const [one, two] = both.map((reply) => ({ status: reply.status, told: toldOf(name, reply) }));
    expect(one?.status).toBeLessThan(300);
    expect(two).toEqual(one);
    const replays = both.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
    expect(replays).toHaveLength(1);
  },
);

test('an Idempotency-Key means nothing to a POST that changes nothing', async () => {
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
