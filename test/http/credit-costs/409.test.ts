// What a pool pays for, beside what products give and sell.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { CREDIT_COSTS_MAX, POOL_MEMBERS_MAX } from '../../../ledger/limits.ts';
import { type Reply, startServer, type TestServer } from '../../support/server.ts';
import { attach, makeProduct } from '../entitlements/setting.ts';
import { archive, price } from '../usage-prices/setting.ts';
import { cost, features, listsOf, make, patch, post } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

let made = 0;

/** A new pool with one member, and its former member. */
async function pool(): Promise<{ readonly of: string; readonly member: string; former: string }> {
  made += 1;
  const [of, member, former] = [`pool${made}`, `member${made}`, `former${made}`];
  await features(server, member, former);
  await make(server, of, { credit_costs: [cost(member), cost(former)] });
  await patch(server, of, [cost(member)]);
  return { of, member, former };
}

const give = async (feature_key: string, reset_interval: string, product?: string) =>
  attach(server, product ?? (await makeProduct(server)), { feature_key, limit: 5, reset_interval });

const sell = async (feature_key: string) =>
  price(server, await makeProduct(server), {
    feature_key,
    currency: 'USD',
    model: 'per_unit',
    unit_amount: '0.002',
  });

function expectConflict({ status, json }: Reply, message: string): void {
  expect([status, json]).toEqual([409, { error: { type: 'conflict', message } }]);
}

const resets = (slug: string) =>
  `a pool of credits and its members are given with the same reset_interval: "${slug}" has another`;

test("a member whose reset differs from its credit pool's is 409, from either side", async () => {
  const one = await pool();
  expect((await give(one.of, 'month')).status).toBe(201);
  expectConflict(await give(one.member, 'week'), resets(one.of));
  expectConflict(await give(one.former, 'never'), resets(one.of));
  expect((await give(one.member, 'month')).status).toBe(201);
  const other = await pool();
  expect((await give(other.member, 'day')).status).toBe(201);
  expectConflict(await give(other.of, 'month'), resets(other.member));
  expect((await give(other.of, 'day')).status).toBe(201);
});

test('a member and its credit pool with different resets in one product are 409, by default too', async () => {
  const { of, member } = await pool();
  const product = await makeProduct(server, [{ interval: 'year' }]);
  const body = { feature_key: of, limit: 5 };
  expect((await attach(server, product, body)).json.reset_interval).toBe('year');
  expectConflict(await give(member, 'month', product), resets(of));
  expect((await give(member, 'year', product)).status).toBe(201);
});

test("a detached entitlement does not conflict with a credit pool's reset", async () => {
  const { of, member } = await pool();
  const product = await makeProduct(server);
  const { json } = await give(of, 'month', product);
  await server.call('DELETE', `/products/${product}/entitlements/${json.id}`);
  expect((await give(member, 'week')).status).toBe(201);
});

test('credit_costs with a feature that a product gives with another reset are 409', async () => {
  await features(server, 'weekly', 'monthly');
  await make(server, 'monthly-pool', { scale: 9 });
  for (const [slug, reset] of [
    ['weekly', 'week'],
    ['monthly', 'month'],
    ['monthly-pool', 'month'],
  ] as const) {
    expect((await give(slug, reset)).status).toBe(201);
  }
  const both = [cost('monthly'), cost('weekly')];
  expectConflict(await patch(server, 'monthly-pool', both), resets('weekly'));
  expect(await listsOf(server, 'monthly-pool')).toEqual([]);
  expect((await patch(server, 'monthly-pool', [cost('monthly')])).status).toBe(200);
});

test("a usage price of a credit pool's member is 409, from either side; of the pool it is fine", async () => {
  const { of, member, former } = await pool();
  for (const slug of [member, former]) {
    const message = `"${of}" pays for this feature, so the usage price belongs on "${of}"`;
    expectConflict(await sell(slug), message);
  }
  expect((await sell(of)).status).toBe(201);
  await features(server, 'sold');
  const { json: sold } = await sell('sold');
  const message = 'usage of "sold" is sold: archive its usage prices first';
  expectConflict(await post(server, 'of-sold', { credit_costs: [cost('sold')] }), message);
  expectConflict(await patch(server, of, [cost(member), cost('sold')]), message);
  await archive(server, sold.product_id, sold.id);
  expect((await patch(server, of, [cost(member), cost('sold')])).status).toBe(200);
});

test("DELETE of a credit pool's member, even a former one, or of a granted pool is 409", async () => {
  const { of, member, former } = await pool();
  for (const slug of [member, former]) {
    const gone = await server.call('DELETE', `/meters/${slug}`);
    expectConflict(gone, 'a pool of credits pays for it');
  }
  await give(of, 'month');
  expect((await server.call('DELETE', `/meters/${of}`)).status).toBe(409);
});

const sorted = (replies: readonly Reply[]) =>
  replies.map(({ status }) => status).sort((a, b) => a - b);

// prettier-ignore
const AT_ONCE: [string, (of: string, member: string) => Promise<Reply>[]][] = [
  ['a member and its pool are given',         (of, member) => [give(of, 'month'), give(member, 'week')]],
  ['a member is given, and gets a pool',      (of, member) => [give(member, 'week'), patch(server, of, [cost(member)])]],
  ['a member is sold, and gets a pool',       (of, member) => [sell(member), patch(server, of, [cost(member)])]],
];

test.each(AT_ONCE)('credit pool calls at once: %s', async (what, calls) => {
  for (let round = 0; round < 5; round += 1) {
    made += 1;
    const [of, member] = [`pool${made}`, `member${made}`];
    await features(server, member);
    const isPool = what.startsWith('a member and');
    await make(server, of, isPool ? { credit_costs: [cost(member)] } : { scale: 9 });
    if (!isPool) expect((await give(of, 'month')).status).toBe(201);
    const [first, second] = sorted(await Promise.all(calls(of, member)));
    expect([first! < 300, second]).toEqual([true, 409]);
  }
});

test("a meter that becomes a credit pool's member while it is deleted is one or the other", async () => {
  for (let round = 0; round < 5; round += 1) {
    made += 1;
    const [of, member] = [`pool${made}`, `member${made}`];
    await features(server, member);
    const [listed, deleted] = await Promise.all([
      post(server, of, { credit_costs: [cost(member)] }),
      server.call('DELETE', `/meters/${member}`),
    ]);
    expect([
      [201, 409],
      [404, 204],
    ]).toContainEqual([listed.status, deleted.status]);
  }
});

test('a credit pool that was ever granted is not deleted', async () => {
  made += 1;
  const [of, member] = [`pool${made}`, `member${made}`];
  await features(server, member);
  await make(server, of, { credit_costs: [cost(member)] });
  const { json: customer } = await server.call('POST', '/customers', { body: {} });
  const { json: grant } = await server.call('POST', `/customers/${customer.id}/grants`, {
    body: { feature_key: of, amount: 1 },
  });
  expect((await server.call('POST', `/grants/${grant.id}/void`, { body: {} })).status).toBe(200);
  const { status, json } = await server.call('DELETE', `/meters/${of}`);
  expect([status, json.error.type]).toEqual([409, 'conflict']);
  expect((await server.call('DELETE', `/meters/${member}`)).status).toBe(409);
});

test('a credit pool has no more features over all its lists than the limit', async () => {
  const slugs = Array.from({ length: POOL_MEMBERS_MAX + 1 }, (_, n) => `of-many-${n}`);
  await features(server, ...slugs);
  await make(server, 'many', { scale: 9 });
  const list = async (listed: readonly string[], each = '1') =>
    patch(
      server,
      'many',
      listed.map((slug) => cost(slug, each)),
    );
  // All but the last two.
  for (let from = 0; from < POOL_MEMBERS_MAX; from += CREDIT_COSTS_MAX) {
    const listed = slugs.slice(from, Math.min(from + CREDIT_COSTS_MAX, POOL_MEMBERS_MAX - 1));
    expect((await list(listed)).status).toBe(200);
  }
  const others = slugs.slice(POOL_MEMBERS_MAX - 1);
  const replies = await Promise.all(others.map((slug) => list([slug])));
  expect(sorted(replies)).toEqual([200, 409]);
  const message =
    'a pool of credits has at most 200 features, those of its former lists too (LIMIT_FEATURES_PER_POOL)';
  for (const one of replies) if (one.status !== 200) expectConflict(one, message);
  const refused = others.filter((_, n) => replies[n]?.status !== 200);
  const put = {
    body: { credit_costs: [cost(slugs[0] ?? ''), ...refused.map((slug) => cost(slug))] },
  };
  expectConflict(await server.call('PUT', '/meters/many', put), message);
  // Those that it has ever had are no more.
  expect((await list(slugs.slice(0, CREDIT_COSTS_MAX), '2')).status).toBe(200);
  expect((await list([])).status).toBe(200);
  expectConflict(await list(refused), message);
  // A pool of its own may have it.
  await make(server, 'another', { credit_costs: refused.map((slug) => cost(slug)) });
}, 30_000);

test('a credit pool that has more features than the limit may change the costs of those', async () => {
  const { of, member, former } = await pool();
  const { id } = server.organisation;
  // As it was made before there was a limit.
  await server.sql`
    insert into meters (id, organisation_id, mode, slug, name, event_name, aggregation, scale, metadata, status, created_at, updated_at)
    select gen_random_uuid(), ${id}, 'test', 'before-' || n, 'x', 'before-' || n, 'sum', 0, '{}', 'active', now(), now()
    from generate_series(1, ${POOL_MEMBERS_MAX}) n`;
  await server.sql`
    insert into credit_cost_lists (pool_id, number, since)
    select id, 3, '2020-01-01' from meters where organisation_id = ${id} and slug = ${of}`;
  await server.sql`
    insert into credit_costs (pool_id, number, position, meter_id, rate)
    select p.id, 3, row_number() over (), m.id, 1 from meters p, meters m
    where p.organisation_id = ${id} and p.slug = ${of} and m.organisation_id = ${id} and m.slug like 'before-%'`;
  expect((await patch(server, of, [cost(former, '3'), cost('before-7', '2')])).status).toBe(200);
  await features(server, 'after');
  const reply = await patch(server, of, [cost(member), cost('after')]);
  expect([reply.status, reply.json.error?.type]).toEqual([409, 'conflict']);
});

// Last: no list is left.
test('an organisation has no more credit pools than the limit', async () => {
  const { of, member } = await pool();
  const other = await pool();
  await features(server, 'free');
  const { id } = server.organisation;
  // With those of the tests before; all but two.
  await server.sql`
    insert into credit_cost_lists (pool_id, number, since)
    select id, n, '2020-01-01' from meters, generate_series(3, 1000 - (
      select count(*)::int from credit_cost_lists l join meters p on p.id = l.pool_id where p.organisation_id = ${id} and p.deleted_at is null)) n
    where organisation_id = ${id} and slug = ${of}`;
  const message =
    'an organisation has at most 1000 lists of credit costs, former ones too (LIMIT_CREDIT_COST_LISTS)';
  const again = ['7', '8', '9', '10'].map((each) => patch(server, of, [cost(member, each)]));
  const replies = await Promise.all(again);
  expect(sorted(replies)).toEqual([200, 200, 409, 409]);
  for (const one of replies) if (one.status !== 200) expectConflict(one, message);
  const credit_costs = [cost('free')];
  expectConflict(await post(server, 'one-more', { credit_costs }), message);
  const put = { body: { aggregation: 'sum', credit_costs } };
  expectConflict(await server.call('PUT', `/meters/one-more`, put), message);
  expectConflict(await server.call('PUT', `/meters/${other.of}`, put), message);
  const [{ json }] = replies.filter(({ status }) => status === 200) as [Reply];
  expect(json.credit_costs).toHaveLength(1);
  // What is in force asks for no list, and deleted pools have none.
  expect((await patch(server, other.of, [cost(other.member)])).status).toBe(200);
  expect((await server.call('DELETE', `/meters/${other.of}`)).status).toBe(204);
  expect((await post(server, 'one-more', { credit_costs })).status).toBe(201);
});
