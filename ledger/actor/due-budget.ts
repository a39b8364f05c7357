import { DUE_WORK_MAX } from '../limits.ts';
import { workBefore } from '../metering/asleep.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { MeterState } from '../metering/meter.ts';
import type { Actor } from './actor.ts';
import type { Asleep } from './contexts.ts';

/**
 * What one unit of many usages does of what is due of their meters. Beyond it, meters are moved to
 * now before the unit, each by itself and some at once. Lives for one decision of the unit.
 */
export class DueBudget {
  #left = DUE_WORK_MAX;

  /** The meter that is to be moved first; null where there is room for it. */
  lacks(actor: Actor, context: MeterContext, state: MeterState): Asleep | null {
    if (actor.isUpToDate(context.now)) return null;
    const work = workBefore(context, state);
    if (work === 0) return null;
    this.#left -= work;
    return this.#left < 0 ? { kind: 'asleep', meterId: state.meterId, isLong: false } : null;
  }
}
