// Checkouts that are asked for at the same time are opened by one statement, and each call is
// answered as if it had been alone.
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { updateCustomer } from '../../../src/records/customers.ts';
import { lockGroupOf } from '../../../src/records/organisations.ts';
import { startServer, type Reply, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { until } from '../../support/until.ts';
import { checkout, checkouts, product } from './fixture.ts';

setDefaultTimeout(60_000);

const ROOM = 12;

let server: TestServer;
let product_id: string;
beforeAll(async () => {
  server = await startServer({
    own: true,
    settings: { bounds: { ...TEST_SETTINGS.bounds, openCheckouts: ROOM } },
  });
  product_id = (await product(server)).id;
  await server.sql`alter table checkouts add constraint of_a_test check (customer_name <> 'refused')`;
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.sql`truncate checkouts, checkout_rooms, idempotency`;
});

const times = (count: number, task: (nth: number) => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: count }, (_, nth) => task(nth)));
const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status);
const open = (body: object = {}, key?: string) => checkout(server, { product_id, ...body }, key);

test('checkouts that arrive while others are opened share one statement', async () => {
  expect(statuses(await times(ROOM, () => open()))).toEqual(Array(ROOM).fill(201));
  const [row] = await server.sql<{ statements: number }[]>`
    select count(distinct xmin::text)::int as statements from checkouts`;
  expect(row!.statements).toBeLessThan(ROOM);
});

test('a checkout that cannot be written fails alone, beside others of its batch', async () => {
  const replies = await times(9, (nth) =>
    open({ customer_name: nth % 4 === 3 ? 'refused' : 'taken' }, `alone-${nth}`),
  );
  expect(statuses(replies)).toEqual([201, 201, 201, 500, 201, 201, 201, 500, 201]);
  expect(await checkouts(server)).toBe(7);
  // Nothing was kept of the call that failed.
  expect((await open({}, 'alone-3')).status).toBe(201);
});

test('each refused checkout of a batch has its own reason, and the others are opened', async () => {
  const replies = await Promise.all([
    open(),
    open({ product_id: '01890000-0000-7000-8000-000000000000' }),
    open({ currency: 'EUR' }),
    open({ discount_code: 'nobody' }),
    open({}, 'once'),
    server.call('POST', `/buy-links/${product_id}/checkout`, { key: null }),
  ]);
  expect(statuses(replies)).toEqual([201, 404, 400, 400, 201, 200]);
  expect((await open({}, 'once')).text).toBe(replies[4].text);
});

test('a checkout refused at the limit keeps the refusal under its key, an opened one itself', async () => {
  const replies = await times(2 * ROOM, (nth) => open({}, `room-${nth}`));
  expect(statuses(replies).toSorted((a, b) => a - b)).toEqual([
    ...Array(ROOM).fill(201),
    ...Array(ROOM).fill(409),
  ]);
  await server.sql`update checkouts set status = 'expired'`;
  const again = await times(2 * ROOM, (nth) => open({}, `room-${nth}`));
  expect(again.map(({ text }) => text)).toEqual(replies.map(({ text }) => text));
  expect((await open()).status).toBe(201);
});

test('a limit on open checkouts counts none that have expired, and follows when it is lowered', async () => {
  await times(ROOM, () => open());
  expect((await open()).status).toBe(409);
  await server.sql`
    update checkouts set expires_at = now() - interval '1 second'
    where id in (select id from checkouts where status = 'active' limit 2)`;
  expect(statuses(await times(3, () => open())).toSorted((a, b) => a - b)).toEqual([201, 201, 409]);
  // As a server with a higher bound leaves it.
  await server.sql`update checkout_rooms set open_max = ${2 * ROOM}, room = ${ROOM}`;
  expect((await open()).status).toBe(409);
});

test('checkouts whose statement the database cancels are told to try again, and none is open', async () => {
  const replies = await server.sql.begin(async (sql) => {
    await sql`lock table checkouts in access exclusive mode`;
    const asked = times(5, (nth) => open({}, `again-${nth}`));
    await until('the first one waits', async () => (await waiting()).length > 0);
    expect(await cancelAll(asked)).toBeLessThanOrEqual(5);
    return asked;
  });
  expect(statuses(replies)).toEqual(Array(5).fill(503));
  expect(await checkouts(server)).toBe(0);
  const again = await times(5, (nth) => open({}, `again-${nth}`));
  expect(statuses(again)).toEqual(Array(5).fill(201));
});

test('opening a checkout does not wait for a customer or organisation that is being changed', async () => {
  const scope = { organisationId: server.organisation.id, mode: 'test' } as const;
  const made = await server.call('POST', '/customers', { body: { name: 'Ada' } });
  const id = made.json.id as string;
  await server.sql.begin(async (sql) => {
    await lockGroupOf(sql, scope.organisationId);
    const change = { id, patch: { name: 'Grace' }, eventId: Bun.randomUUIDv7(), now: Date.now() };
    await updateCustomer(sql, scope, change);
    let status = 0;
    const answered = open({ customer_id: id }).then((reply) => (status = reply.status));
    // Else it is answered when this transaction ends.
    await Promise.all([until('it is opened', () => status === 201, 5000), answered]);
  });
});

const waiting = () => server.sql<{ pid: number; since: string }[]>`
  select pid, query_start::text as since from pg_stat_activity
  where wait_event_type = 'Lock' and query like '%open_checkouts%' and datname = current_database()`;

/** Whatever waits, until all are answered; the number of statements. */
async function cancelAll(asked: Promise<unknown>): Promise<number> {
  const canceled = new Set<string>();
  let isOver = false;
  const over = asked.finally(() => {
    isOver = true;
  });
  await until('all are answered', async () => {
    for (const { pid, since } of await waiting()) {
      await server.sql`select pg_cancel_backend(${pid})`;
      canceled.add(since);
    }
    return isOver;
  });
  await over;
  return canceled.size;
}
