import { must } from '../kernel/assert.ts';
import { decideExpiries, decideTick } from '../metering/advance.ts';
import { holdsFirst, reach } from '../metering/asleep.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import { dueOf, type Meter, type MeterState } from '../metering/meter.ts';
import type { Actor } from './actor.ts';
import type { ActorStore } from './actor-store.ts';
import type { Contexts } from './contexts.ts';
import { type Executor, TICK } from './executor.ts';

type TickDeps = {
  readonly store: ActorStore;
  readonly executor: Executor;
  readonly contexts: Contexts;
};

/**
 * Does everything that is due on a customer's meter, and on those that it shares credits with, in
 * as many
 * decisions as it takes: each as an alarm at an earlier time would do it. @throws NotOwner
 */
export async function tick(
  { store, executor, contexts }: TickDeps,
  customerId: string,
  meterId: string,
): Promise<null> {
  const actor = await store.directory.find(customerId);
  const meter = actor?.customerMeters.get(meterId)?.meter;
  if (!actor || meter === undefined) return null;
  let isDone = false;
  while (!isDone) {
    isDone = await executor.decideOnMeter(
      customerId,
      meter,
      (context, state, owner) => tickStep(contexts, owner, { context, state, meter }),
      { op: TICK },
    );
  }
  return null;
}

/** One of those decisions, and whether nothing is due after it. */
export function tickStep(
  contexts: Contexts,
  owner: Actor,
  of: { readonly context: MeterContext; readonly state: MeterState; readonly meter: Meter },
): { readonly outcome: boolean; readonly effects: MeterEffects } {
  const { context, state, meter } = of;
  const until = reach(context, state);
  const then = contexts.knownAt(owner, until);
  const holding = holdsFirst(context, state, until);
  if (holding !== null) {
    const known = must(owner.customerMeters.get(holding.meterId), "what holds is the customer's");
    const effects = decideExpiries(contexts.apart(then, known.meter), holding);
    return { outcome: false, effects };
  }
  const isNow = until === context.now;
  const effects = decideTick(isNow ? context : contexts.ofMeter(then, meter), state);
  return { outcome: isNow && dueOf(effects.state) > until, effects };
}
