// As many holds as a customer may have on ten features, which all expire in the same millisecond:
// everybody else is answered while they are let go of.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { CHECK_BATCH_MAX, RESERVATIONS_OPEN_MAX } from '../../ledger/limits.ts';
import { audit } from '../../src/database/audit.ts';
import { Setting } from '../http/metering/setting.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { MovedClock } from '../support/moved-clock.ts';

setDefaultTimeout(300_000);

/** With what the garbage collector takes. Those of a pool took 90 ms. */
const TURN_MS_MAX = 40;
const FEATURES = Array.from({ length: 10 }, (_, n) => `held-${n}`);
const [first = ''] = FEATURES;

test.each([
  ['of their own', false],
  ['of a pool', true],
])('holds %s that expire at once are let go of in short turns', async (what, isPooled) => {
  const clock = new MovedClock();
  clock.travel(Date.parse('2028-01-01T12:00:00Z'));
  const setting = await Setting.open({ alone: true, clock });
  for (const slug of FEATURES) await setting.meter(slug);
  const customer_id = await setting.customer();
  const costs = FEATURES.map((feature_key) => ({ feature_key, cost: '1' }));
  if (isPooled) await setting.meter('pool', { credit_costs: costs });
  for (const feature of isPooled ? ['pool'] : FEATURES) {
    await setting.grant(customer_id, feature, { amount: 100_000 });
  }
  for (const feature_key of FEATURES) {
    for (let made = 0; made < RESERVATIONS_OPEN_MAX; made += CHECK_BATCH_MAX) {
      const row = { customer_id, feature_key, reserve: true, expires_in: 60 };
      const checks = Array.from({ length: CHECK_BATCH_MAX }, () => row);
      const { json } = await setting.post('/check/batch', { checks });
      const held = json.results.filter((one: { allowed: boolean }) => one.allowed);
      expect(held).toHaveLength(CHECK_BATCH_MAX);
    }
  }
  clock.travel(clock.now() + 60_000);
  const { turn, reply } = await longestTurn(() => setting.check(customer_id, first));
  console.log({ what, turn });
  expect([reply.status, reply.json.reserved ?? 0]).toEqual([200, 0]);
  // Of those that nobody has asked for, the alarms let go.
  const { turn: rest } = await longestTurn(async () => {
    for (const feature of FEATURES) await setting.check(customer_id, feature);
  });
  console.log({ what, rest });
  expect(Math.max(turn, rest)).toBeLessThan(TURN_MS_MAX);
  for (const feature of FEATURES) {
    expect(await setting.balance(customer_id, feature)).toMatchObject({ reserved: 0 });
  }
  expect(await audit(setting.server.sql)).toEqual([]);
  await setting.stop();
});
