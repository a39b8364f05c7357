// One call may fire more alerts than a unit writes: the rest follows some at once, after its
// answer.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ALERT_EVENTS_PER_UNIT_MAX, ALERTS_PER_METER_MAX } from '../../../ledger/limits.ts';
import { until } from '../../support/until.ts';
import { testBooksClose, times } from '../metering/setting.ts';
import { Watching } from './watching.ts';

setDefaultTimeout(90_000);

const CUSTOMERS = 300;

let watching: Watching;
beforeAll(async () => {
  watching = await Watching.open({ alone: true });
});
afterAll(() => watching.stop());

async function flushes(): Promise<number> {
  const [row] = await watching.setting.server.sql<{ seq: bigint }[]>`
    select sum(seq)::bigint as seq from nodes`;
  return Number(row?.seq);
}

test('many alerts of one customer all fire, in a few flushes', async () => {
  const { setting } = watching;
  const feature = await watching.feature();
  for (let n = 1; n <= ALERTS_PER_METER_MAX; n += 1) {
    await watching.alert(feature, { type: 'usage', threshold: n });
  }
  const customers = await times(CUSTOMERS, () => setting.customer());
  await setting.ingest(customers.map((customer_id) => ({ name: feature, customer_id, value: 0 })));
  const events = customers.map((customer_id) => ({ name: feature, customer_id, value: 100 }));
  await until('nobody else looks at them', async () => {
    const { sql } = setting.server;
    return (await sql`select from alerts where look_at is not null`).length === 0;
  });
  const before = await flushes();
  expect((await setting.ingest(events)).status).toBe(200);
  const all = CUSTOMERS * ALERTS_PER_METER_MAX;
  await until('all are told', async () => (await watching.count()) >= all);
  const told = await setting.server.sql<{ count: bigint; accounts: bigint }[]>`
    select count(*), count(distinct account_id) as accounts from events
    where type = 'alert.triggered' and data ->> 'initial' = 'false'`;
  // One for each customer that is left would be 270.
  expect((await flushes()) - before).toBeLessThan(60);
  expect(all).toBeGreaterThan(2 * ALERT_EVENTS_PER_UNIT_MAX);
  expect(told.map(({ count, accounts }) => [Number(count), Number(accounts)])).toEqual([
    [all, CUSTOMERS],
  ]);
});

testBooksClose(() => watching.setting);
