// Usage that is sold in the millisecond in which a subscription begins, as on a test clock that
// stands still: what happens there has an order, and costs what it costs with a minute between.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import { amountOfLine } from '../../ledger/subscriptions/bills.ts';
import { ids } from '../../src/platform/ids.ts';
import { holdsLater, seeded } from './property.ts';
import { type Offer, SoldWorld } from './sold-world.ts';
import { CHEAPER, DEARER, MONTHLY } from './subscription-world.ts';
import { DAY, HOUR, T0 } from './world.ts';

setDefaultTimeout(60_000);

const MINUTE = HOUR / 60;

const priced = (id: string, dollars: bigint): UsagePrice => ({
  id,
  currency: 'USD',
  minimum: null,
  maximum: null,
  model: 'per_unit',
  unitAmount: dollars * 10n ** 12n,
});

// No sum of usage is what a change gives back: a minute more or less would make a charge of it.
const [LOW, HIGH] = [
  { ...CHEAPER, unitAmount: 1033n },
  { ...DEARER, unitAmount: 9017n },
];
const SMALL: Offer = { plan: MONTHLY, limit: 10n, reset: 'month', price: priced('small', 1n) };
const LARGE: Offer = { plan: HIGH, limit: 100n, reset: 'month', price: priced('large', 7n) };
/** Another quantity keeps the usage price. */
const WIDER: Offer = { ...SMALL, plan: LOW, limit: 20n };
const OFFERS = [SMALL, LARGE, WIDER];

type Step =
  | { readonly kind: 'use' | 'hold'; readonly value: number }
  | { readonly kind: 'change'; readonly to: number; readonly isDeclined: boolean }
  | { readonly kind: 'commit' | 'release' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'restart' };

/** A customer, of whom all happens with that time in between. */
class Told {
  readonly #world: SoldWorld;
  readonly #gap: number;
  readonly #holds: { id: string; value: number }[] = [];

  private constructor(world: SoldWorld, gap: number) {
    this.#world = world;
    this.#gap = gap;
  }

  static async start(gap: number): Promise<Told> {
    const world = await SoldWorld.open('sum', T0);
    await world.start(SMALL, null);
    return new Told(world, gap);
  }

  async do(step: Step): Promise<void> {
    const world = this.#world;
    await world.advance(world.now + this.#gap);
    switch (step.kind) {
      case 'use': {
        const event = { id: ids.next(), at: world.now, value: BigInt(step.value), member: 0n };
        return world.use([event]);
      }
      case 'hold': {
        if (this.isOver) return undefined;
        const id = await world.hold(BigInt(step.value), 20 * DAY);
        this.#holds.push({ id, value: step.value });
        return undefined;
      }
      case 'commit':
      case 'release': {
        const hold = this.#holds.shift();
        const value = step.kind === 'commit' ? BigInt(hold?.value ?? 0) : 0n;
        if (hold !== undefined) await world.commit(hold.id, value);
        return undefined;
      }
      case 'change': {
        if (this.isOver) return undefined;
        world.isDeclined = step.isDeclined;
        await world.change(OFFERS[step.to] ?? SMALL);
        world.isDeclined = false;
        return undefined;
      }
      case 'cancel':
        if (!this.isOver) await world.do({ kind: 'cancel', mode: 'immediate' });
        return undefined;
      case 'restart':
        return world.forget();
      default:
        return step satisfies never;
    }
  }

  get isOver(): boolean {
    return this.#world.subscription.status === 'canceled';
  }

  /**
   * What is left, and what usage has cost so far. After the end another period begins, if time has
   * passed.
   */
  async seen(): Promise<object> {
    const left = this.isOver ? null : await this.#world.left();
    return { left, cost: this.#cost() };
  }

  async atTheEnd(): Promise<object> {
    await this.#world.advance(T0 + 40 * DAY);
    return { cost: this.#cost() };
  }

  #cost(): bigint {
    return this.#world.db.invoices
      .values()
      .filter(({ isVoid }) => !isVoid)
      .flatMap(({ invoice }) => invoice.lines)
      .filter((line) => 'usageId' in line)
      .reduce((sum, line) => sum + amountOfLine(line), 0n);
  }
}

/** All that is seen after each step, and at the end. */
async function told(steps: readonly Step[], gap: number): Promise<object[]> {
  const story = await Told.start(gap);
  const seen: object[] = [];
  for (const step of steps) {
    await story.do(step);
    seen.push(await story.seen());
  }
  return [...seen, await story.atTheEnd()];
}

const uses = (value: number): Step => ({ kind: 'use', value });
const changes = (to: number): Step => ({ kind: 'change', to, isDeclined: false });
const CANCEL: Step = { kind: 'cancel' };
const HOLD: Step = { kind: 'hold', value: 12 };
const COMMIT: Step = { kind: 'commit' };

describe('in the millisecond in which a subscription begins', () => {
  // Cost of usage in cents, at the end.
  test.each<[string, Step[], bigint]>([
    ['an end bills what was used', [uses(12), CANCEL], 200n],
    ['what was held before an end is billed when it is committed', [HOLD, CANCEL, COMMIT], 200n],
    ['a change bills by the old price', [uses(12), changes(1)], 200n],
    ['what is used after a change has the new one', [uses(12), changes(1), uses(95)], 3700n],
    [
      'three changes bill each its own',
      [uses(12), changes(1), uses(95), changes(0), uses(3)],
      4000n,
    ],
    ['an end after changes bills the rest', [uses(12), changes(2), uses(15), CANCEL], 700n],
  ])('%s', async (_what, steps, cost) => {
    const seen = await told(steps, 0);
    expect(seen).toEqual(await told(steps, MINUTE));
    expect(seen.at(-1)).toEqual({ cost });
  });
});

const value = fc.integer({ min: 1, max: 120 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('use' as const), value }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hold' as const), value }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      to: fc.nat({ max: OFFERS.length - 1 }),
      isDeclined: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Step>(COMMIT, { kind: 'release' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>(CANCEL, { kind: 'restart' }) },
);

test(
  seeded('what happens in one millisecond costs and leaves what it does with minutes between'),
  () =>
    holdsLater(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), async (steps) => {
        expect(await told(steps, 0)).toEqual(await told(steps, MINUTE));
      }),
      600,
    ),
);
