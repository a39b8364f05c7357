// Finished deliveries are removed with their attempts; pending ones stay, and so do their events.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { retain } from '../../src/database/retention.ts';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { replay } from '../../src/records/deliveries.ts';
import { Bed } from '../workers/engine/bed.ts';
import { Sink } from '../workers/engine/sink.ts';
import { DAY_MS, POLICY } from './keeping.ts';

let bed: Bed;
let wellId: string;

beforeAll(async () => {
  bed = await Bed.start({ engines: 0, faster: 10 });
  const close = await bed.addEngine();
  // Announced before any endpoint existed.
  const { server } = bed;
  await server.call('POST', '/meters', { body: { slug: 'api' } });
  const { json } = await server.call('POST', '/customers', { body: {} });
  const grant = { feature_key: 'api', amount: 10 };
  await server.call('POST', `/customers/${json.id}/grants`, { body: grant });
  const sink = new Sink();
  const well = await bed.endpoint(sink.url, { event_types: ['*'] });
  wellId = well.id;
  const failing = await bed.endpoint(`${sink.url}/fails`);
  const disabled = await bed.endpoint(`${sink.url}/disabled`, { status: 'disabled' });
  sink.answer = () => new Response();
  await bed.events(2);
  await bed.server.call('POST', `/webhook-endpoints/${well.id}/test`, { body: {} });
  await bed.all(well.id, 'delivered');
  await bed.all(failing.id, 'delivered');
  sink.answer = () => new Response(null, { status: 500 });
  await bed.events(1);
  await bed.attempted(well.id, 4);
  await bed.attempted(failing.id, 3);
  await bed.all(disabled.id, 'held');
  await close();
  await sink.stop();
  const { sql } = bed.server;
  await sql`update webhook_endpoints set updated_at = updated_at - interval '1 hour' where id = ${well.id}`;
}, 60_000);
afterAll(() => bed.stop());

const sweepAt = async (now: number) => {
  const { sql } = bed.server;
  const clock = { now: () => now, monotonic: () => performance.now() };
  return must(await retain({ sql, clock, timers, ids, dryRun: false }, POLICY), 'what went').rows;
};

const states = async () => {
  const rows = await bed.server.sql<{ status: string; count: number }[]>`
    select status, count(*)::int from deliveries group by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};

test('retention keeps every delivery within the window', async () => {
  const before = await states();
  expect(before).toEqual({ delivered: 5, held: 3, pending: 2 });
  const rows = await sweepAt(Date.now() + 89 * DAY_MS);
  expect([rows['deliveries'], rows['events']]).toEqual([0, 0]);
  expect(await states()).toEqual(before);
});

test('retention keeps an event while it is replayed, and its new deliveries keep it longer', async () => {
  const { sql, organisation } = bed.server;
  const options = {
    endpointId: wellId,
    since: new Date(Date.now() - DAY_MS),
    until: new Date(Date.now() + DAY_MS),
    types: ['entitlement.granted'] as const,
    now: Date.now(),
  };
  const late = Date.now() + 91 * DAY_MS;
  const { dropped } = await sql.begin(async (transaction) => {
    const scope = { organisationId: organisation.id, mode: 'test' } as const;
    expect(await replay(transaction, scope, options)).toBe(1);
    return { dropped: (await sweepAt(late))['events'] };
  });
  expect(dropped).toBe(0);
  expect(await states()).toEqual({ pending: 3 });
});

test('retention keeps pending deliveries past the window, with their attempts and event', async () => {
  const rows = await sweepAt(Date.now() + 91 * DAY_MS);
  // The sample; no customer's event, and not the grant that is replayed.
  expect([rows['deliveries'], rows['events']]).toEqual([0, 1]);
  const [left] = await bed.server.sql`
    select (select count(*)::int from delivery_attempts) as attempts, (select sum(owed)::int from event_fanouts) as owed,
      (select count(*)::int from events where type = 'customer.created') as customers`;
  expect(left).toEqual({ attempts: 2, owed: 3, customers: 4 });
  expect(await audit(bed.server.sql)).toEqual([]);
});

test('without the mark of retention the audit would miss the deleted deliveries', async () => {
  await bed.server.sql`update retention set kind = 'elsewhere' where kind = 'deliveries'`;
  const findings = await audit(bed.server.sql);
  expect(findings.map(({ check }) => check)).toContain(
    'an endpoint is owed every event that it subscribed to',
  );
  await bed.server.sql`update retention set kind = 'deliveries' where kind = 'elsewhere'`;
});

test('an old event can be replayed before retention deletes it', async () => {
  const since = new Date(Date.now() - DAY_MS).toISOString();
  const until = new Date(Date.now() + DAY_MS).toISOString();
  const { status, json } = await bed.server.call('POST', `/webhook-endpoints/${wellId}/replay`, {
    body: { since, until },
  });
  expect([status, json.error]).toEqual([200, undefined]);
  expect(await states()).toEqual({ pending: 6 });
  expect(await audit(bed.server.sql)).toEqual([]);
});
