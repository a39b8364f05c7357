// Nothing that was answered is missing from the audit log: where a row cannot be written the answer
// is 503, and a repetition with the same key mends what a crash left out.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Reply, startServer, type TestServer } from '../../support/server.ts';
import { rowsOf } from './reading.ts';

setDefaultTimeout(30_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ alone: true });
});
afterAll(() => server.stop());

const keyed = (path: string, key: string, body?: object): Promise<Reply> =>
  server.call('POST', path, {
    ...(body !== undefined && { body }),
    headers: { 'idempotency-key': key },
  });

/** As an operator who owns the database may. */
async function tamper(statement: string): Promise<void> {
  await server.sql`alter table audit_log disable trigger audit_log_unchanged`;
  await server.sql.unsafe(statement);
  await server.sql`alter table audit_log enable always trigger audit_log_unchanged`;
}

test('a call repeated after a crash writes the audit log row that the first one did not', async () => {
  const first = await keyed('/products', 'left out', { name: 'Pro' });
  const [row] = await rowsOf(server.sql, 'createProduct');
  await tamper(`delete from audit_log where id = '${row!.id}'`);
  expect(await rowsOf(server.sql, 'createProduct')).toEqual([]);
  const again = await keyed('/products', 'left out', { name: 'Pro' });
  expect([again.status, again.text]).toEqual([201, first.text]);
  const rows = await rowsOf(server.sql, 'createProduct');
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ id: row!.id, object_id: first.json.id, after: { name: 'Pro' } });
});

test('an Idempotency-Key used again after it was forgotten has an audit log row of its own', async () => {
  const { json } = await keyed('/products', 'of it', { name: 'Twice' });
  const path = `/products/${json.id}/archive`;
  for (let n = 0; n < 2; n += 1) expect((await keyed(path, 'forgotten')).status).toBe(200);
  expect(await rowsOf(server.sql, 'archiveProduct')).toHaveLength(1);
  await tamper(
    `update audit_log set at = at - interval '31 days' where operation = 'archiveProduct'`,
  );
  await server.sql`delete from idempotency where operation = 'archiveProduct'`;
  await server.call('POST', `/products/${json.id}/publish`);
  const done = await keyed(path, 'forgotten');
  expect(done.headers.get('idempotency-replayed')).toBeNull();
  const rows = await rowsOf(server.sql, 'archiveProduct');
  expect(rows.map(({ before, after }) => [before?.['status'], after?.['status']])).toEqual([
    ['active', 'archived'],
    ['active', 'archived'],
  ]);
});

test('a call whose audit log row fails is a 503, and is complete once it is repeated', async () => {
  await server.sql`alter table audit_log rename to audit_log_away`;
  const refused = await keyed('/products', 'while away', { name: 'Away' });
  const unkeyed = await server.call('POST', '/meters', { body: { slug: 'away' } });
  // What is not logged does not notice.
  const routine = await server.call('POST', '/customers', { body: {} });
  const read = await server.call('GET', '/products');
  await server.sql`alter table audit_log_away rename to audit_log`;
  expect([refused.status, unkeyed.status, routine.status, read.status]).toEqual([
    503, 503, 201, 200,
  ]);
  expect(server.logged.join('')).toContain('the audit log was not written');
  const again = await keyed('/products', 'while away', { name: 'Away' });
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  const rows = await rowsOf(server.sql, 'createProduct');
  expect(rows.filter((row) => row.object_id === again.json.id)).toHaveLength(1);
});
