import { KeyedMutex } from '../kernel/keyed-mutex.ts';
import type { Subject } from './unit.ts';

/** Does everything that is due on a customer's meter. */
export type Tick = (customerId: string, meterId: string) => Promise<unknown>;

/**
 * Meters of which so much is due that to do it within one decision, or one answer, would hold up
 * everybody else: it is done before, in decisions of their own.
 *
 * Holds: each is woken once for all who ask of it. Of those of which much is due, an organisation
 * has one woken at a time.
 */
export class Sleepers {
  readonly #tick: Tick;
  readonly #mutex = new KeyedMutex<string>();
  /** By customer and meter. */
  readonly #waking = new Map<string, Promise<unknown>>();

  constructor(tick: Tick) {
    this.#tick = tick;
  }

  wake(
    { id, organisationId }: Pick<Subject, 'id' | 'organisationId'>,
    { meterId, isLong }: { readonly meterId: string; readonly isLong: boolean },
  ): Promise<unknown> {
    const key = `${id} ${meterId}`;
    const known = this.#waking.get(key);
    if (known !== undefined) return known;
    const task = (): Promise<unknown> => this.#tick(id, meterId);
    const woken = isLong ? this.#mutex.alone([organisationId], task) : task();
    const waking = woken.finally(() => this.#waking.delete(key));
    this.#waking.set(key, waking);
    return waking;
  }
}
