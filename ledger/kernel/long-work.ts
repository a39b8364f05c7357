import { LONG_WORK_MS_MAX, LONG_WORK_SLICE_MS, LONG_WORK_WAITING_MAX } from '../limits.ts';
import { type Clock, LedgerUnavailable, type Timers } from '../ports.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { Turns } from './turns.ts';

/**
 * Called between two steps: ends the slice where it has lasted long enough, and everybody else goes
 * first.
 *
 * @throws LedgerUnavailable where nobody waits for the answer any more
 */
export type Rest = () => Promise<void>;

type LongWorkDeps = { readonly clock: Pick<Clock, 'monotonic'>; readonly timers: Timers };

/** A question, and until when its answer is of use. */
type Question = { isLate: boolean };

/**
 * Questions whose answer takes longer than others may wait. An organisation has one of them at a
 * time, and the rest of its own wait. Each is answered in slices: of all that is under way in this
 * process one slice runs in a turn of the event loop. What is not answered in time is refused, and
 * no more work is done for it.
 */
export class LongWork {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #timers: Timers;
  readonly #mutex = new KeyedMutex<string>();
  readonly #waiting = new Map<string, number>();
  readonly #turns: Turns;

  constructor({ clock, timers }: LongWorkDeps) {
    this.#clock = clock;
    this.#timers = timers;
    this.#turns = new Turns(timers);
  }

  /** @throws LedgerUnavailable where too many of the organisation's wait, or too long */
  async run<T>(organisationId: string, task: (rest: Rest) => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(organisationId) ?? 0;
    if (waiting >= LONG_WORK_WAITING_MAX) {
      throw new LedgerUnavailable('too many previews of the organisation wait');
    }
    this.#waiting.set(organisationId, waiting + 1);
    const question: Question = { isLate: false };
    const late = Promise.withResolvers<never>();
    const cancel = this.#timers.after(LONG_WORK_MS_MAX, () => {
      question.isLate = true;
      late.reject(tooLate());
    });
    try {
      return await Promise.race([this.#answer(organisationId, { question, task }), late.promise]);
    } finally {
      cancel();
    }
  }

  /** It has its place in the line until its turn has come, also where it is refused before. */
  async #answer<T>(
    organisationId: string,
    { question, task }: { readonly question: Question; readonly task: (rest: Rest) => Promise<T> },
  ): Promise<T> {
    try {
      return await this.#mutex.alone([organisationId], () => {
        if (question.isLate) throw tooLate();
        return task(this.#slicesOf(question));
      });
    } finally {
      const left = (this.#waiting.get(organisationId) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(organisationId);
      else this.#waiting.set(organisationId, left);
    }
  }

  #slicesOf(question: Question): Rest {
    let begunAt = this.#clock.monotonic();
    return async () => {
      if (this.#clock.monotonic() - begunAt < LONG_WORK_SLICE_MS) return;
      await this.#turns.next();
      if (question.isLate) throw tooLate();
      begunAt = this.#clock.monotonic();
    };
  }
}

const tooLate = () =>
  new LedgerUnavailable('the previews of the organisation take too long: ask for fewer at a time');
