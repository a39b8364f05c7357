// The worked table of balances over HTTP: what usage costs, and what `src/API.md` tells besides.
// What is left: `worked.test.ts`.
import { expect } from 'bun:test';
import { DOLLAR, GRADUATED, type Row, table } from './worked.ts';

const ROLLING = { limit: 100, rollover: { max: 100, expires_after_periods: 1 } };

async function billedByQuantity(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan(null, DOLLAR));
  await row.use(of, 150);
  await row.change(of, 2);
  expect(await row.billed(of)).toEqual(['usage 150 150.00']);
  await row.grant(of, 200);
  await row.use(of, 30);
  expect(await row.balance(of)).toMatchObject({ balance: 170 });
  await row.renew(of);
  expect(await row.balance(of)).toMatchObject({ limit: 170, consumed: 0, balance: 170 });
  expect(await row.billed(of)).toEqual(['usage 150 150.00']);
}

async function billedByChange(row: Row): Promise<void> {
  const plan = await row.plan({ limit: 100 }, DOLLAR);
  const other = await row.plan({ limit: 100 }, DOLLAR, { feature: plan.feature });
  const of = await row.subscribed(plan);
  await row.use(of, 150);
  await row.change(of, other);
  expect(await row.billed(of)).toEqual(['usage 50 50.00']);
  await row.grant(of, 50);
  await row.use(of, 30);
  const now = { limit: 150, consumed: 180, billed: 50, balance: 20 };
  expect(await row.balance(of)).toMatchObject(now);
  await row.renew(of);
  expect(await row.billed(of)).toEqual(['usage 50 50.00']);
}

async function heldOverTheEnd(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan(null, DOLLAR));
  const hold = await row.hold(of, 100);
  await row.cancel(of);
  expect(await row.billed(of)).toEqual([]);
  await row.resolve(hold, 'commit', { value: 100 });
  expect(await row.billed(of)).toEqual(['usage 100 100.00']);
}

async function lateWhereItRolls(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan(ROLLING, DOLLAR));
  const at = await row.now();
  await row.use(of, 40);
  await row.renew(of);
  expect(await row.balance(of)).toMatchObject({ limit: 160, balance: 160 });
  await row.late(of, 50, at);
  expect(await row.balance(of)).toMatchObject({ limit: 110, balance: 110 });
  await row.use(of, 150);
  await row.renew(of);
  expect(await row.billed(of)).toEqual(['usage 40 40.00']);
}

async function correctedWhereItRolls(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan(ROLLING, DOLLAR));
  const at = await row.now();
  await row.use(of, 130);
  await row.renew(of);
  expect(await row.billed(of)).toEqual(['usage 30 30.00']);
  await row.late(of, -50, at);
  expect(await row.balance(of)).toMatchObject({ limit: 120, balance: 120 });
  await row.use(of, 150);
  await row.renew(of);
  const lines = ['usage 30 30.00', 'usage_adjustment -30 -30.00', 'usage 30 30.00'];
  expect(await row.billed(of)).toEqual(lines);
  expect(await row.money(of)).toBe(3000n);
}

async function correctedWithBought(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan({ limit: 100 }, DOLLAR), { isOlder: true });
  await row.grant(of, 50);
  const at = await row.now();
  await row.use(of, 140);
  await row.renew(of);
  expect(await row.balance(of)).toMatchObject({ balance: 110 });
  await row.late(of, -40, at);
  expect(await row.balance(of)).toMatchObject({ limit: 150, balance: 150 });
  expect(await row.left(of)).toEqual([100, 50]);
  await row.use(of, 140);
  await row.renew(of);
  expect(await row.billed(of)).toEqual([]);
}

async function correctedWithUsedUp(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan({ limit: 100 }, DOLLAR), { isOlder: true });
  await row.grant(of, 50);
  const at = await row.now();
  await row.use(of, 150);
  await row.renew(of);
  expect(await row.balance(of)).toMatchObject({ balance: 100 });
  await row.late(of, -40, at);
  expect(await row.balance(of)).toMatchObject({ limit: 140, balance: 140 });
  expect(await row.left(of)).toEqual([100, 40]);
}

const SEVEN = { model: 'per_unit', unit_amount: '7.00' };

async function lateBeforeChange(row: Row): Promise<void> {
  const plan = await row.plan({ limit: 100 }, DOLLAR);
  const of = await row.subscribed(plan);
  const at = await row.now();
  await row.use(of, 90);
  await row.advance('PT1H');
  await row.change(of, await row.plan({ limit: 200 }, SEVEN, { feature: plan.feature }));
  await row.use(of, 10);
  await row.late(of, 30, at);
  const now = { limit: 200, consumed: 130, billed: 20, balance: 90 };
  expect(await row.balance(of)).toMatchObject(now);
  await row.renew(of);
  expect(await row.billed(of)).toEqual(['usage_adjustment 20 20.00']);
}

async function correctedOverChange(row: Row): Promise<void> {
  const plan = await row.plan({ limit: 100 }, DOLLAR);
  const of = await row.subscribed(plan);
  await row.use(of, 130);
  await row.change(of, await row.plan({ limit: 200 }, SEVEN, { feature: plan.feature }));
  await row.use(of, 80);
  expect(await row.balance(of)).toMatchObject({ billed: 30, balance: 20 });
  await row.use(of, -100);
  const now = { limit: 200, consumed: 110, billed: 10, balance: 100 };
  expect(await row.balance(of)).toMatchObject(now);
  await row.renew(of);
  expect(await row.billed(of)).toEqual(['usage 30 30.00', 'usage_adjustment -20 -20.00']);
}

async function minimumOverChanges(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan(null, { ...DOLLAR, minimum_amount: '30.00' }));
  for (const quantity of [2, 3, 1]) await row.change(of, quantity);
  expect(await row.money(of)).toBe(0n);
  await row.renew(of);
  expect(await row.money(of)).toBe(3000n);
}

async function minimumOfHalf(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan(null, { ...DOLLAR, minimum_amount: '31.00' }));
  const { current_period_start: start, current_period_end: end } = of.subscription;
  await row.advanceTo((Date.parse(start) + Date.parse(end)) / 2);
  await row.cancel(of);
  expect(await row.money(of)).toBe(1550n);
}

async function tiersOverQuantity(row: Row): Promise<void> {
  const of = await row.subscribed(await row.plan(null, GRADUATED));
  await row.use(of, 12);
  await row.change(of, 2);
  expect(await row.billed(of)).toEqual(['usage 12 110.00']);
  await row.use(of, 10);
  await row.renew(of);
  expect(await row.billed(of)).toEqual(['usage 12 110.00', 'usage 10 50.00']);
}

async function tiersOverAnother(row: Row): Promise<void> {
  const plan = await row.plan(null, GRADUATED);
  const of = await row.subscribed(plan);
  await row.use(of, 12);
  await row.change(of, await row.plan(null, DOLLAR, { feature: plan.feature }));
  await row.change(of, plan);
  await row.use(of, 10);
  await row.renew(of);
  expect(await row.money(of)).toBe(16_000n);
}

table([
  ['150 are billed by a change of quantity, then a grant of 200: 30 burn it', billedByQuantity],
  ['150 of 100, a change, a grant of 50, 30 more: 20 are left', billedByChange],
  ['a hold of 100, canceled at once and committed: a final invoice', heldOverTheEnd],
  ['late use where units roll over costs as in time', lateWhereItRolls],
  ['a late correction where units roll over costs as in time', correctedWhereItRolls],
  ['a late correction gives back what was bought', correctedWithBought],
  ['a late correction gives back what was bought and used up', correctedWithUsedUp],
  ['late usage from before a change has the terms of the plan before', lateBeforeChange],
  ['a correction takes back what was used last, over a change too', correctedOverChange],
  ['a minimum over three changes of quantity is billed once', minimumOverChanges],
  ['a minimum is halved where half of its period is over', minimumOfHalf],
  ['tiers go on over a change of quantity', tiersOverQuantity],
  ['tiers go on where the price comes back in its period', tiersOverAnother],
]);
