// What the fan-out cannot see: an endpoint changes while an event is being committed.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { reconcileDeliveries } from '../../../src/records/delivery-reconciliation.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { anEvent, deliveriesOf, endpointOf, hearDue, takenByWorker, unaccounted } from './owed.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ own: true });
});
afterAll(() => server.stop());

const now = Date.now();

/** The endpoint's new state, its deliveries by state, and the expected states afterwards. */
// prettier-ignore
const STATES: [string, string, string, string][] = [
  // endpoint    owed        in a worker's hands   becomes
  ['enabled',    'held',     'no',                 'pending'],
  ['enabled',    'pending',  'no',                 'pending'],
  ['disabled',   'pending',  'no',                 'held'],
  ['disabled',   'pending',  'yes',                'pending'],
  ['disabled',   'held',     'no',                 'held'],
  ['deleted',    'pending',  'no',                 'exhausted'],
  ['deleted',    'pending',  'yes',                'pending'],
  ['deleted',    'held',     'no',                 'exhausted'],
  ['deleted',    'delivered', 'no',                'delivered'],
];

test.each(STATES)(
  'a delivery of an endpoint that is %s, owed %s, being sent %s, becomes %s',
  async (endpoint, owed, flying, becomes) => {
    const { id } = await endpointOf(server, { event_types: ['customer.created'] });
    await anEvent(server);
    const [row] = await deliveriesOf(server, id);
    await server.sql`update deliveries set status = ${owed} where id = ${row!['id']}`;
    if (flying === 'yes') await takenByWorker(server, row!['id']);
    await server.sql`
    update webhook_endpoints set status = ${endpoint === 'enabled' ? 'enabled' : 'disabled'},
      deleted_at = ${endpoint === 'deleted' ? new Date() : null}
    where id = ${id}`;
    const due = await hearDue(server);
    expect(await reconcileDeliveries(server.sql, { now })).toBe(false);
    const [after] = await deliveriesOf(server, id);
    expect(after!['status']).toBe(becomes);
    expect(await due.told()).toEqual(owed === 'held' && becomes === 'pending' ? [id] : []);
    await due.stop();
    expect(await unaccounted(server)).toEqual([]);
  },
);

test('of very many owed deliveries one batch is changed, and it says that there may be more', async () => {
  const { id } = await endpointOf(server, { status: 'disabled' });
  await server.sql`
    insert into deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    select uuidv7(), ${id}, uuidv7(), 'customer.created', 'held', now(), now() from generate_series(1, 3000)`;
  await server.sql`update webhook_endpoints set status = 'enabled' where id = ${id}`;
  expect(await reconcileDeliveries(server.sql, { now })).toBe(true);
  expect(await reconcileDeliveries(server.sql, { now })).toBe(false);
  expect(await reconcileDeliveries(server.sql, { now })).toBe(false);
  const left =
    await server.sql`select 1 from deliveries where endpoint_id = ${id} and status = 'held'`;
  expect(left).toHaveLength(0);
});
