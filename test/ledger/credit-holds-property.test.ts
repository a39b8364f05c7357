// Members of a pool and the pool itself, used, held and granted in any order, late and corrected
// too: nothing breaks, and the books of each say what its grants have left and have covered.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { left } from '../../ledger/metering/grants.ts';
import { beyond } from '../../ledger/metering/credits.ts';
import { CreditWorld, type Slug } from './credit-world.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR } from './world.ts';

type Step =
  | { readonly kind: 'use'; readonly slug: Slug; readonly value: number; readonly ago: number }
  | { readonly kind: 'hold'; readonly slug: Slug; readonly value: number; readonly s: number }
  | { readonly kind: 'commit' | 'extend'; readonly which: number; readonly value: number }
  | { readonly kind: 'release'; readonly which: number }
  | { readonly kind: 'grant'; readonly slug: Slug; readonly size: Size; readonly ms: number | null }
  | { readonly kind: 'plan' | 'change'; readonly slug: Slug; readonly size: Size }
  | { readonly kind: 'withdraw'; readonly slug: Slug }
  | { readonly kind: 'wait'; readonly ms: number; readonly rings: Slug | null };

type Size = number | null;

const MEMBERS = ['chat', 'images'] as const;
const METERS = [...MEMBERS, 'credits'] as const;
const DAILY = { resetInterval: 'day' } as const;

const just = <const T>(value: T) => fc.constant(value);
const slug = fc.constantFrom<Slug>('chat', 'chat', 'images', 'credits');
const few = fc.integer({ min: 1, max: 9 });
const size = fc.option(few, { freq: 8 });
const which = fc.nat(5);
const lives = fc.option(fc.constantFrom(HOUR, DAY, 3 * DAY));

const STEPS = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: just('use'),
      slug,
      value: fc.integer({ min: -6, max: 9 }),
      ago: fc.constantFrom(0, 0, 0, HOUR, DAY, 2 * DAY),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: just('hold'),
      slug,
      value: few,
      s: fc.constantFrom(60, 3600, 90_000, 200_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: just('commit'), which, value: fc.integer({ min: 0, max: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: just('release'), which }) },
  { weight: 2, arbitrary: fc.record({ kind: just('extend'), which, value: few }) },
  { weight: 2, arbitrary: fc.record({ kind: just('grant'), slug, size, ms: lives }) },
  fc.record({ kind: fc.constantFrom('plan', 'change'), slug, size }),
  fc.record({ kind: just('withdraw'), slug }),
  {
    weight: 5,
    arbitrary: fc.record({
      kind: just('wait'),
      ms: fc.constantFrom(1, 60_000, HOUR, DAY / 2, DAY, 2 * DAY),
      rings: fc.option(slug),
    }),
  },
) as fc.Arbitrary<Step>;

class Play {
  readonly world = new CreditWorld();
  readonly #held: { readonly slug: Slug; readonly id: string }[] = [];
  readonly #plans = new Set<Slug>();

  constructor() {
    this.world.grant('credits', 30);
  }

  take(step: Step): void {
    const { world } = this;
    world.now += 1;
    switch (step.kind) {
      case 'use':
        world.use(step.slug, step.value, { eventAt: world.now - step.ago });
        return;
      case 'hold': {
        const id = `hold ${world.now}`;
        const said = world.reserve(step.slug, step.value, id, step.s);
        if (said.startsWith('reserved')) this.#held.push({ slug: step.slug, id });
        return;
      }
      case 'commit':
      case 'extend':
      case 'release':
        return this.#resolve(step);
      case 'grant':
        world.grant(
          step.slug,
          step.size,
          step.ms === null ? {} : { expiresAt: world.now + step.ms },
        );
        return;
      case 'plan':
        if (this.#plans.has(step.slug)) return;
        this.#plans.add(step.slug);
        world.plan(step.slug, step.size, DAILY);
        return;
      case 'change':
        if (this.#plans.has(step.slug)) world.replacePlan(step.slug, step.size, DAILY);
        return;
      case 'withdraw':
        if (this.#plans.delete(step.slug)) world.withdrawPlan(step.slug);
        return;
      case 'wait':
        world.now += step.ms;
        if (step.rings !== null) world.tick(step.rings);
        return;
      default:
        step satisfies never;
    }
  }

  #resolve(step: Extract<Step, { kind: 'commit' | 'extend' | 'release' }>): void {
    const { world } = this;
    const one = this.#held[step.which % (this.#held.length || 1)];
    if (one === undefined) return;
    if (step.kind === 'commit') world.commit(one.slug, one.id, step.value);
    else if (step.kind === 'release') world.release(one.slug, one.id);
    else world.extend(one.slug, one.id, step.value + 3);
  }

  expectSound(): void {
    const { world } = this;
    for (const meter of METERS) {
      const { current, allocated, grants, reservations } = world.state(meter);
      let units = allocated;
      for (const grant of grants) if (grant.started) units += left(grant) ?? -grant.used;
      expect([meter, current.granted]).toEqual([meter, units]);
      const its = reservations.filter(({ accountId }) => accountId === current.accountId);
      expect(current.reserved).toBe(its.reduce((sum, { amount }) => sum + amount, 0n));
    }
    expect(this.#drawn()).toBe(this.#owed());
  }

  /** What the pool has paid and holds for its members. */
  #drawn(): bigint {
    const { transfers, reservations } = this.world.written;
    const paid = transfers
      .filter((one) => one.drawnFor !== undefined)
      .reduce((sum, { usage }) => sum + (usage?.value ?? 0n), 0n);
    return [...reservations.values()]
      .filter(({ memberAccountId, status }) => memberAccountId !== null && status === 'open')
      .reduce((sum, { amount }) => sum + amount, paid);
  }

  /** What is beyond the limits of all periods of the members, with what is held of them. */
  #owed(): bigint {
    let owed = 0n;
    for (const meter of MEMBERS) {
      const state = this.world.state(meter);
      for (const period of [...state.others, state.current]) {
        owed += (period.rate ?? 0n) * beyond(state, period, period.reserved);
      }
    }
    return owed;
  }
}

test(
  seeded('pools and members, with anything in any order: nothing breaks, and the books agree'),
  () => {
    holds(
      fc.property(fc.array(STEPS, { maxLength: 30, size: '+1' }), (steps) => {
        const play = new Play();
        for (const step of steps) {
          play.take(step);
          play.expectSound();
        }
      }),
      4000,
    );
  },
  60_000,
);
