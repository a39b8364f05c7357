import { ALERT_EVENTS_PER_UNIT_MAX } from '../limits.ts';
import { quiet } from '../metering/credits.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';

/**
 * The alerts that one unit of many usages may fire. Beyond it they are left to alarms, which are
 * written with the unit and ring at once: each customer is told of by a decision of its own, after
 * the answer to the call. Lives for one decision of the unit.
 */
export class AlertBudget {
  #told = 0;

  /** The context in which the next usage of the unit is decided. */
  contextOf(context: MeterContext): MeterContext {
    if (this.#told < ALERT_EVENTS_PER_UNIT_MAX) return context;
    const { alerts, credits } = context;
    const others = credits?.payer?.context.alerts ?? null;
    return alerts === null && others === null ? context : quiet(context);
  }

  count(effects: MeterEffects | null): void {
    if (effects === null) return;
    for (const { type } of effects.events) if (type === 'alert.triggered') this.#told += 1;
    for (const other of effects.beside) this.count(other);
  }
}
