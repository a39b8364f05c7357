// Nodes join and leave as planned: callers who never retry see no failure.
import { expect, test } from 'bun:test';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase } from '../support/database.ts';
import { withSeed } from '../support/random.ts';
import { testServices } from '../support/services.ts';
import { until } from '../support/until.ts';
import { Book } from './book.ts';
import { Balancer } from './cluster/balancer.ts';
import { Fleet } from './cluster/fleet.ts';
import { Steady } from './cluster/steady.ts';
import { createTenant } from './tenant.ts';
import { violations, wrongBalances } from './verdict.ts';

const NODES = 3;
const LEASE_MS = 5000;
const CUSTOMERS = 24;
const CALLS = 400;

test('a node joins and another leaves under load: no call fails', async () => {
  const database = await freshDatabase();
  const { redisUrl } = testServices();
  const fleet = await Fleet.open({
    databaseUrl: database.url,
    redisUrl,
    leaseMs: LEASE_MS,
    nodes: NODES,
  });
  const sql = openPool(database.url, { max: 1, applicationName: 'chaos move' });
  try {
    await withSeed(async (random) => {
      const balancer = new Balancer(fleet.nodes, { random, blind: 0 });
      await until('all are ready', () => balancer.allReady);
      const url = await balancer.target();
      const tenant = await createTenant(url, { databaseUrl: database.url, customers: CUSTOMERS });
      const owned = () => Promise.all(fleet.nodes.map((node) => node.slots(sql)));
      const book = new Book(tenant);
      const steady = new Steady({ tenant, book, balancer });
      await steady.more(CALLS);
      steady.during('as ever');
      await steady.more(CALLS);
      steady.during('one joins');
      await fleet.join();
      await until('all have slots', async () => (await owned()).every((slots) => slots.size > 0));
      await steady.more(CALLS);
      steady.during('one leaves');
      const leaver = random.pick(fleet.nodes);
      await leaver.leave();
      expect((await leaver.slots(sql)).size).toBe(0);
      await steady.more(CALLS);
      await steady.stop();
      await balancer.stop();
      for (const line of steady.lines()) console.log(line);
      expect(steady.faults).toEqual([]);
      const [first, ...others] = fleet.nodes.filter((node) => node !== leaver);
      const place = { url: first!.url, databaseUrl: database.url, tenant };
      expect(await violations(place, book)).toEqual([]);
      for (const other of others) expect(await wrongBalances(other.url, tenant, book)).toEqual([]);
    });
  } finally {
    await fleet.stop();
    await sql.end();
    await database.drop();
  }
}, 90_000);
