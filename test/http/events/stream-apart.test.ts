// An organisation whose streams cannot be read in time is refused alone: its neighbours' open
// meanwhile.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { StreamReader } from '../../support/event-stream.ts';
import { startServer, type TestServer } from '../../support/server.ts';

setDefaultTimeout(60_000);

const SLOW_STREAMS = 20;
const NEIGHBOURS = 5;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ own: true });
});
afterAll(() => server.stop());

/** Whoever reads what waits of this organisation takes longer than a statement may. */
async function slowDown(organisationId: string): Promise<void> {
  await server.sql`alter table event_queue rename to event_queue_fast`;
  await server.sql.unsafe(`
    create view event_queue as select * from event_queue_fast
    where organisation_id <> '${organisationId}' or pg_sleep(60) is not null`);
}

async function speedUp(): Promise<void> {
  await server.sql`drop view event_queue`;
  await server.sql`alter table event_queue_fast rename to event_queue`;
}

test('event streams of one organisation that cannot be read make no other one wait', async () => {
  const { organisation, other } = server;
  await server.call('POST', '/customers', { body: {} });
  await slowDown(organisation.id);
  try {
    let refused = 0;
    const slow = Array.from({ length: SLOW_STREAMS }, async () => {
      const reply = await server.call('GET', '/events/stream');
      refused += 1;
      return [reply.status, reply.headers.get('retry-after')];
    });
    const neighbours = await Promise.all(
      Array.from({ length: NEIGHBOURS }, () =>
        StreamReader.open(server.url, { key: other.testKey }),
      ),
    );
    expect(neighbours.map(({ response }) => response.status)).toEqual(neighbours.map(() => 200));
    expect(refused).toBe(0);
    expect(await Promise.all(slow)).toEqual(slow.map(() => [503, '1']));
    await Promise.all(neighbours.map((reader) => reader.close()));
  } finally {
    await speedUp();
  }
});
