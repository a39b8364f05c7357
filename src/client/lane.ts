// A lane: calls in their order, one batch on its way at a time.
//
//     call ─▶ queue ─▶ batch on its way ─▶ answer of each
//
// While a batch is on its way the queue grows, and is the next batch: no timer holds a call back.
// Holds: what is taken first is sent first, and a batch is repeated until each of its calls has
// ended, so the calls of one lane are done in their order. A call ends once: with its answer, its
// error, its deadline or its signal. What it was is then sent no more.
import { ConnectionError, itemError, overdue, TollhouseError } from './errors.ts';
import type { Entry } from './entry.ts';
import type { Node, Nodes } from './nodes.ts';
import { delayMs, mayRetry } from './retry.ts';
import type { Chance, Reply, Transport } from './transport.ts';

export type LaneSettings<A> = Chance & {
  readonly operation: string;
  readonly path: string;
  /** The field of the body that holds the items. */
  readonly field: 'checks' | 'tracks';
  readonly itemsMax: number;
  /** Of the text of a batch, but for one call that is longer by itself. */
  readonly bytesMax: number;
  /** Of a call, unless it says otherwise. */
  readonly timeoutMs: number;
  readonly transport: Transport;
  readonly nodes: Nodes;
  readonly answerOf: (item: unknown) => A;
  readonly waitUntil: ((work: Promise<void>) => void) | undefined;
};

type Batch<A> = readonly Entry<A>[];

const TURN = Promise.resolve();
/** Microtasks without a new call after which a batch goes. */
const QUIET_TURNS = 4;
/** Ended calls that the queue may hold. */
const ENDED_MAX = 1000;
/** A longer timer would end at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Lane<A> {
  readonly #settings: LaneSettings<A>;
  /** The node that serves its customers; null where that is not known. */
  readonly #prefer: Node | null;
  #queue: Entry<A>[] = [];
  #head = 0;
  #ended = 0;
  /** The calls of the batch on its way. */
  #taken: Batch<A> = [];
  /** Those of them that are sent, or were last. */
  #sent: Batch<A> = [];
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastError: TollhouseError | undefined;

  constructor(settings: LaneSettings<A>, prefer: Node | null) {
    this.#settings = settings;
    this.#prefer = prefer;
  }

  add(entry: Entry<A>): void {
    this.#queue.push(entry);
    if (this.#isRunning) return;
    this.#isRunning = true;
    const run = this.#run();
    this.#settings.waitUntil?.(run);
  }

  /** A call that waits here has ended by itself: many of them must not fill the queue. */
  ended(): void {
    this.#ended += 1;
    if (this.#ended < ENDED_MAX || this.#ended * 2 < this.#queue.length - this.#head) return;
    this.#queue = this.#queue.slice(this.#head).filter(({ isSettled }) => !isSettled);
    this.#head = 0;
    this.#ended = 0;
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#quiet();
      if (this.#timer === undefined) this.#watch();
      const taken = this.#take();
      if (taken.length === 0) break;
      this.#taken = taken;
      await this.#deliver(taken);
      this.#taken = [];
      this.#sent = [];
      this.#lastError = undefined;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isRunning = false;
  }

  /**
   * Waits for the calls of this tick: those who were answered call again in microtasks, behind a
   * few layers of `await`.
   */
  async #quiet(): Promise<void> {
    let turns = 0;
    let length = this.#queue.length;
    while (turns < QUIET_TURNS && length - this.#head < this.#settings.itemsMax) {
      await TURN;
      turns = this.#queue.length === length ? turns + 1 : 0;
      ({ length } = this.#queue);
    }
  }

  /** The next batch: bounded in calls and in bytes, at least one call. */
  #take(): Batch<A> {
    const { itemsMax, bytesMax } = this.#settings;
    const queue = this.#queue;
    const from = this.#head;
    let to = from;
    let bytes = 0;
    while (to < queue.length && to - from < itemsMax) {
      bytes += 3 * ((queue[to] as Entry<A>).text.length + 1);
      if (bytes > bytesMax && to > from) break;
      to += 1;
    }
    const taken = queue.slice(from, to);
    if (to === queue.length) {
      this.#queue = [];
      this.#head = 0;
      this.#ended = 0;
    } else {
      this.#head = to;
      if (to * 2 > queue.length) {
        this.#queue = queue.slice(to);
        this.#head = 0;
      }
    }
    return taken;
  }

  /** Sends a batch until each of its calls has ended. */
  async #deliver(batch: Batch<A>): Promise<void> {
    const { now, random, sleep } = this.#settings;
    this.#sent = batch;
    for (let round = 1; ; round += 1) {
      let reply: Reply | null;
      try {
        reply = await this.#send();
      } catch (error) {
        // Of those that were sent some may have ended, and it may have been for one of them.
        const isOfMany = this.#sent.length > 1;
        const live = this.#live();
        if (isOfMany && isOfOne(error)) return this.#halve(live);
        for (const entry of live) entry.reject(error);
        return;
      }
      if (reply === null) return;
      const again = this.#settle(this.#sent, reply);
      if (again === null) return;
      this.#sent = again.left;
      this.#lastError = again.error;
      const wait = delayMs(again.error, round, random);
      const until = now() + wait;
      for (const entry of again.left) {
        if (entry.deadline <= until) entry.reject(overdue(again.error));
      }
      await sleep(wait);
    }
  }

  #send(): Promise<Reply | null> {
    const { operation, path, field, transport } = this.#settings;
    return transport.send({
      operation,
      method: 'POST',
      template: path,
      path,
      headers: {},
      repeatable: true,
      prefer: this.#prefer,
      batchSize: () => this.#sent.length,
      deadline: latest(this.#sent),
      body: (error) => {
        this.#lastError = error;
        const live = this.#live();
        return live.length === 0 ? null : textOf(field, live);
      },
    });
  }

  /** What is sent of the batch, without the calls that have ended meanwhile. */
  #live(): Batch<A> {
    this.#sent = this.#sent.filter(({ isSettled }) => !isSettled);
    return this.#sent;
  }

  /** Ends the calls that were answered. What must be sent again, and why; null for nothing. */
  #settle(
    batch: Batch<A>,
    { body, requestId, headers }: Reply,
  ): { readonly left: Batch<A>; readonly error: TollhouseError } | null {
    const results = (body as { readonly results?: unknown } | undefined)?.results;
    if (!Array.isArray(results) || results.length !== batch.length) {
      return { left: batch, error: new ConnectionError('not one result for each call') };
    }
    const { answerOf, nodes } = this.#settings;
    nodes.learnOwners(batch, headers);
    let left: Entry<A>[] | null = null;
    let last: TollhouseError | undefined;
    for (let at = 0; at < batch.length; at += 1) {
      const entry = batch[at] as Entry<A>;
      const item = results[at] as { readonly error?: unknown } | null;
      if (typeof item !== 'object' || item === null || item.error !== undefined) {
        const error = itemError(item?.error, requestId);
        if (mayRetry(error, true) && !entry.isSettled) {
          (left ??= []).push(entry);
          last = error;
        } else {
          entry.reject(error);
        }
      } else {
        entry.resolve(answerOf(item));
      }
    }
    return left === null || last === undefined ? null : { left, error: last };
  }

  /** The service refused the whole because of some: each half goes by itself, in order. */
  async #halve(batch: Batch<A>): Promise<void> {
    const middle = batch.length >> 1;
    await this.#deliver(batch.slice(0, middle));
    await this.#deliver(batch.slice(middle));
  }

  /**
   * Ends each call at its deadline, at most a fiftieth of the usual time late: one timer serves all
   * calls of the lane.
   */
  #watch(): void {
    const { now, timeoutMs } = this.#settings;
    const at = now();
    const next = Math.min(
      this.#endOverdue(this.#taken, 0, at),
      this.#endOverdue(this.#queue, this.#head, at),
    );
    const isIdle = next === Infinity;
    const wait = Math.min(TIMER_MS_MAX, Math.max(next - at, timeoutMs / 50, 1));
    this.#timer = isIdle ? undefined : setTimeout(() => this.#watch(), wait);
  }

  /** The soonest deadline of the others. */
  #endOverdue(waiting: Batch<A>, from: number, now: number): number {
    let next = Infinity;
    for (let at = from; at < waiting.length; at += 1) {
      const entry = waiting[at] as Entry<A>;
      if (entry.isSettled) continue;
      if (entry.deadline > now) next = Math.min(next, entry.deadline);
      else entry.reject(overdue(this.#lastError));
    }
    return next;
  }
}

/** Whether one call may be what the whole was refused for: it is malformed, or all are too long. */
function isOfOne(error: unknown): boolean {
  return error instanceof TollhouseError && (error.status === 400 || error.status === 413);
}

function latest(batch: readonly { readonly deadline: number }[]): number {
  let deadline = 0;
  for (const entry of batch) if (entry.deadline > deadline) deadline = entry.deadline;
  return deadline;
}

function textOf(field: string, batch: readonly { readonly text: string }[]): string {
  let text = `{"${field}":[`;
  let comma = '';
  for (const entry of batch) {
    text += comma + entry.text;
    comma = ',';
  }
  return `${text}]}`;
}
