import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type Call, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

const post = (path: string, key: string, call: Call) =>
  server.call('POST', path, { ...call, headers: { 'idempotency-key': key } });

test('an Idempotency-Key sent again replays the bytes, and nothing happens twice', async () => {
  const first = await post('/customers', 'k1', { body: { name: 'Ada', email: 'ada@example.com' } });
  // The same value, written differently.
  const again = await post('/customers', 'k1', {
    raw: ' {"email":"ada@example.com", "name":"\\u0041da"}',
  });
  expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  expect(again.text).toBe(first.text);
  expect((await server.call('GET', '/customers?email=ada%40example.com')).json.data).toHaveLength(
    1,
  );
});

test('an Idempotency-Key with another body is refused', async () => {
  await post('/customers', 'k2', { body: { name: 'A' } });
  const reply = await post('/customers', 'k2', { body: { name: 'B' } });
  expect([reply.status, reply.json.error.type]).toEqual([422, 'idempotency_key_reused']);
});

test('a business refusal is replayed under its Idempotency-Key, even when it would succeed now', async () => {
  await server.call('POST', '/meters', { body: { slug: 'gone' } });
  const first = await post('/meters', 'k3', { body: { slug: 'gone' } });
  await server.call('DELETE', '/meters/gone');
  const again = await post('/meters', 'k3', { body: { slug: 'gone' } });
  expect([first.status, again.status]).toEqual([409, 409]);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
});

test('a body that fails its schema does not use up its Idempotency-Key', async () => {
  expect((await post('/customers', 'k4', { body: { nam: 'A' } })).status).toBe(400);
  expect((await post('/customers', 'k4', { body: { name: 'A' } })).status).toBe(201);
});

test('an Idempotency-Key counts for one route, organisation and mode', async () => {
  const { organisation, other } = server;
  expect((await post('/customers', 'k5', { body: {} })).status).toBe(201);
  expect((await post('/meters', 'k5', { body: { slug: 'k5' } })).status).toBe(201);
  for (const key of [organisation.liveKey, other.testKey]) {
    const reply = await post('/customers', 'k5', { key, body: { name: 'another' } });
    expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([201, null]);
  }
});

test('of many calls at once with one Idempotency-Key one executes, and all get its answer', async () => {
  const body = { external_customer_id: 'storm' };
  const replies = await Promise.all(
    Array.from({ length: 30 }, () => post('/customers', 'k6', { body })),
  );
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(
    replies.filter(({ headers }) => headers.get('idempotency-replayed') === null),
  ).toHaveLength(1);
});

test('five checkouts at once under one Idempotency-Key are one', async () => {
  const prices = [{ amount: '1.00', currency: 'USD' }];
  const product = (await server.call('POST', '/products', { body: { name: 'P', prices } })).json;
  const body = { product_id: product.id, customer_email: 'ada@example.com' };
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => post('/checkouts', 'five', { body })),
  );
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
});

/** Runs `task` while a lock keeps every caller from making a meter of the organisation. */
async function whileHeld<T>(task: (release: () => void) => Promise<T>): Promise<T> {
  const released = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holder = server.sql.begin(async (sql) => {
    await sql`select 1 from organisations where id = ${server.organisation.id} for update`;
    held.resolve();
    await released.promise;
  });
  await held.promise;
  try {
    return await task(released.resolve);
  } finally {
    released.resolve();
    await holder;
  }
}

test('while a call with an Idempotency-Key executes, another with it waits for its answer', async () => {
  const send = () => post('/meters', 'k7', { body: { slug: 'slow' } });
  const both = await whileHeld(async (release) => {
    const calls = [send(), send()];
    const early = await Promise.race([...calls, Bun.sleep(300)]);
    expect(early).toBeUndefined();
    release();
    return Promise.all(calls);
  });
  expect(both.map(({ status }) => status)).toEqual([201, 201]);
  expect(both[0]!.text).toBe(both[1]!.text);
});

test('calls that wait for an Idempotency-Key hold no connection, and their number is bounded', async () => {
  const send = () => post('/meters', 'k7c', { body: { slug: 'slowest' } });
  await whileHeld(async (release) => {
    // More than each node allows to wait.
    const many = Array.from({ length: 150 * Number(process.env['TEST_NODES'] ?? 1) }, send);
    const { status } = await server.call('GET', '/customers', { key: server.other.testKey });
    expect(status).toBe(200);
    const first = await Promise.race(many);
    expect([first.status, first.json.error.type]).toEqual([409, 'idempotency_in_progress']);
    release();
    const statuses = (await Promise.all(many)).map((reply) => reply.status);
    expect(statuses.filter((one) => one === 201).length).toBeGreaterThan(100);
  });
}, 60_000);

test('a checkout that could not be made may be made under the same Idempotency-Key', async () => {
  const product = (await server.call('POST', '/products', { body: { name: 'Q' } })).json;
  const body = { product_id: product.id, customer_email: 'ada@example.com' };
  const refused = await post('/checkouts', 'later', { body });
  expect([refused.status, refused.json.error.type]).toEqual([400, 'checkout_create_failed']);
  const price = { amount: '1.00', currency: 'USD' };
  await server.call('POST', `/products/${product.id}/prices`, { body: price });
  const made = await post('/checkouts', 'later', { body });
  expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null]);
});

test('a call that fails stores no answer: effect and answer are one transaction', async () => {
  await server.sql`alter table idempotency add constraint broken check (status <> 201) not valid`;
  const body = { external_customer_id: 'rolled-back' };
  const reply = await post('/customers', 'k8', { body });
  expect([reply.status, reply.json.error.type]).toEqual([500, 'internal_error']);
  expect((await server.call('GET', '/customers/rolled-back')).status).toBe(404);
  await server.sql`alter table idempotency drop constraint broken`;
  expect((await post('/customers', 'k8', { body })).status).toBe(201);
});

test('a call whose transaction fails at its commit stores no answer', async () => {
  await server.sql`
    create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`;
  await server.sql`
    create constraint trigger refuse after insert on customers deferrable initially deferred
    for each row execute function refuse()`;
  const body = { external_customer_id: 'at the end' };
  expect((await post('/customers', 'k9', { body })).status).toBe(500);
  await server.sql`drop trigger refuse on customers`;
  const again = await post('/customers', 'k9', { body });
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null]);
});
