// One call uses what many customers have of a new period in which all of their alerts recover: each
// customer's do in a decision of its own, and the flush of the call tells of none.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ALERT_EVENTS_PER_UNIT_MAX, ALERTS_PER_METER_MAX } from '../../../ledger/limits.ts';
import { MovedClock } from '../../support/moved-clock.ts';
import { until } from '../../support/until.ts';
import { testBooksClose, times } from '../metering/setting.ts';
import { Watching } from './watching.ts';

setDefaultTimeout(90_000);

const CUSTOMERS = 300;
const JAN = Date.parse('2028-01-31T12:00:00Z');
const HOUR = 3_600_000;

const clock = new MovedClock();
let watching: Watching;
beforeAll(async () => {
  clock.travel(JAN);
  watching = await Watching.open({ alone: true, clock });
});
afterAll(() => watching.stop());

test.each(['alone', 'by a pool'])(
  'alerts of meters that slept recover apart from usage: %s',
  async (how) => {
    const { setting } = watching;
    const feature = await watching.feature();
    const pool = `${feature}-pool`;
    if (how === 'by a pool') {
      await setting.meter(pool, { credit_costs: [{ feature_key: feature, cost: '1' }] });
    }
    for (let n = 1; n <= ALERTS_PER_METER_MAX; n += 1) {
      await watching.alert(feature, { type: 'usage', threshold: n });
    }
    const customers = await times(CUSTOMERS, () => setting.customer());
    // A member has the periods of its pool.
    const leading = how === 'by a pool' ? pool : feature;
    const given = { amount: 1000, reset_interval: 'hour' };
    await Promise.all(customers.map((customer) => setting.grant(customer, leading, given)));
    const use = (value: number) =>
      setting.ingest(
        customers.map((customer_id) => {
          const metadata = { use: `${feature} ${value}` };
          return { name: feature, customer_id, value, metadata };
        }),
      );
    expect((await use(100)).status).toBe(200);
    await until('all are told', async () => {
      const [row] = await setting.server.sql<{ count: bigint }[]>`
        select count(*) from events
        where type = 'alert.triggered' and data ->> 'featureKey' = ${feature}`;
      return Number(row?.count) >= CUSTOMERS * ALERTS_PER_METER_MAX;
    });
    // Alarms decide apart from the call too, and a flush may have both: they do not ring now.
    await setting.server.sql`update alarms set due_at = due_at + interval '1 day'`;
    clock.travel(clock.now() + HOUR);
    // Nothing of the new period has been reached.
    expect((await use(0)).status).toBe(200);
    const told = await setting.server.sql<{ type: string; all: bigint; beside: bigint }[]>`
      select type, count(*) as all, count(*) filter (where xmin::text in (
        select xmin::text from transfers where metadata ->> 'use' = ${`${feature} 0`})) as beside
      from events where type like 'alert.%' and data ->> 'featureKey' = ${feature}
      group by type order by type`;
    const all = CUSTOMERS * ALERTS_PER_METER_MAX;
    expect(told.map((row) => [row.type, Number(row.all), Number(row.beside)])).toEqual([
      ['alert.recovered', all, 0],
      ['alert.triggered', all, 0],
    ]);
    expect(all).toBeGreaterThan(2 * ALERT_EVENTS_PER_UNIT_MAX);
    const [customer = ''] = customers;
    expect(await setting.balance(customer, feature)).toMatchObject({ consumed: 0 });
  },
);

testBooksClose(() => watching.setting);
