import { NO_SIZE, type Settled, type Unit } from '../actor/journal-unit.ts';
import type { HandoverEffects } from '../effects.ts';
import type { Handover } from '../storage.ts';

/**
 * Slots that go to other nodes, as a unit of the journal. Earlier decisions for them are written
 * before it or with it. The journal resolves an unknown outcome as for any flush.
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
    // It was decided when the actors were dropped.
  }

  isWaiting(): boolean {
    return true;
  }

  commit(): void {
    // Owners are read from the database.
  }

  rollback(): void {
    // Nothing of it is in memory.
  }

  settle(how: Settled): void {
    this.#settled.resolve(how);
  }
}
