// Work beside the service: swept up in rounds, and ended with the service.
//
// Holds: a round that fails is reported, and the next one begins as usual. After close() no round
// begins and no failure is reported. A round in progress asks `isOver` before each of its steps.
import { type Clock, pause, type Timers } from '../../../ledger/ports.ts';
import { Sweep } from './sweep.ts';

export type BackgroundWorkOptions = {
  readonly timers: Timers;
  readonly log: { error(fields: object, message: string): void };
  /** What the log says of a round that failed. */
  readonly failed: string;
  /** From the end of one round to the start of the next. */
  readonly everyMs: number;
  /** How long close() waits for a round that is under way. */
  readonly closeMsMax: number;
  /** One round. Rejects where the database does not answer. */
  readonly work: (round: Round) => Promise<void>;
};

export type Round = {
  /** Whether the service closes. */
  readonly isOver: () => boolean;
  /** Reports what failed in a part of the round: the others go on. */
  readonly report: (error: unknown) => void;
};

export class BackgroundWork {
  readonly #options: BackgroundWorkOptions;
  readonly #sweep: Sweep;
  readonly #round: Round;
  #working: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: BackgroundWorkOptions) {
    const { timers, everyMs, log, failed } = options;
    const report = (error: unknown): void => {
      if (!this.#closed) log.error({ err: error }, failed);
    };
    this.#options = options;
    this.#round = { isOver: () => this.#closed, report };
    this.#sweep = new Sweep({ timers, everyMs, work: () => this.work(), failed: report });
  }

  start(): void {
    this.#sweep.start();
  }

  async close(): Promise<void> {
    const { timers, closeMsMax } = this.#options;
    this.#closed = true;
    this.#sweep.stop();
    await Promise.race([this.#working, pause(timers, closeMsMax)]);
  }

  /** Does a round now. @throws where the database does not answer */
  work(): Promise<void> {
    const working = this.#options.work(this.#round);
    this.#working = working.catch(() => undefined);
    return working;
  }
}

/**
 * Does steps until one finds nothing to do. Rests between them for as long as a step took, so that
 * they take half of a processor at most.
 */
export async function inSteps(
  { clock, timers }: { readonly clock: Pick<Clock, 'monotonic'>; readonly timers: Timers },
  isOver: () => boolean,
  step: () => Promise<boolean>,
): Promise<void> {
  while (!isOver()) {
    const began = clock.monotonic();
    if (!(await step())) return;
    await pause(timers, clock.monotonic() - began);
  }
}
