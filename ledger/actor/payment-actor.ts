import { assert } from '../kernel/assert.ts';
import type { PaymentEffects, PaymentState } from '../payments/payment.ts';
import { unwatched } from './actor-cache.ts';
import { bytesOfPayment } from './weight.ts';

/**
 * One payment in memory: the state that the next decision sees, and the one that the database has.
 */
export class PaymentActor {
  touched = true;
  pending = 0;
  dropped = false;
  held = 0;
  onGrown: (bytes: number) => void = unwatched;
  /** As it was loaded: what comes and goes of it is a few refunds. */
  readonly bytes: number;
  #tentative: PaymentState;
  #durable: PaymentState;

  constructor(state: PaymentState) {
    this.#tentative = state;
    this.#durable = state;
    this.bytes = bytesOfPayment(state);
  }

  get id(): string {
    return this.#durable.payment.id;
  }

  get organisationId(): string {
    return this.#durable.payment.organisationId;
  }

  get slot(): number {
    return this.#durable.payment.slot;
  }

  get tentative(): PaymentState {
    return this.#tentative;
  }

  get durable(): PaymentState {
    return this.#durable;
  }

  apply(effects: PaymentEffects): PaymentState {
    assert(!this.dropped, 'a dropped actor decides nothing');
    assert(effects.before === this.#tentative, 'a decision follows from the last one');
    this.#tentative = effects.state;
    this.pending += 1;
    return effects.before;
  }

  unapply(_effects: PaymentEffects, before: PaymentState): void {
    this.#tentative = before;
    this.#settle();
  }

  commit(effects: PaymentEffects): void {
    this.#durable = effects.state;
    this.#settle();
  }

  /**
   * Back to what is durable. Called for each decision that was in flight; the first call does it
   * for all.
   */
  rollback(_effects: PaymentEffects): void {
    this.#tentative = this.#durable;
    this.#settle();
  }

  #settle(): void {
    this.pending -= 1;
    assert(this.pending >= 0, 'a decision was settled twice');
  }
}
