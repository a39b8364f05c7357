import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { checkout, product } from './fixture.ts';

let server: TestServer;
let product_id: string;
beforeAll(async () => {
  server = await startServer({ edited: true });
  ({ id: product_id } = await product(server));
});
afterAll(() => server.stop());

const made = async (): Promise<string> => (await checkout(server, { product_id })).json.id;
const read = async (id: string) => (await server.call('GET', `/checkouts/${id}`)).json;
const expire = (id: string) => server.call('POST', `/checkouts/${id}/expire`);
const outlive = (id: string) =>
  server.sql`update checkouts set expires_at = now() - interval '1 s' where id = ${id}`;

test('GET of a checkout says when it was paid', async () => {
  const id = await made();
  await server.sql`
    update checkouts set status = 'paid', payment_id = ${id}, paid_at = '2026-11-21T10:00:00Z'
    where id = ${id}`;
  expect(await read(id)).toMatchObject({ status: 'paid', paid_at: '2026-11-21T10:00:00.000Z' });
});

test('GET shows a checkout past its time as expired before a job marks it', async () => {
  const id = await made();
  await outlive(id);
  expect((await read(id)).status).toBe('expired');
});

test('a checkout whose payment is processing does not expire', async () => {
  const id = await made();
  await server.sql`
    update checkouts set status = 'processing', payment_id = ${id}, expires_at = now() - interval '1 s' where id = ${id}`;
  expect((await read(id)).status).toBe('processing');
});

test('expire closes a checkout, and again gives the same answer', async () => {
  const id = await made();
  const before = await read(id);
  const replies = await Promise.all([expire(id), expire(id), expire(id)]);
  for (const { status, json } of replies) {
    expect([status, json]).toEqual([200, { ...before, status: 'expired' }]);
  }
  expect((await expire(id)).json).toEqual({ ...before, status: 'expired' });
  expect((await read(id)).status).toBe('expired');
});

test('expire leaves a checkout alone whose time is over', async () => {
  const id = await made();
  await outlive(id);
  const reply = await expire(id);
  expect([reply.status, reply.json]).toEqual([200, await read(id)]);
  const [row] = await server.sql`select status from checkouts where id = ${id}`;
  expect(row!['status']).toBe('active');
});

test('GET /checkouts lists newest first, in pages, by status as it is now', async () => {
  const { other } = server;
  const theirs = await product(server, { key: other.testKey });
  const call = (path: string) => server.call('GET', path, { key: other.testKey });
  const ids: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    const body = { product_id: theirs.id, customer_email: 'a@example.com' };
    const reply = await server.call('POST', '/checkouts', { key: other.testKey, body });
    ids.unshift(reply.json.id);
  }
  const [newest, second, third, oldest] = ids;
  await outlive(second!);
  await server.call('POST', `/checkouts/${third}/expire`, { key: other.testKey });
  const list = async (query: string) => {
    const { json } = await call(`/checkouts${query}`);
    return { ...json, data: json.data.map(({ id }: { id: string }) => id) };
  };
  const page = { limit: 50, offset: 0, has_more: false };
  expect(await list('')).toEqual({ ...page, data: ids });
  expect(await list('?status=active')).toEqual({ ...page, data: [newest, oldest] });
  expect(await list('?status=expired')).toEqual({ ...page, data: [second, third] });
  expect(await list('?status=paid')).toEqual({ ...page, data: [] });
  expect(await list('?limit=2&offset=1')).toEqual({
    data: [second, third],
    limit: 2,
    offset: 1,
    has_more: true,
  });
  const { json } = await call('/checkouts?limit=1');
  expect(json.data[0]).toEqual((await call(`/checkouts/${newest}`)).json);
});
