// The worked table of balances over HTTP: what is left. What it costs: `worked-money.test.ts`.
import { expect } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { type Row, table } from './worked.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

async function detourWithout(row: Row): Promise<void> {
  const plan = await row.plan({ limit: 100 });
  const of = await row.subscribed(plan);
  await row.use(of, 90);
  await row.change(of, await row.plan(null));
  await row.change(of, plan);
  expect(await row.balance(of)).toMatchObject({ limit: 100, consumed: 90, balance: 10 });
  expect(await row.left(of)).toEqual([10]);
  expect(await row.strictly(of, 90)).toBe(402);
  expect(await row.strictly(of, 10)).toBe(200);
}

async function detourToLarger(row: Row): Promise<void> {
  const plan = await row.plan({ limit: 100 });
  const of = await row.subscribed(plan, { isOlder: true });
  await row.use(of, 130);
  await row.change(of, await row.plan({ limit: 200 }, null, { feature: plan.feature }));
  expect(await row.balance(of)).toMatchObject({ balance: 70 });
  await row.change(of, plan);
  expect(await row.balance(of)).toMatchObject({ balance: -30 });
  await row.grant(of, 50);
  expect(await row.balance(of)).toMatchObject({ balance: 20 });
  expect(await row.left(of)).toEqual([0, 20]);
}

async function detourToSmaller(row: Row): Promise<void> {
  const plan = await row.plan({ limit: 100 });
  const of = await row.subscribed(plan);
  await row.use(of, 90);
  await row.change(of, await row.plan({ limit: 10 }, null, { feature: plan.feature }));
  await row.use(of, -30);
  expect(await row.balance(of)).toMatchObject({ balance: 0 });
  await row.change(of, plan);
  expect(await row.balance(of)).toMatchObject({ limit: 100, consumed: 60, balance: 40 });
  expect(await row.left(of)).toEqual([40]);
}

async function usedLast(row: Row): Promise<void> {
  const of = await row.customer();
  await row.grant(of, 100);
  await row.use(of, 100);
  const end = (await row.now()) + 3 * DAY_MS;
  await row.grant(of, 100, { expires_at: new Date(end).toISOString() });
  await row.use(of, 90);
  await row.grant(of, 1);
  await row.use(of, -90);
  expect(await row.balance(of)).toMatchObject({ balance: 101 });
  await row.advanceTo(end + HOUR_MS);
  expect(await row.balance(of)).toMatchObject({ balance: 1 });
  expect(await row.left(of)).toEqual([0, 1]);
}

async function ofItsPeriod(row: Row): Promise<void> {
  const of = await row.customer();
  await row.grant(of, 100, { reset_interval: 'month' });
  const bought = await row.grant(of, 50);
  await row.use(of, 130);
  expect(await row.balance(of)).toMatchObject({ balance: 20 });
  const next = async (): Promise<void> => {
    const { period_end } = await row.balance(of);
    await row.advanceTo(Date.parse(period_end));
  };
  await next();
  await row.use(of, 20);
  const one = await row.grant(of, 1);
  await row.use(of, -15);
  const { breakdown } = await row.balance(of);
  const left = Object.fromEntries(
    breakdown.map(({ grant_id: id, remaining }: { grant_id: string; remaining: number }) => [
      id,
      remaining,
    ]),
  );
  expect(left).toMatchObject({ [bought]: 20, [one]: 1 });
  expect(must(breakdown[0], 'the allowance').remaining).toBe(95);
  await next();
  expect(await row.balance(of)).toMatchObject({ limit: 121, consumed: 0, balance: 121 });
}

async function ofRetired(row: Row): Promise<void> {
  const of = await row.customer();
  for (let grants = 0; grants < 101; grants += 1) await row.grant(of, 1);
  await row.use(of, 101);
  await row.grant(of, 1);
  expect(await row.left(of)).toEqual([1]);
  await row.use(of, -10);
  expect(await row.balance(of)).toMatchObject({ limit: 102, consumed: 91, balance: 11 });
  expect(await row.left(of)).toHaveLength(11);
}

async function toldLater(row: Row): Promise<void> {
  const of = await row.customer();
  const rollover = { max: 100, expires_after_periods: 1 };
  await row.grant(of, 100, { reset_interval: 'month', rollover });
  await row.alertAt(of, 10);
  const at = await row.now();
  await row.advanceTo(Date.parse((await row.balance(of)).period_end));
  await row.use(of, 110);
  expect(await row.balance(of)).toMatchObject({ limit: 200, balance: 90 });
  await row.late(of, 95, at);
  expect(await row.balance(of)).toMatchObject({ limit: 105, balance: -5 });
  expect(await row.told(of)).toEqual({ fired: [true], exhausted: 1 });
}

async function lateInPool(row: Row): Promise<void> {
  const member = await row.customer();
  const credit_costs = [{ feature_key: member.feature, cost: '2' }];
  const plan = await row.plan({ limit: 50 }, null, {
    meter: { aggregation: 'sum', credit_costs },
  });
  const pool = await row.subscribed(plan, { isOlder: true });
  const used = { customer: pool.customer, feature: member.feature };
  await row.grant(pool, 100);
  const at = await row.now();
  await row.use(used, 20);
  expect(await row.balance(pool)).toMatchObject({ balance: 110 });
  await row.renew(pool);
  expect(await row.balance(pool)).toMatchObject({ balance: 150 });
  await row.late(used, 40, at);
  expect(await row.balance(pool)).toMatchObject({ limit: 80, consumed: 0, balance: 80 });
  expect(await row.left(pool)).toEqual([50, 30]);
}

async function releasedLate(row: Row): Promise<void> {
  const of = await row.customer();
  const rollover = { max: 50, expires_after_periods: 1 };
  await row.grant(of, 100, { reset_interval: 'hour', rollover });
  await row.use(of, 23);
  const hold = await row.hold(of, 66);
  expect(await row.balance(of)).toMatchObject({ limit: 100, reserved: 66, balance: 11 });
  const { period_end } = await row.balance(of);
  await row.advanceTo(Date.parse(period_end));
  expect(await row.balance(of)).toMatchObject({ limit: 111 });
  await row.use(of, 9);
  await row.resolve(hold, 'release');
  expect(await row.balance(of)).toMatchObject({ limit: 150, consumed: 9, balance: 141 });
}

async function levels(row: Row): Promise<void> {
  const of = await row.customer({ aggregation: 'last' });
  const end = (await row.now()) + DAY_MS;
  await row.grant(of, 50, { expires_at: new Date(end).toISOString() });
  await row.grant(of, 100);
  await row.use(of, 15);
  expect(await row.balance(of)).toMatchObject({ limit: 150, consumed: 15, balance: 135 });
  await row.advance('P2D');
  expect(await row.balance(of)).toMatchObject({ limit: 100, consumed: 15, balance: 85 });
}

table([
  ['90 of 100, to a plan without the feature and back: 10 are left', detourWithout],
  ['130 of 100, to a plan of 200 and back, a grant of 50: 20 are left', detourToLarger],
  ['90 of 100, 30 taken back under a plan of 10: nothing left, then 40', detourToSmaller],
  ['a correction goes to the grant that was used last, and ends with it', usedLast],
  ['a correction goes to the allowance of its month, not to what was bought', ofItsPeriod],
  ['a correction fills grants again that ended when they were used up', ofRetired],
  ['late usage of a period that is over is told as any is', toldLater],
  ['late use of a member costs its pool what it costs in time', lateInPool],
  ['a hold that is released in the next period rolls over up to the maximum', releasedLate],
  ['a grant of a level leaves whole at its end', levels],
]);
