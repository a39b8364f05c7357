// The number of deliveries in flight in one process is bounded, whatever hangs.
import { expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { openSecrets } from '../../../src/platform/crypto/secrets.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';
import { Sink } from './sink.ts';

const IN_FLIGHT_MAX = 2000;
/**
 * Four of each are in flight while it hangs: so many that the last tickets have to share the room
 * that is left.
 */
const ENDPOINTS = 600;

async function endpoints(bed: Bed, url: string): Promise<void> {
  const { sql } = bed.server;
  const { id: first } = await bed.endpoint(url);
  const secrets = openSecrets(TEST_SECRETS_KEY);
  const others = Array.from({ length: ENDPOINTS - 1 }, () => ids.next());
  const sealed = others.map((id) => secrets.seal('whsec_AAAA', id).toString('hex'));
  await sql`
    insert into webhook_endpoints (id, organisation_id, mode, url, event_types, status, secret, created_at, updated_at)
    select o.id, w.organisation_id, w.mode, w.url, w.event_types, w.status, decode(o.secret, 'hex'), w.created_at, w.updated_at
    from webhook_endpoints w, unnest(${others}::uuid[], ${sealed}::text[]) as o (id, secret) where w.id = ${first}`;
}

test('more hanging endpoints than the worker has room for do not stop the others', async () => {
  const bed = await Bed.start({ faster: 1 });
  const sink = new Sink();
  sink.answer = () => 'hang';
  const flying = async (): Promise<number> => {
    const [row] = await bed.server.sql<{ count: number }[]>`
      select count(*)::int from deliveries where worker is not null`;
    return row!.count;
  };
  try {
    await endpoints(bed, sink.url);
    await bed.events(4);
    let most = 0;
    await until('it is full', async () => {
      most = Math.max(most, await flying());
      return sink.hanging >= IN_FLIGHT_MAX;
    });
    expect(Math.max(most, await flying())).toBe(IN_FLIGHT_MAX);
  } finally {
    await sink.stop();
    await bed.stop();
  }
}, 60_000);
