// The four sentences of docs/spec/balance.md, by the reference.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { holds, seeded } from '../property.ts';
import type { Facts, Plan, Price } from './facts.ts';
import { DAY, factsOf, histories, type Kinds, PLANS, ROLLING } from './history.ts';
import { totalOf } from './money.ts';
import { planAt } from './sources.ts';
import { settle } from './walk.ts';

const ALL: Kinds = {
  use: 4,
  correct: 1,
  late: 2,
  lateCorrection: 1,
  grant: 2,
  void: 1,
  change: 2,
  hold: 2,
  commit: 1,
  release: 1,
};

const GRADUATED: Price = {
  id: 'graduated',
  model: 'graduated',
  minimum: 400n,
  tiers: [
    { upTo: 40n, amount: 10n, flat: 100n },
    { upTo: null, amount: 7n },
  ],
};
const PRICED: readonly Plan[] = [
  { limit: 100n, price: GRADUATED },
  { limit: 30n, price: { id: 'package', model: 'package', size: 7n, amount: 30n } },
  { limit: 0n },
  { limit: 20n, rollover: { max: 10n, periods: 1 }, price: GRADUATED },
];

const plans = fc.constantFrom(PLANS, ROLLING);
const history = histories(ALL);

/** After all that is sold until then is billed. */
const total = (facts: Facts, now: number): bigint =>
  facts.subscriptions.reduce((sum, one) => sum + totalOf(facts, one, now), 0n);

test(seeded('what is late costs what it costs in time'), () => {
  const inTime = (facts: Facts): Facts => ({
    ...facts,
    uses: facts.uses.map((use) => ({ ...use, told: use.at })),
  });
  holds(
    fc.property(history, fc.constantFrom(PRICED, ROLLING), (steps, given) => {
      const { facts, now } = factsOf(steps, given);
      const later = now + 60 * DAY;
      expect(settle(facts, now).balance).toEqual(settle(inTime(facts), now).balance);
      expect(total(facts, later)).toBe(total(inTime(facts), later));
    }),
    400,
  );
});

test(seeded('what is taken back at its own time leaves nothing'), () => {
  holds(
    fc.property(
      history,
      fc.constantFrom(PLANS, ROLLING, PRICED),
      fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.bigInt({ min: 1n, max: 90n })),
      (steps, given, [share, amount]) => {
        const { facts, now } = factsOf(steps, given);
        const at = Math.floor(now * share);
        const both = [amount, -amount].map((one) => ({ at, told: now, amount: one }));
        const more = { ...facts, uses: [...facts.uses, ...both] };
        expect(settle(more, now).balance).toEqual(settle(facts, now).balance);
        const later = now + 60 * DAY;
        expect(total(more, later)).toBe(total(facts, later));
      },
    ),
    400,
  );
});

test(seeded('to other plans and back, without use, is no gain and no loss'), () => {
  holds(
    fc.property(
      history,
      plans,
      fc.nat(),
      fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 }),
      (steps, given, index, others) => {
        const { facts, now } = factsOf(steps, given);
        const begins = steps.map((_, count) =>
          steps.slice(0, count + 1).reduce((sum, { after }) => sum + after, 0),
        );
        const at = (begins[index % begins.length] ?? now) + 1;
        const end = at + others.length;
        const isFree = (time: number): boolean => time < at || time > end;
        const hourly = Math.floor(at / DAY) === Math.floor(end / DAY);
        fc.pre(end <= now && hourly && begins.every(isFree));
        fc.pre(facts.uses.every((use) => isFree(use.at)));
        const subscriptions = facts.subscriptions.map((one) => {
          const back = planAt(one, at);
          const detour = others.map((other) => given[other]).concat(back ?? undefined);
          const added = detour.flatMap((plan, count) =>
            plan === undefined ? [] : [{ at: at + count, plan }],
          );
          return { ...one, plans: [...one.plans, ...added].toSorted((a, b) => a.at - b.at) };
        });
        const more = { ...facts, subscriptions };
        for (const time of [end, now, now + DAY]) {
          expect(settle(more, time).balance).toEqual(settle(facts, time).balance);
        }
      },
    ),
    400,
  );
});

test(
  seeded('what is released is as never held, what is committed as used when it was held'),
  () => {
    holds(
      fc.property(history, fc.constantFrom(PLANS, ROLLING, PRICED), (steps, given) => {
        const { facts, now } = factsOf(steps, given);
        const later = now + 60 * DAY;
        const used = facts.holds.map(({ at, amount, end }) => {
          const committed = end?.used ?? 0n;
          return { at, told: at, amount: committed < amount ? committed : amount };
        });
        const plain = { ...facts, holds: [], uses: [...facts.uses, ...used] };
        expect(settle(facts, later).balance).toEqual(settle(plain, later).balance);
        expect(total(facts, later)).toBe(total(plain, later));
      }),
      400,
    );
  },
);
