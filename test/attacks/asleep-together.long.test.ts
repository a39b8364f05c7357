// Many meters that slept a little each: together it is much. A pool with its members, and the
// customers of one call.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { MovedClock } from '../support/moved-clock.ts';
import { Setting, times } from '../http/metering/setting.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { audit } from '../../src/database/audit.ts';

setDefaultTimeout(180_000);

/** With what the garbage collector takes. A pool took 140 ms, a call 160. */
const TURN_MS_MAX = 60;
/** Of one meter just as much as one decision does. */
const SLEPT_MS = 120 * 3_600_000;
const START = '2028-01-01T12:00:00Z';
const HOURLY = { reset_interval: 'hour' };
const MEMBERS = 40;
const CUSTOMERS = 60;

const slugs = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `meter-${n}`);

async function open(): Promise<{ readonly setting: Setting; readonly clock: MovedClock }> {
  const clock = new MovedClock();
  clock.travel(Date.parse(START));
  return { setting: await Setting.open({ alone: true, clock }), clock };
}

async function expectShort(
  { setting, clock }: Awaited<ReturnType<typeof open>>,
  ask: () => Promise<{ readonly status: number; readonly text: string }>,
): Promise<void> {
  clock.travel(clock.now() + SLEPT_MS);
  const { turn, reply } = await longestTurn(ask);
  console.log({ turn });
  expect([reply.status, reply.text]).toEqual([reply.status === 201 ? 201 : 200, reply.text]);
  expect(turn).toBeLessThan(TURN_MS_MAX);
  expect(await audit(setting.server.sql)).toEqual([]);
  await setting.stop();
}

test('a pool that slept is woken with its members in short turns', async () => {
  const world = await open();
  const { setting } = world;
  const members = slugs(MEMBERS);
  await Promise.all(members.map((slug) => setting.meter(slug)));
  await setting.meter('pool', {
    credit_costs: members.map((feature_key) => ({ feature_key, cost: '1' })),
  });
  const customer = await setting.customer();
  await setting.grant(customer, 'pool', HOURLY);
  // Those with an allowance have periods of their own; the others have those of the pool.
  for (const [n, slug] of members.entries()) {
    if (n % 2 === 0) await setting.grant(customer, slug, HOURLY);
    else await setting.track(customer, slug);
  }
  await expectShort(world, () => setting.check(customer, members[1] ?? ''));
});

test('one call for many customers whose meters slept is recorded in short turns', async () => {
  const world = await open();
  const { setting } = world;
  await setting.meter('hourly');
  const customers = await times(CUSTOMERS, async () => {
    const customer = await setting.customer();
    await setting.grant(customer, 'hourly', HOURLY);
    return customer;
  });
  await expectShort(world, () =>
    setting.ingest(customers.map((customer_id) => ({ customer_id, name: 'hourly', value: 1 }))),
  );
});
