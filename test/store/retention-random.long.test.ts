// Usage continues while old rows are moved and dropped: the books balance at every moment, and no
// key counts twice within its window.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { times } from '../http/metering/setting.ts';
import { type Random, withSeed } from '../support/random.ts';
import { DAY_MS, Keeping, POLICY } from './keeping.ts';

const START = Date.parse('2028-01-10T12:00:00Z');
const CUSTOMERS = 5;
/** For each customer. */
const KEYS = 800;
const ROUNDS = 8;
/** Each is a call of 300 events: in a few rounds more than the pages of one statement. */
const CALLS = 5;

let keeping: Keeping;
let customers: readonly string[];
beforeAll(async () => {
  keeping = await Keeping.open();
  await keeping.setting.meter('api');
  await keeping.setting.meter('users', { aggregation: 'unique', unique_property: 'user' });
  await keeping.travel(START);
  customers = await times(CUSTOMERS, () => keeping.setting.customer());
  for (const id of customers) {
    await keeping.setting.grant(id, 'api', { amount: 1000, reset_interval: 'week' });
  }
}, 60_000);
afterAll(() => keeping.stop());

/** The expected state, without the database: when each key last counted, and how much was used. */
class Model {
  /** By customer and key. */
  readonly counted = new Map<string, number>();
  readonly used = new Map<string, number>(customers.map((id) => [id, 0]));

  async ingest(random: Random): Promise<void> {
    const now = keeping.clock.now();
    const taken = new Set<string>();
    const events = Array.from({ length: 300 }, () => {
      const key = `key ${random.integer(1, KEYS)}`;
      const customer_id = random.pick(customers);
      const fresh = !taken.has(nameOf(customer_id, key));
      taken.add(nameOf(customer_id, key));
      return fresh
        ? { customer_id, name: 'api', external_id: key, value: random.integer(0, 9) }
        : { customer_id, name: 'users', value: 1, metadata: { user: key } };
    });
    const { status, json } = await keeping.setting.ingest(events);
    expect([status, json.error]).toEqual([200, undefined]);
    for (const { index, status: told } of json.events as { index: number; status: string }[]) {
      const event = events[index]!;
      if (event.external_id === undefined) continue;
      const name = nameOf(event.customer_id, event.external_id);
      const before = this.counted.get(name);
      if (told === 'duplicate') continue;
      const isOver = before === undefined || before < now - POLICY.keysMs;
      expect([name, isOver]).toEqual([name, true]);
      this.counted.set(name, now);
      const used = this.used.get(event.customer_id) ?? 0;
      this.used.set(event.customer_id, used + event.value);
    }
  }
}

/** A key belongs to its customer. */
const nameOf = (customer: string, key: string): string => `${customer} ${key}`;

/** The number of consecutive audits without a finding. */
async function auditUntil(signal: AbortSignal): Promise<number> {
  let count = 0;
  while (!signal.aborted) {
    expect(await audit(keeping.setting.server.sql)).toEqual([]);
    count += 1;
  }
  return count;
}

test(
  'retention at random moments leaves the books sound, whatever is moved and dropped',
  () =>
    withSeed(async (random) => {
      const model = new Model();
      const seen = { moved: 0, closed: 0, audits: 0 };
      let now = START;
      for (let round = 0; round < ROUNDS; round += 1) {
        now += random.integer(1, 25) * DAY_MS;
        await keeping.travel(now);
        const over = new AbortController();
        const audits = auditUntil(over.signal);
        const sweeping = Promise.all([
          keeping.retain({ usageMonths: random.pick([null, 1, 2]) }),
          keeping.retain(),
        ]);
        // One after the other: with concurrent calls the test cannot know which one a shared key
        // counts for.
        for (let call = 0; call < CALLS; call += 1) await model.ingest(random);
        for (const done of await sweeping) {
          seen.moved += done?.rows['transfers'] ?? 0;
          seen.closed += done?.closed.length ?? 0;
        }
        over.abort();
        seen.audits += await audits;
        if (random.chance(0.5)) keeping.setting.server.ledger.forgetAll();
      }
      await keeping.retain({ usageMonths: 1 });
      await keeping.closes();
      for (const customer of customers) {
        const consumed = await keeping.setting.consumed(customer, 'api');
        const sum = consumed.reduce((total, period) => total + period, 0);
        expect([customer, sum]).toEqual([customer, model.used.get(customer)!]);
      }
      expect(seen.moved).toBeGreaterThan(0);
      expect(seen.audits).toBeGreaterThan(ROUNDS / 2);
    }),
  120_000,
);
