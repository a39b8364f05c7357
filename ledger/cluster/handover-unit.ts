import type { Settled, Unit } from '../actor/journal.ts';
import type { HandoverEffects } from '../effects.ts';
import type { Handover } from '../storage.ts';

/**
 * Slots that go to other nodes, as part of the journal: what was decided for them before is written before or with it, and where it
 * cannot tell what became of the flush, the journal finds out as it does for any other.
 */
export class HandoverUnit implements Unit {
  readonly keys: readonly string[] = [];
  readonly effects: readonly HandoverEffects[];
  readonly done: Promise<Settled>;
  #resolve: (how: Settled) => void = () => undefined;

  constructor(handovers: readonly Handover[]) {
    this.effects = [{ kind: 'handover', handovers }];
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
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
    this.#resolve(how);
  }
}
