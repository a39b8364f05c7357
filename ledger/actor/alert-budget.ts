import { decideLook } from '../metering/alert-look.ts';
import { quiet } from '../metering/credits.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import type { Meter, MeterState } from '../metering/meter.ts';
import { ALERT_DECISIONS_AT_ONCE, ALERT_EVENTS_PER_UNIT_MAX } from '../limits.ts';
import { someAtOnce } from '../kernel/some-at-once.ts';
import { LedgerUnavailable } from '../ports.ts';
import { NotOwner } from './own-slots.ts';
import type { OwnershipSession } from './ownership-session.ts';

type Left = {
  readonly customerId: string;
  readonly meter: Meter;
  /** The state before the first usage of the unit that was left out. */
  readonly before: MeterState;
};

/**
 * The alerts that one unit of many usages may fire. Beyond it they stay as they are, and the
 * customers are looked at after the unit, each by itself and some at once. Lives for one decision
 * of the unit.
 */
export class AlertBudget {
  #told = 0;
  readonly #left = new Map<string, Left>();

  /** The context in which the next usage of the unit is decided on `state`. */
  contextOf(context: MeterContext, state: MeterState): MeterContext {
    if (this.#told < ALERT_EVENTS_PER_UNIT_MAX) return context;
    const payer = context.credits?.payer ?? null;
    const isLeft = [
      this.#leave(context, () => state),
      payer !== null && this.#leave(payer.context, () => payer.now()),
    ];
    return isLeft.includes(true) ? quiet(context) : context;
  }

  /** Whether there are alerts to look at afterwards. */
  #leave({ customer, meter, alerts }: MeterContext, before: () => MeterState): boolean {
    if (alerts === null) return false;
    const key = `${customer.id} ${meter.id}`;
    if (!this.#left.has(key)) {
      this.#left.set(key, { customerId: customer.id, meter, before: before() });
    }
    return true;
  }

  count(effects: MeterEffects | null): void {
    if (effects === null) return;
    for (const { type } of effects.events) if (type === 'alert.triggered') this.#told += 1;
    for (const other of effects.beside) this.count(other);
  }

  /**
   * Looks at whom the unit left out. Who has moved, or cannot be written now, fires with its next
   * usage.
   */
  async lookAtRest({ executor }: OwnershipSession): Promise<void> {
    const look = async ({ customerId, meter, before }: Left): Promise<void> => {
      try {
        await executor.decideOnMeter(customerId, meter, (context, state) => ({
          outcome: null,
          effects: decideLook(context, state, before),
        }));
      } catch (error) {
        if (!(error instanceof NotOwner || error instanceof LedgerUnavailable)) throw error;
      }
    };
    await someAtOnce(this.#left.values(), ALERT_DECISIONS_AT_ONCE, look);
  }
}
