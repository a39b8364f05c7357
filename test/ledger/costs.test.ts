// What all meters of a customer come to under its spend cap, kept over changes: against a plain
// sum.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Costs, type KnownMeter } from '../../ledger/actor/costs.ts';
import type { MeterState } from '../../ledger/metering/meter.ts';
import type { Spending } from '../../ledger/subscriptions/spend-cap.ts';
import { holds, seeded } from './property.ts';
import { World } from './world.ts';

const METERS = 4;

/**
 * To a meter: more of it is used and held, until something is due; or it is taken back. Or time
 * goes on.
 */
const CHANGE = fc.record({
  meter: fc.nat(METERS - 1),
  how: fc.constantFrom('used', 'undone', 'asked', 'later', 'earlier'),
  consumed: fc.bigInt({ min: 0n, max: 9n }),
  reserved: fc.bigInt({ min: 0n, max: 9n }),
  dueIn: fc.option(fc.nat(3), { nil: Infinity }),
});

/** Its usage is sold; that of the first meter is not, and costs nothing. */
const SOLD = [{}] as unknown as MeterState['spans'];
const FREE = 'm0';

/** A unit costs one. What is due doubles what was used. */
const spending = { costOf: (_, { current }) => current.consumed } as Pick<Spending, 'costOf'>;
const moved = (_: unknown, state: MeterState): MeterState => {
  const { current } = state;
  return { ...state, nextDue: Infinity, current: { ...current, consumed: 2n * current.consumed } };
};

type Change = typeof CHANGE extends fc.Arbitrary<infer T> ? T : never;
type Held = KnownMeter & { tentative: MeterState };

class Customer {
  readonly #world = new World();
  readonly #meters = new Map<string, Held>();
  readonly #costs = new Costs(spending as Spending, 'tentative');
  #now = 100;

  change({ meter: n, how, consumed, reserved, dueIn }: Change): void {
    const id = `m${n}`;
    const one = this.#meters.get(id);
    if (how === 'later') this.#now += 2;
    if (how === 'earlier') this.#now -= 1;
    if (how === 'undone' && one !== undefined) {
      this.#meters.delete(id);
      this.#costs.changed(one);
    }
    if (how !== 'used') return;
    const { state, meter } = this.#world;
    const current = { ...state.current, consumed, reserved };
    const spans = id === FREE ? state.spans : SOLD;
    const tentative = { ...state, current, spans, nextDue: this.#now + dueIn };
    const held = one ?? { meter: { ...meter, id }, tentative };
    held.tentative = tentative;
    this.#meters.set(id, held);
    this.#costs.changed(held);
  }

  /** Asks for everything. */
  compare(): void {
    this.#costs.update(this.#meters, { now: this.#now, advanced: moved });
    const sold = [...this.#meters.values()].filter(({ meter: { id } }) => id !== FREE);
    const all = sold.map(({ meter, tentative }) => {
      const isNow = this.#now < tentative.nextDue;
      return { meter, ...(isNow ? tentative : moved(null, tentative)).current };
    });
    expect(this.#costs.used).toBe(all.reduce((sum, { consumed }) => sum + consumed, 0n));
    for (let n = 0; n < METERS; n += 1) {
      const meter = { ...this.#world.meter, id: `m${n}` };
      const rest = all.filter((one) => one.meter.id !== meter.id);
      const promised = rest.reduce((sum, one) => sum + one.consumed + one.reserved, 0n);
      expect(this.#costs.promisedBeside(this.#meters, meter)).toBe(promised);
    }
  }
}

test(seeded('the costs of all meters are their sum, whatever changed and is due'), () => {
  holds(
    fc.property(fc.array(CHANGE, { maxLength: 30 }), (changes) => {
      const customer = new Customer();
      for (const change of changes) {
        customer.change(change);
        // Not after each: several may have changed when it is asked.
        if (change.how !== 'used' || change.consumed < 5n) customer.compare();
      }
    }),
    500,
  );
});
