// Alarms of organisations take turns: one that always has more due than may fire at once does not
// hold up another's.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { ids } from '../../src/platform/ids.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

/** More than fire at once. They stay due for ever, since nobody has these ids. */
const STUCK = 1000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

async function leaveDue(organisationId: string): Promise<void> {
  const rows = Array.from({ length: STUCK }, () => {
    const actor = ids.next();
    return { slot: slotOf(actor), actor_id: actor, subject_id: ids.next() };
  });
  await server.sql`
    insert into alarms (slot, actor_id, subject_id, due_at, kind, organisation_id, mode)
    select slot, actor_id, subject_id, now() - interval '1 day', 'meter', ${organisationId}, 'live'
    from jsonb_populate_recordset(null::alarms, ${server.sql.json(rows)})`;
}

test('the only alarm of an organisation fires while another organisation always has a thousand due', async () => {
  await server.call('POST', '/meters', { body: { slug: 'seats' } });
  const customer = { external_customer_id: 'alone' };
  expect((await server.call('POST', '/customers', { body: customer })).status).toBe(201);
  await leaveDue(server.other.id);
  const expires = new Date(Date.now() + 1000).toISOString();
  const grant = { feature_key: 'seats', amount: 5, expires_at: expires };
  const { status, json } = await server.call('POST', '/customers/alone/grants', { body: grant });
  expect(status).toBe(201);
  await until('the grant has ended', async () => {
    const ended = await server.sql`
      select from grants where id = ${json.id} and ended_at is not null`;
    return ended.length > 0;
  });
});
