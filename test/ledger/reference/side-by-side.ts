// A history in the ledger and in the reference, step by step.
import { balance, dueOf, snapshotOf } from '../../../ledger/metering/meter.ts';
import { granted, T0, World } from '../world.ts';
import type { Facts, Plan } from './facts.ts';
import { lastOf, levelOf } from './gauge.ts';
import {
  begun,
  DAY,
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

/** The same of a level, with those of the periods that are over and have an account. */
export function levelDifferenceOf(
  history: readonly Timed[],
  plans: readonly Plan[],
  carry: boolean,
): string | null {
  const [first = { limit: 0n }] = plans;
  const side = new LedgerSide(first, new World('last', 0, carry));
  let facts = begun(T0, first);
  for (const [index, { after, step }] of history.entries()) {
    side.wait(after);
    const { now } = side.world;
    if (side.take(step, facts, plans)) facts = withStep(facts, step, { now, plans });
    const [its, expected] = [side.levels, levelsBy(facts, { side, carry })];
    if (its !== expected) return `step ${index + 1}, ${step.kind}: ${its}, not ${expected}`;
  }
  return side.foldDifference;
}

function levelsBy(
  facts: Facts,
  { side, carry }: { readonly side: LedgerSide; readonly carry: boolean },
): string {
  const { now } = side.world;
  const levels = side.starts.map((start) =>
    lastOf(facts, { start, now, carry }, { from: T0, every: DAY }),
  );
  const { limit, balance: units } = levelOf(facts, levels.at(-1) ?? 0n, now);
  return `limit ${limit} balance ${units} levels ${levels.join(' ')}`;
}

class LedgerSide {
  readonly world: World;
  /** By the ids of the reference. */
  readonly #grants = new Map<string, string>();

  constructor(plan: Plan, world = new World()) {
    this.world = world;
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

  /** When the periods begin that have an account, and the current one. */
  get starts(): readonly number[] {
    const { others, current } = this.world.seen;
    return [...others, current].map(({ start }) => start).filter((start) => start >= T0);
  }

  get levels(): string {
    const { seen } = this.world;
    const { limit } = snapshotOf(seen);
    const levels = [...seen.others, seen.current]
      .filter(({ start }) => start >= T0)
      .map(({ consumed }) => consumed);
    return `limit ${limit} balance ${balance(snapshotOf(seen))} levels ${levels.join(' ')}`;
  }

  /** An account that is not the fold of its transfers; null for none. */
  get foldDifference(): string | null {
    const folded = this.world.refold();
    for (const { accountId, consumed } of [...this.world.state.others, this.world.state.current]) {
      const { debitsPosted = 0n } = folded.get(accountId) ?? {};
      if (debitsPosted !== consumed) return `${accountId}: ${debitsPosted}, not ${consumed}`;
    }
    return null;
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
