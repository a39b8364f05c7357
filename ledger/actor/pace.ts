import { ANSWERED_ROWS_A_TURN, DECIDING_MS_A_TURN } from '../limits.ts';
import { breathe, type Clock, type Timers } from '../ports.ts';
import type { Batch } from './batch.ts';
import type { Unit } from './journal-unit.ts';

/** Of decisions of so many rows one is measured: to read the clock costs a part of a small one. */
const MEASURED_ROWS = 8;

/** What an answer costs beside its rows, in rows. */
const ROWS_OF_ANSWER = 8;

/**
 * How much is decided and answered in one turn of the event loop.
 *
 * A flush is bounded by what is written, but a decision takes as long as what it looks at: all
 * grants of a customer, where one of its subscriptions changes. One decision is never interrupted.
 * A decision that is measured stands for those since the last one, by their rows.
 *
 * Whoever is answered goes on in the same turn: to render a refusal takes longer than to decide it.
 * That is not seen here, so it is bounded by rows.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #timers: Timers;
  #ms = 0;
  /** Decided since one was measured. */
  #rows = 0;
  #answeredRows = 0;
  #isOver = false;

  constructor({ clock, timers }: { readonly clock: Clock; readonly timers: Timers }) {
    this.#clock = clock;
    this.#timers = timers;
  }

  /** Whether nothing more is decided or answered in this turn. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether a flush may be built in the rest of this turn. */
  hasRoomFor({ isShort, isLong }: Pick<Batch, 'isShort' | 'isLong'>): boolean {
    if (this.#isOver || isLong) return false;
    return isShort || !this.#isHalfOver;
  }

  get #isHalfOver(): boolean {
    return 2 * this.#ms > DECIDING_MS_A_TURN || 2 * this.#answeredRows > ANSWERED_ROWS_A_TURN;
  }

  decide(unit: Unit): void {
    const { rows } = unit.size;
    this.#rows += rows;
    if (this.#rows < MEASURED_ROWS) return unit.decide();
    const from = this.#clock.monotonic();
    try {
      unit.decide();
    } finally {
      this.#count((this.#clock.monotonic() - from) * (this.#rows / rows));
    }
  }

  /** It is as it was decided. */
  answer(unit: Unit): void {
    unit.settle('committed');
    this.#answeredRows += unit.size.rows + ROWS_OF_ANSWER;
    if (this.#answeredRows >= ANSWERED_ROWS_A_TURN) this.#end();
  }

  /** The same for each, in as many turns as that takes. */
  async answerAll(units: readonly Unit[]): Promise<void> {
    for (const unit of units) {
      if (this.#isOver) await breathe(this.#timers);
      this.answer(unit);
    }
  }

  /** A turn begins. */
  readonly begin = (): void => {
    this.#isOver = false;
    this.#ms = 0;
    this.#answeredRows = 0;
  };

  #count(ms: number): void {
    this.#ms += ms;
    this.#rows = 0;
    if (this.#ms >= DECIDING_MS_A_TURN) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timers.soon(this.begin);
  }
}
