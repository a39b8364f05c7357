import { decideTick } from '../metering/advance.ts';
import { reach } from '../metering/asleep.ts';
import { dueOf } from '../metering/meter.ts';
import type { ActorStore } from './actor-store.ts';
import type { Contexts } from './contexts.ts';
import { type Executor, TICK } from './executor.ts';

type TickDeps = {
  readonly store: ActorStore;
  readonly executor: Executor;
  readonly contexts: Contexts;
};

/**
 * Does everything that is due on a customer's meter, and on those that it shares credits with, in as many
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
      (context, state, owner) => {
        const until = reach(context, state);
        const isNow = until === context.now;
        const at = isNow ? context : contexts.ofMeter(contexts.knownAt(owner, until), meter);
        const effects = decideTick(at, state);
        return { outcome: isNow && dueOf(effects.state) > until, effects };
      },
      { op: TICK },
    );
  }
  return null;
}
