// Virtual time: a queue of future events. Between two of them everything that is ready runs to its
// end. One seed and one order of events are one run.
import { drainMicrotasks } from 'bun:jsc';
import type { Random } from '../support/random.ts';

type Event = {
  readonly at: number;
  readonly machine: Machine | null;
  readonly task: () => void;
  readonly held: { cancelled: boolean };
};

/** Something that can die or freeze: then its events are dropped, or wait. */
export class Machine {
  readonly name: string;
  isDead = false;
  isPaused = false;
  /** Events that came while it was frozen. */
  readonly waiting: Event[] = [];

  constructor(name: string) {
    this.name = name;
  }
}

export class Schedule {
  readonly random: Random;
  /** Milliseconds since the start of the run. */
  now = 0;
  /** The number of events so far. */
  events = 0;
  /** Sorted, the next one last. */
  readonly #queue: Event[] = [];

  constructor(random: Random) {
    this.random = random;
  }

  /** Milliseconds between the two, in steps of a microsecond. */
  between(min: number, max: number): number {
    return this.random.integer(Math.round(min * 1000), Math.round(max * 1000)) / 1000;
  }

  /** Runs `task` in `ms`, on `machine` if that is alive then; returns the cancel function. */
  after(ms: number, machine: Machine | null, task: () => void): () => void {
    const held = { cancelled: false };
    this.#add({ at: this.now + Math.max(0, ms), machine, task, held });
    return () => {
      held.cancelled = true;
    };
  }

  /** Resolves in `ms`, if `machine` is alive then. */
  async wait(ms: number, machine: Machine | null): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.after(ms, machine, () => resolve(undefined));
    await promise;
  }

  /** It continues. It finds the events of the meantime in any order. */
  resume(machine: Machine): void {
    machine.isPaused = false;
    for (const event of machine.waiting.splice(0)) {
      this.#add({ ...event, at: this.now + this.between(0, 2) });
    }
  }

  /** Runs all events up to `until`, or until `isDone` says so. */
  run(until: number, isDone: () => boolean = () => false): void {
    drainMicrotasks();
    for (let event = this.#queue.at(-1); event !== undefined; event = this.#queue.at(-1)) {
      if (event.at > until || isDone()) break;
      this.#queue.pop();
      this.now = event.at;
      this.#happen(event);
    }
    this.now = Math.max(this.now, until);
  }

  #happen(event: Event): void {
    const { machine, task, held } = event;
    if (held.cancelled || machine?.isDead === true) return;
    if (machine?.isPaused === true) {
      machine.waiting.push(event);
      return;
    }
    this.events += 1;
    task();
    drainMicrotasks();
  }

  /** Events of the same time run in the order in which they were added. */
  #add(event: Event): void {
    let [low, high] = [0, this.#queue.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#queue[middle]!.at > event.at) low = middle + 1;
      else high = middle;
    }
    this.#queue.splice(low, 0, event);
  }
}
