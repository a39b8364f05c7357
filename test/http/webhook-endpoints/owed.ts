// Pending deliveries, and their outcome: what the workers would write, written here.
import { tell } from '../../../src/platform/postgres/tell.ts';
import { setImmediate } from 'node:timers/promises';
import { relayAll } from '../../support/relayed.ts';
import type { TestServer } from '../../support/server.ts';

/** Never resolves, and is taken: it can be due at any time. */
export const URL_OF_NOBODY = 'https://hooks.example/tollhouse';

export async function endpointOf(server: TestServer, body: object = {}, key?: string) {
  const reply = await server.call('POST', '/webhook-endpoints', {
    body: { url: URL_OF_NOBODY, ...body },
    ...(key !== undefined && { key }),
  });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.json;
}

/** One `customer.created`, fanned out to its endpoints. The id of the event. */
export async function anEvent(server: TestServer, key?: string): Promise<string> {
  const call = { body: {}, ...(key !== undefined && { key }) };
  const customer = await server.call('POST', '/customers', call);
  const [row] = await server.sql`select id from events where object_id = ${customer.json.id}`;
  await relayAll(server.sql);
  return row!['id'];
}

export async function deliveriesOf(server: TestServer, endpointId: string) {
  const rows = await server.sql`
    select id, event_id as event, status, attempts, first_at as "firstAt", worker, next_at as "nextAt",
      settled_at as "settledAt"
    from deliveries where endpoint_id = ${endpointId} order by id`;
  return [...rows];
}

/** Pending deliveries without a task: always none. */
export async function unaccounted(server: TestServer) {
  const rows = await server.sql`
    select coalesce(f.event_id, d.event_id) as event, f.owed, d.count
    from event_fanouts f full join (select event_id, count(*) from deliveries group by 1) d using (event_id)
    where f.owed is distinct from coalesce(d.count, 0)`;
  return [...rows];
}

/** As if its attempts had been made. */
export async function settledAs(
  server: TestServer,
  deliveryId: string,
  status: 'delivered' | 'exhausted',
) {
  await server.sql`
    update deliveries set status = ${status}, attempts = 3, first_at = now() - interval '1 day', settled_at = now()
    where id = ${deliveryId}`;
}

/** As if a worker had it. */
export async function takenByWorker(server: TestServer, deliveryId: string) {
  await server.sql`
    update deliveries set worker = uuidv7(), next_at = now() + interval '1 minute' where id = ${deliveryId}`;
}

/** Listens, from now on, to the notifications about endpoints. */
export async function hearDue(server: TestServer) {
  const told: string[] = [];
  const listening = await server.sql.listen('tollhouse_deliveries', (id) => told.push(id));
  return {
    /**
     * The notifications since the last call, `count` at least: another node may tell after its
     * answer. Those of this one come in order, so a marker is the last of them.
     */
    async told(count = 0): Promise<string[]> {
      while (told.length < count) await setImmediate();
      tell(server.sql, 'tollhouse_deliveries', 'marker');
      while (told.at(-1) !== 'marker') await setImmediate();
      return told.splice(0).filter((id) => id !== 'marker');
    },
    stop: () => listening.unlisten(),
  };
}
