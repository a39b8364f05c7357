// A pool is deleted at the moment at which it is granted for the first time: it is one or the
// other, as what a pool has begun to pay for goes on with it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { cost, features, make } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

let made = 0;

/** A new pool with one member, and a customer. */
async function pool() {
  made += 1;
  const [of, member] = [`pool-${made}`, `member-${made}`];
  await features(server, member);
  await make(server, of, { credit_costs: [cost(member)] });
  const { json } = await server.call('POST', '/customers', { body: {} });
  const customer = json.id as string;
  const grant = () => {
    const body = { feature_key: of, amount: 50 };
    return server.call('POST', `/customers/${customer}/grants`, { body });
  };
  const use = () => {
    const body = { feature_key: member, customer_id: customer };
    return server.call('POST', '/track', { body });
  };
  return { of, customer, grant, use };
}

test('a credit pool that is being deleted cannot be granted', async () => {
  const { of, customer, grant, use } = await pool();
  // As DELETE does it: it has looked for grants, and has not committed.
  const granting = await server.sql.begin(async (deleting) => {
    await deleting`select 1 from meters where slug = ${of} for update`;
    const reply = grant();
    await until('it waits for the pool', async () => {
      const waiting = await server.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await deleting`update meters set deleted_at = now() where slug = ${of}`;
    return { reply };
  });
  const { status, json } = await granting.reply;
  expect([status, json.error]).toEqual([404, { type: 'not_found', message: 'no such feature' }]);
  expect((await use()).status).toBe(200);
  const { json: listed } = await server.call('GET', `/customers/${customer}/grants`);
  expect(listed.data).toEqual([]);
});

test('the books balance after many credit pools are deleted beside grants', async () => {
  for (let n = 0; n < 12; n += 1) {
    const { of, grant, use } = await pool();
    const [gone, ...granted] = await Promise.all([
      server.call('DELETE', `/meters/${of}`),
      grant(),
      grant(),
      grant(),
      use(),
      use(),
      use(),
    ]);
    expect((await use()).status).toBe(200);
    const given = granted.filter(({ status }) => status === 201).length;
    expect([gone.status, given]).toEqual(given === 0 ? [204, 0] : [409, 3]);
  }
  expect(await audit(server.sql)).toEqual([]);
}, 30_000);
