// Random histories of one customer's meter, as steps in the order in which they become known.
import fc from 'fast-check';

import { type Facts, NOTHING, type Plan, type Subscription } from './facts.ts';

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export type Step =
  /** `back`: so many milliseconds ago. */
  | { readonly kind: 'use'; readonly amount: bigint; readonly back: number }
  | { readonly kind: 'grant'; readonly amount: bigint; readonly lasts: number | null }
  | { readonly kind: 'void'; readonly which: number }
  | { readonly kind: 'change'; readonly plan: number }
  | { readonly kind: 'rest'; readonly rests: boolean }
  | { readonly kind: 'hold'; readonly amount: bigint }
  | { readonly kind: 'resolve'; readonly which: number; readonly used: bigint };

/** With the time since the step before, above 0. */
export type Timed = { readonly after: number; readonly step: Step };

const units = (max: number): fc.Arbitrary<bigint> =>
  fc.integer({ min: 1, max }).map((amount) => BigInt(amount));

/** What a history may have; the other kinds are left out. */
export type Kinds = { readonly [K in keyof typeof STEPS]?: number };

const which = fc.nat({ max: 20 });
const lasts = fc.option(fc.integer({ min: 1, max: 60 * HOUR }), { freq: 3 });
const back = fc.integer({ min: 1, max: 60 * HOUR });

const STEPS = {
  use: units(60).map((amount): Step => ({ kind: 'use', amount, back: 0 })),
  correct: units(60).map((amount): Step => ({ kind: 'use', amount: -amount, back: 0 })),
  late: fc
    .record({ amount: units(60), back })
    .map(({ amount, back: ago }): Step => ({ kind: 'use', amount, back: ago })),
  lateCorrection: fc
    .record({ amount: units(60), back })
    .map(({ amount, back: ago }): Step => ({ kind: 'use', amount: -amount, back: ago })),
  grant: fc
    .record({ amount: units(80), lasts })
    .map((fields): Step => ({ kind: 'grant', ...fields })),
  void: which.map((one): Step => ({ kind: 'void', which: one })),
  change: fc.nat({ max: 3 }).map((plan): Step => ({ kind: 'change', plan })),
  rest: fc.boolean().map((rests): Step => ({ kind: 'rest', rests })),
  hold: units(40).map((amount): Step => ({ kind: 'hold', amount })),
  commit: fc
    .record({ which, used: units(50) })
    .map((fields): Step => ({ kind: 'resolve', ...fields })),
  release: which.map((one): Step => ({ kind: 'resolve', which: one, used: 0n })),
};

export function histories(kinds: Kinds): fc.Arbitrary<readonly Timed[]> {
  const steps = Object.entries(STEPS)
    .map(([kind, arbitrary]) => ({ arbitrary, weight: kinds[kind as keyof typeof STEPS] ?? 0 }))
    .filter(({ weight }) => weight > 0);
  const after = fc.oneof(fc.integer({ min: 1, max: HOUR }), fc.integer({ min: 1, max: 30 * HOUR }));
  return fc.array(fc.record({ after, step: fc.oneof(...steps) }), { minLength: 1, maxLength: 14 });
}

/** Which plans a history changes between; the first one starts it. */
export const PLANS: readonly Plan[] = [
  { limit: 100n },
  { limit: 30n },
  { limit: 0n },
  { limit: 200n },
];

export const ROLLING: readonly Plan[] = [
  { limit: 100n, rollover: { max: 50n, periods: 1 } },
  { limit: 30n },
  { limit: 0n },
  { limit: 200n, rollover: { max: 80n, periods: 2 } },
];

export const UNLIMITED: readonly Plan[] = [
  { limit: 100n, rollover: { max: 50n, periods: 1 } },
  { limit: 30n },
  { limit: null },
  { limit: 0n },
];

/** Of one subscription since `start`, with periods of a day. */
export function begun(start: number, plan: Plan): Facts {
  const plans = [{ at: start, plan }];
  const subscription = { id: 'plan', plans, every: DAY, billedEvery: 30 * DAY };
  return { ...NOTHING, subscriptions: [subscription] };
}

type Paused = NonNullable<Subscription['paused']>;

/** How long a hold is open. */
export const HOLD_MS = 20 * HOUR;

/** The facts with what the step makes known at `now`. What it names and is not there is nothing. */
export function withStep(
  facts: Facts,
  step: Step,
  { now, plans }: { readonly now: number; readonly plans: readonly Plan[] },
): Facts {
  switch (step.kind) {
    case 'use': {
      const { at: start = 0 } = facts.subscriptions[0]?.plans[0] ?? {};
      const at = Math.max(start, now - step.back);
      return { ...facts, uses: [...facts.uses, { at, told: now, amount: step.amount }] };
    }
    case 'grant': {
      const expiresAt = step.lasts === null ? {} : { expiresAt: now + step.lasts };
      const grant = { id: `grant ${now}`, told: now, effectiveAt: now, amount: step.amount };
      return { ...facts, grants: [...facts.grants, { ...grant, ...expiresAt }] };
    }
    case 'void': {
      const { grants } = facts;
      const { id } = nth(openGrants(facts, now), step.which) ?? {};
      return {
        ...facts,
        grants: grants.map((one) => (one.id === id ? { ...one, voidedAt: now } : one)),
      };
    }
    case 'change': {
      const plan = plans[step.plan];
      if (plan === undefined) return facts;
      const subscriptions = facts.subscriptions.map((one) => ({
        ...one,
        plans: [...one.plans, { at: now, plan }],
      }));
      return { ...facts, subscriptions };
    }
    case 'rest': {
      const subscriptions = facts.subscriptions.map((one) => ({
        ...one,
        paused: pausedAt(one.paused ?? [], now, step.rests),
      }));
      return { ...facts, subscriptions };
    }
    case 'hold': {
      const end = { told: now + HOLD_MS, used: 0n };
      return { ...facts, holds: [...facts.holds, { at: now, amount: step.amount, end }] };
    }
    case 'resolve': {
      const open = nth(openHolds(facts, now), step.which);
      if (open === undefined) return facts;
      const end = { told: now, used: step.used };
      const holds = facts.holds.map((one) => (one === open ? { ...one, end } : one));
      const over = step.used - open.amount;
      const uses = over > 0n ? [{ at: now, told: now, amount: over }] : [];
      return { ...facts, holds, uses: [...facts.uses, ...uses] };
    }
    default:
      return step satisfies never;
  }
}

function pausedAt(before: Paused, now: number, rests: boolean): Paused {
  const isOpen = before.at(-1)?.until === null;
  if (rests === isOpen) return before;
  if (rests) return [...before, { from: now, until: null }];
  return before.map((one) => (one.until === null ? { ...one, until: now } : one));
}

export const openGrants = ({ grants }: Facts, now: number) =>
  grants.filter(({ voidedAt, expiresAt = Infinity }) => voidedAt === undefined && expiresAt > now);

export const openHolds = ({ holds }: Facts, now: number) =>
  holds.filter(({ end }) => end === null || end.told > now);

export function nth<T>(list: readonly T[], index: number): T | undefined {
  return list.length === 0 ? undefined : list[index % list.length];
}

/** What a history makes known, and when the last of it is known. */
export function factsOf(
  history: readonly Timed[],
  plans: readonly Plan[],
): { readonly facts: Facts; readonly now: number } {
  const [first = { limit: 0n }] = plans;
  let [facts, now] = [begun(0, first), 0];
  for (const { after, step } of history) {
    now += after;
    facts = withStep(facts, step, { now, plans });
  }
  return { facts, now };
}
