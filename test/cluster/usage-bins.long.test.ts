// Usage over time on several nodes: whatever callers send, and whichever node dies with deltas that
// are not folded, bins have what was acknowledged, once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { clock } from '../../src/platform/clock.ts';
import { openUsageFolder } from '../../src/service/usage-folder.ts';
import { untilFolded } from '../support/folded.ts';
import { type Random, withSeed } from '../support/random.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

const LEASE_MS = 1000;
const QUARTER_MS = 900_000;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2, { leaseMs: LEASE_MS });
  await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls' } });
}, 60_000);
afterAll(() => nodes.stop());

async function customer(): Promise<string> {
  return (await nodes.all[0]!.call('POST', '/customers', { body: {} })).json.id;
}

/** Sends it to any node, twice now and then, until it is answered. */
async function insist(random: Random, path: string, body: object): Promise<void> {
  const times = random.chance(0.2) ? 2 : 1;
  for (let answered = 0; answered < times;) {
    const { status, json } = await random.pick(nodes.all).call('POST', path, { body });
    if (status === 200) answered += 1;
    else expect([status, json]).toMatchObject([503, {}]);
  }
}

const quarterOf = (at: number): number => Math.floor(at / QUARTER_MS) * QUARTER_MS;

/** Of what is recorded at the time of its call: that may be in one of two quarters. */
const NOW = Infinity;

/** What was acknowledged, by quarter. */
class Model {
  readonly quarters = new Map<number, { value: number; events: number }>();

  add(quarter: number, value: number): void {
    const { value: sum, events } = this.quarters.get(quarter) ?? { value: 0, events: 0 };
    this.quarters.set(quarter, { value: sum + value, events: events + (value < 0 ? -1 : 1) });
  }

  /** By track or by ingest; late, corrected, and now and then sent twice. */
  async use(random: Random, customers: readonly string[], key: string): Promise<void> {
    const now = Date.now();
    const isLate = random.chance(0.5);
    const events = Array.from({ length: random.integer(1, 5) }, (_, n) => {
      const at = now - random.integer(3_600_000, 20 * 86_400_000);
      const value = random.integer(-3, 9);
      this.add(isLate ? quarterOf(at) : NOW, value);
      const time = new Date(at).toISOString();
      return { id: random.pick(customers), value, time, key: `${key} ${n}` };
    });
    if (isLate) {
      const ingested = events.map(({ id, value, time, key: external_id }) => {
        return { name: 'calls', customer_id: id, value, timestamp: time, external_id };
      });
      return insist(random, '/events/ingest', { events: ingested });
    }
    for (const { id, value, key: idempotency_key } of events) {
      const body = { feature_key: 'calls', customer_id: id, value, idempotency_key };
      await insist(random, '/track', body);
    }
  }
}

/** What the totals say; quarters from `since` on are one. */
async function totals(node: TestServer, since: number) {
  await untilFolded(node.sql);
  const rows = await node.sql<{ quarter: Date; value: number; events: number }[]>`
    select least(t.quarter, ${new Date(since)}) as quarter, sum(t.value / 10::numeric ^ m.scale)::float8 as value,
      sum(t.events)::int as events
    from usage_totals t join meters m on m.id = t.meter_id group by 1`;
  const nameOf = (at: number) => (at === since ? NOW : at);
  return new Map(
    rows.map(({ quarter, value, events }) => [nameOf(quarter.getTime()), { value, events }]),
  );
}

test(
  'a node dies with deltas of usage bins, and its customers go on elsewhere',
  () =>
    withSeed(async (random) => {
      const model = new Model();
      const since = quarterOf(Date.now());
      const customers = await Promise.all(Array.from({ length: 6 }, customer));
      for (let n = 0; n < 12; n += 1) await model.use(random, customers, `before ${n}`);
      const [first, second] = nodes.all as [TestServer, TestServer];
      expect((await first.sql`select from usage_deltas`).length).toBeGreaterThan(0);
      second.journal.freeze();
      nodes.all.splice(1, 1);
      for (let n = 0; n < 12; n += 1) await model.use(random, customers, `after ${n}`);
      second.journal.thaw();
      nodes.all.push(second);
      expect(await totals(first, since)).toEqual(model.quarters);
      expect(await audit(first.sql)).toEqual([]);
    }),
  60_000,
);

test('a usage bin folder that waits for a lock ends with the service', async () => {
  const [{ databaseUrl, sql }] = nodes.all as [TestServer];
  await sql.begin(async (transaction) => {
    await transaction`lock table usage_deltas in access exclusive mode`;
    const errors: unknown[] = [];
    const log = { error: (fields: object) => errors.push(fields) };
    const folder = openUsageFolder({ databaseUrl, log } as never, { clock });
    await until('it waits', async () => {
      const waiting = await sql`
        select from pg_stat_activity where application_name = 'tollhouse usage' and wait_event_type = 'Lock'`;
      return waiting.length > 2;
    });
    const began = performance.now();
    await folder.close();
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(errors).toEqual([]);
  });
}, 60_000);
