// One call brings each of 500 customers past 200 alerts. Whoever calls waits for its usage alone:
// what is told of them follows, each once, also where the node dies in between.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import {
  ALERT_EVENTS_PER_UNIT_MAX,
  ALERTS_PER_METER_MAX,
  METERS_PER_EVENT_MAX,
} from '../../ledger/limits.ts';
import { audit } from '../../src/database/audit.ts';
import { Watching } from '../http/alerts/watching.ts';
import { restart, times } from '../http/metering/setting.ts';
import { threadCpuMs } from '../support/cpu.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(300_000);

/** Of this thread until the answer. While the caller waited for all it took 3,100. */
const ANSWER_MS_MAX = 1000;
const EACH = METERS_PER_EVENT_MAX * ALERTS_PER_METER_MAX;

let watching: Watching;
afterEach(async () => {
  expect(await audit(watching.setting.server.sql)).toEqual([]);
  await watching.stop();
});

/** Returns the call that brings all of them past all of their alerts. */
async function armed(many: number) {
  watching = await Watching.open({ alone: true });
  const { setting } = watching;
  const { sql } = setting.server;
  for (let m = 0; m < METERS_PER_EVENT_MAX; m += 1) {
    const feature = await watching.feature({ event_name: 'used' });
    for (let n = 1; n <= ALERTS_PER_METER_MAX; n += 1) {
      await watching.alert(feature, { type: 'usage', threshold: n });
    }
  }
  const customers = await times(many, () => setting.customer());
  const use = (value: number) =>
    setting.ingest(customers.map((customer_id) => ({ name: 'used', customer_id, value })));
  expect((await use(0)).status).toBe(200);
  await until('nobody else looks at them', async () => {
    return (await sql`select from alerts where look_at is not null`).length === 0;
  });
  return () => use(100);
}

/** Each alert of each customer once, by the usage that reached it. */
async function expectAllTold(many: number): Promise<void> {
  await until('all are told', async () => (await watching.count()) >= many * EACH, 240_000);
  const [told] = await watching.setting.server.sql<Record<string, bigint>[]>`
    select count(*) as all, count(distinct (account_id, data ->> 'alertId')) as each,
      count(*) filter (where data ->> 'initial' = 'true') as initial
    from events where type = 'alert.triggered'`;
  expect(told).toEqual({ all: BigInt(many * EACH), each: BigInt(many * EACH), initial: 0n });
}

test('a call that triggers 100,000 alerts is answered when its usage is written', async () => {
  const use = await armed(500);
  const before = threadCpuMs();
  expect((await use()).status).toBe(200);
  const took = threadCpuMs() - before;
  const told = await watching.count();
  console.log(`answered after ${Math.round(took)} ms of processor time, ${told} told`);
  expect(took).toBeLessThan(ANSWER_MS_MAX);
  expect(told).toBeLessThan(20 * ALERT_EVENTS_PER_UNIT_MAX);
  await expectAllTold(500);
});

test('alerts that a call has left are told by the next process where the node dies', async () => {
  const use = await armed(50);
  expect((await use()).status).toBe(200);
  const again = await restart(watching.setting);
  try {
    expect(await watching.count()).toBeLessThan(50 * EACH);
    await expectAllTold(50);
  } finally {
    await again.stop();
  }
});
