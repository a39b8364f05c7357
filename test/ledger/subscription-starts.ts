// How the random lives of a subscription begin, and the plans that they change to.
import fc from 'fast-check';
import type { Discount } from '../../ledger/payments/pricing.ts';
import type { Plan } from '../../ledger/subscriptions/subscription.ts';
import { CHEAPER, DEARER, MONTHLY, YEARLY } from './subscription-world.ts';
import { DAY, T0 } from './world.ts';

const PLANS: readonly Plan[] = [
  MONTHLY,
  DEARER,
  CHEAPER,
  YEARLY,
  { ...MONTHLY, priceId: 'free', unitAmount: 0n },
  { ...MONTHLY, priceId: 'odd', unitAmount: 3333n, interval: 'week', intervalCount: 2 },
  { ...MONTHLY, priceId: 'short', unitAmount: 101n, interval: 'day', intervalCount: 5 },
];

export const plans = fc
  .tuple(fc.constantFrom(...PLANS), fc.integer({ min: 1, max: 3 }))
  .map(([plan, quantity]) => ({ ...plan, quantity }));

export const starts = fc.record({
  at: fc.integer({ min: T0, max: T0 + 1500 * DAY }),
  plan: plans,
  zone: fc.constantFrom('UTC', 'UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu'),
  trialDays: fc.option(fc.constantFrom(1, 14, 30), { freq: 2 }),
  credit: fc.constantFrom(0n, 0n, 999n, 100_000n),
  discount: fc.constantFrom<(Discount | null)[]>(
    null,
    { percentOff: '50', amountOff: null, currency: null },
    { percentOff: '33.3', amountOff: null, currency: null },
    { percentOff: '100', amountOff: null, currency: null },
    { percentOff: null, amountOff: 2500n, currency: 'USD' },
  ),
  paidQuarters: fc.option(fc.constantFrom(4n, 4n, 4n, 3n, 1n)),
});
export type Start = typeof starts extends fc.Arbitrary<infer S> ? S : never;
