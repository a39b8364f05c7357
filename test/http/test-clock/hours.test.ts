// Hourly allowances whose usage is sold, under the test clock: a move of days begins many of their
// periods together, and tells what a move for each hour tells.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { made } from '../../payments/shop.ts';
import { Market } from '../usage-billing/setting.ts';
import { HOUR, moved } from './clock.ts';

setDefaultTimeout(120_000);

type Told = {
  readonly id: string;
  readonly type: string;
  readonly at: Date;
  readonly data: Readonly<Record<string, unknown>>;
};

const TOLD = ['amount', 'source', 'limit', 'balance', 'consumed', 'status', 'total', 'quantity'];

/** What became known of a customer, with the hour, and what it was billed. */
async function told(steps: readonly string[]): Promise<readonly string[]> {
  const market = await Market.open();
  const { server } = market.shop;
  const plan = await market.sale({
    price: { interval: 'day' },
    gives: {
      reset_interval: 'hour',
      limit: 10,
      rollover: { max: 5, expires_after_periods: 2 },
    },
  });
  const feature = { feature_key: plan.feature };
  const endpoint = { url: 'https://hooks.example/a', event_types: ['*'] };
  made(await market.post('/webhook-endpoints', endpoint));
  const buyer = await market.buyer(plan);
  const { customer_id } = buyer;
  made(await market.post('/alerts', { ...feature, customer_id, type: 'remaining', threshold: 3 }));
  const top = { ...feature, amount: 4, expires_at: new Date(Date.now() + 30 * HOUR) };
  made(await market.post(`/customers/${customer_id}/grants`, top));
  await market.use(buyer, plan, 16);
  for (const advance of steps) await moved(server, { advance });
  const events = await server.sql<Told[]>`
    select object_id as id, type, at, data from events where organisation_id = ${server.organisation.id}`;
  const began = Math.min(...events.map(({ at }) => at.getTime()));
  const path = `/customers/${customer_id}/balances`;
  const { balance, consumed, limit } = (await market.shop.read(path)).data[0];
  const bills = await market.bills(buyer);
  await market.stop(buyer);
  await market.shop.close();
  const lines = events.map(({ type, at, data }) =>
    [Math.round((at.getTime() - began) / HOUR), type, ...TOLD.map((name) => data[name])].join(),
  );
  return [...lines.toSorted(), ...bills, [balance, consumed, limit].join()];
}

test('three days of hourly allowances in one call and in hours are the same', async () => {
  const inOne = await told(['P3D']);
  const types = new Set(inOne.map((line) => line.split(',')[1]));
  expect([...types]).toContain('alert.recovered');
  expect(await told(Array.from({ length: 72 }, () => 'PT1H'))).toEqual(inOne);
});
