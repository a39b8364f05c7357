import { NO_SIZE, type Settled, type Unit } from '../actor/journal-unit.ts';
import type { HandoverEffects } from '../effects.ts';
import type { Handover } from '../storage.ts';

/**
 * Slots that go to other nodes, as part of the journal: what was decided for them before is written before or with it, and where it
 * cannot tell what became of the flush, the journal finds out as it does for any other.
 */
export class HandoverUnit implements Unit {
  readonly tenant = '';
  readonly subject = '';
  readonly op = 'handover';
  readonly size = NO_SIZE;
  readonly keys: readonly string[] = [];
  readonly effects: readonly HandoverEffects[];
  readonly #settled = Promise.withResolvers<Settled>();
  readonly done = this.#settled.promise;

  constructor(handovers: readonly Handover[]) {
    this.effects = [{ kind: 'handover', handovers }];
  }

  decide(): void {
    // It was decided when its actors were let go.
  }

  isWaiting(): boolean {
    return true;
  }

  commit(): void {
    // Who owns a slot is read from the database.
  }

  rollback(): void {
    // Nothing of it is in memory.
  }

  settle(how: Settled): void {
    this.#settled.resolve(how);
  }
}
