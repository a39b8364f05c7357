// A history in the ledger and in the reference, step by step.
import { balance, dueOf, snapshotOf } from '../../../ledger/metering/meter.ts';
import { granted, T0, World } from '../world.ts';
import type { Facts, Plan } from './facts.ts';
import {
  begun,
  HOLD_MS,
  nth,
  openGrants,
  openHolds,
  type Step,
  type Timed,
  withStep,
} from './history.ts';
import { settle } from './walk.ts';

/** The first step after which the two differ, and both; null for none. */
export function differenceOf(history: readonly Timed[], plans: readonly Plan[]): string | null {
  const [first = { limit: 0n }] = plans;
  const side = new LedgerSide(first);
  let facts = begun(T0, first);
  for (const [index, { after, step }] of history.entries()) {
    side.wait(after);
    const { now } = side.world;
    if (side.take(step, facts, plans)) facts = withStep(facts, step, { now, plans });
    const [its, expected] = [side.numbers, numbersBy(facts, now)];
    if (its !== expected) return `step ${index + 1}, ${step.kind}: ${its}, not ${expected}`;
  }
  return null;
}

function numbersBy(facts: Facts, now: number): string {
  const { limit, consumed, reserved, balance: units } = settle(facts, now).balance;
  return `limit ${limit} consumed ${consumed} reserved ${reserved} balance ${units}`;
}

class LedgerSide {
  readonly world = new World();
  /** By the ids of the reference. */
  readonly #grants = new Map<string, string>();

  constructor(plan: Plan) {
    this.world.plan(fieldsOf(plan));
  }

  /** All that is due meanwhile is done. */
  wait(ms: number): void {
    const until = this.world.now + ms;
    while (dueOf(this.world.state) <= until) this.world.tickAt(until);
    this.world.now = until;
  }

  get numbers(): string {
    const { limit, consumed, reserved } = snapshotOf(this.world.seen);
    const units = balance(snapshotOf(this.world.seen));
    return `limit ${limit} consumed ${consumed} reserved ${reserved} balance ${units}`;
  }

  /** Whether it was done. */
  take(step: Step, facts: Facts, plans: readonly Plan[]): boolean {
    const { world } = this;
    const { now } = world;
    switch (step.kind) {
      case 'use': {
        const eventAt = step.back === 0 ? null : Math.max(T0, now - step.back);
        return world.use(step.amount, { eventAt }).kind === 'recorded';
      }
      case 'grant': {
        const expiresAt = step.lasts === null ? null : now + step.lasts;
        this.#grants.set(`grant ${now}`, granted(world.grant({ amount: step.amount, expiresAt })));
        return true;
      }
      case 'void': {
        const { id } = nth(openGrants(facts, now), step.which) ?? { id: '' };
        return world.void(this.#grants.get(id) ?? '') === 'voided';
      }
      case 'change': {
        const plan = plans[step.plan] ?? { limit: 0n };
        world.replacePlan(...(plan.limit === 0n ? [] : [fieldsOf(plan)]));
        return true;
      }
      case 'rest':
        world.suspendPlan(step.rests ? 'paused' : null);
        return true;
      case 'hold':
        return world.reserve(step.amount, HOLD_MS / 1000, `hold ${now}`).kind === 'reserved';
      case 'resolve': {
        const { at } = nth(openHolds(facts, now), step.which) ?? { at: null };
        if (at === null) return false;
        const id = `hold ${at}`;
        const { kind } = step.used === 0n ? world.release(id) : world.commit(id, step.used);
        return kind === 'done';
      }
      default:
        return step satisfies never;
    }
  }
}

function fieldsOf({ limit, rollover }: Plan) {
  return {
    limit,
    resetInterval: 'day' as const,
    cycle: { anchor: T0, zone: 'UTC' },
    rollover:
      rollover === undefined ? null : { max: rollover.max, expiresAfterPeriods: rollover.periods },
  };
}
