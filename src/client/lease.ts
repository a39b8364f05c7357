// A lease: a slice of a customer's balance, taken from the service at once and given out from
// memory.
//
//     POST /check {consume} ─▶ slice ─▶ take(n) ─▶ refilled before it is empty
//                                └─▶ close(): a correction by /track gives back what is left
//
// Holds: never more is given out than the service has granted. What is held is at most `amount`,
// because a refill asks for no more than is missing; so at most that is lost with a process. A
// refill whose answer is unknown is asked for again under its key, before any other.
// Quantities are whole numbers of 10^-decimals, which a double holds exactly; one with more
// decimals is refused.
// A slice belongs to the period in which it was taken: at its end what is left is dropped, and
// stays counted in the period that ended. So no unit of one period is used in the next.
// The end is told by the service and looked at by the client's clock, which may be wrong. Where it
// is ahead, a period is over here and goes on there: then no other slice is taken before the
// service is in the next period, so at most one is lost. Where it is behind, the service is asked
// before anything is given back.
// Does not: notice that a subscription is paused, a test clock is moved or a grant is voided; and
// it is for meters that sum.
import { TollhouseError } from './errors.ts';
import { type CustomerName, isUnasked } from './metering.ts';
import type { CheckBody, CheckResult } from './types.ts';

export type LeaseParams = CustomerName & {
  readonly featureKey: string;
  /** The most that is held at once. */
  readonly amount: number;
  /** Decimals of what is taken, at most the meter's `scale`; 0 unless said otherwise. */
  readonly decimals?: number;
};

export type LeaseDeps = {
  consume(params: CheckBody, idempotencyKey: string): Promise<CheckResult>;
  /** A check that consumes nothing. */
  look(params: CheckBody): Promise<CheckResult>;
  /** `timeMs`: until when it counts in this period. */
  giveBack(params: CheckBody & { readonly value: number }, timeMs: number): Promise<unknown>;
  readonly newKey: () => string;
  readonly closed: (lease: Lease) => void;
};

/** What a refill asked for, while its answer is unknown. */
type Asked = { readonly units: number; readonly idempotencyKey: string };

const UNITS_MAX = 2 ** 50;
/** After a refill that gave nothing: how long until the next, first and at most. */
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** Attempts to get a part where the whole cannot be had. */
const PARTS_MAX = 3;
/** Calls of `take` between two looks at the clock. */
const TAKES_PER_LOOK = 64;
const TIMEOUT_MS_MAX = 2 ** 31 - 1;
/** Nothing is given back this close to the end of the period: it might count in the next. */
const BACK_MS_MIN = 2000;

export class Lease {
  readonly #deps: LeaseDeps;
  readonly #use: Pick<CheckBody, 'customerId' | 'externalCustomerId' | 'featureKey'>;
  readonly #factor: number;
  readonly #amount: number;
  /** In units, as all that follows. */
  #left = 0;
  /** Below it a refill begins; 0 while a refill gave nothing. */
  #low = 0;
  #untilLook = TAKES_PER_LOOK;
  #endsAt = Infinity;
  /** Whether the period of the last slice has ended by the client's clock. */
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refilling: Promise<void> | null = null;
  #asked: Asked | null = null;
  #pauseMs = PAUSE_MS;
  #notBefore = 0;
  #closing: Promise<void> | null = null;

  /** Made by `tollhouse.lease()`. */
  constructor(deps: LeaseDeps, params: LeaseParams) {
    const { amount, decimals = 0, customerId, externalCustomerId, featureKey } = params;
    if (!Number.isInteger(decimals) || decimals < 0 || decimals > 9) {
      throw new RangeError('decimals must be 0 to 9');
    }
    this.#deps = deps;
    this.#use = {
      featureKey,
      ...(customerId !== undefined && { customerId }),
      ...(externalCustomerId !== undefined && { externalCustomerId }),
    };
    this.#factor = 10 ** decimals;
    this.#amount = this.#unitsOf(amount);
    if (this.#amount < 1) throw new RangeError('amount must be above 0');
  }

  /** What can be taken at once. */
  get remaining(): number {
    return this.#left / this.#factor;
  }

  /**
   * Takes `n` of the slice: true, or false where it has less. At once and from memory; a refill
   * needs the event loop, so a loop that never awaits gets one slice.
   */
  take(n = 1): boolean {
    const units = this.#factor === 1 && n >= 0 && n % 1 === 0 ? n : this.#unitsOf(n);
    this.#untilLook -= 1;
    if (this.#untilLook === 0) this.#look();
    const left = this.#left - units;
    if (left < 0) {
      this.#want();
      return false;
    }
    this.#left = left;
    if (left < this.#low) this.#want();
    return true;
  }

  /** Waits for a refill where less than `n` is left. Whether `n` can be taken then. */
  async ready(n = 1): Promise<boolean> {
    const units = this.#unitsOf(n);
    if (this.#left < units && this.#closing === null) await this.#refill();
    return this.#left >= units;
  }

  /** Takes no more, and gives back what is left. Rejects where that could not be delivered. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#low = 0;
    await this.#refilling?.catch(() => undefined);
    let failed: Error | undefined;
    try {
      // What the lost answer granted is given back, too.
      if (this.#asked !== null) await this.#ask(this.#asked);
    } catch (error) {
      failed = this.#stayed(this.#asked?.units ?? 0, error);
    }
    const left = this.#left;
    try {
      await this.#giveBack();
    } catch (error) {
      failed = this.#stayed(left + (this.#asked?.units ?? 0), error);
    } finally {
      this.#deps.closed(this);
    }
    if (failed !== undefined) throw failed;
  }

  async #giveBack(): Promise<void> {
    clearTimeout(this.#timer);
    const left = this.#left;
    const endsAt = this.#endsAt;
    this.#left = 0;
    if (left === 0 || endsAt - Date.now() <= BACK_MS_MIN) return;
    if (endsAt !== Infinity && endOf(await this.#deps.look(this.#use)) !== endsAt) return;
    const timeMs = endsAt - Date.now() - BACK_MS_MIN;
    const value = -left / this.#factor;
    if (timeMs > 0) await this.#deps.giveBack({ ...this.#use, value }, timeMs);
  }

  /** The error of a close says how much it is about. */
  #stayed(units: number, error: unknown): Error {
    if (!(error instanceof TollhouseError) || units === 0) return error as Error;
    const { featureKey, externalCustomerId, customerId } = this.#use;
    const what = `${units / this.#factor} ${featureKey} of ${externalCustomerId ?? customerId}`;
    return error.saying(`${what} could not be given back: ${error.message}`);
  }

  /** Begins a refill, unless one is on its way or the last one gave nothing a moment ago. */
  #want(): void {
    if (this.#refilling !== null || this.#closing !== null) return;
    if (this.#notBefore > 0 && Date.now() < this.#notBefore) return;
    // Its failure is told by the next `ready`, and `take` is false meanwhile.
    this.#refill().catch(() => undefined);
  }

  #refill(): Promise<void> {
    this.#refilling ??= this.#fill().finally(() => {
      this.#refilling = null;
    });
    return this.#refilling;
  }

  async #fill(): Promise<void> {
    const before = this.#left;
    this.#low = 0;
    let gained = false;
    try {
      gained = await this.#gain();
    } finally {
      if (gained) {
        this.#pauseMs = PAUSE_MS;
        this.#notBefore = 0;
        // Where only a part could be had, the rest is not asked for again and again.
        if (this.#left > before) this.#low = Math.ceil(this.#amount / 2);
      } else {
        this.#notBefore = Date.now() + this.#pauseMs;
        this.#pauseMs = Math.min(PAUSE_MS_MAX, this.#pauseMs * 2);
      }
    }
  }

  /** Asks for what is missing, and for less where that cannot be had. Whether it got any. */
  async #gain(): Promise<boolean> {
    if (this.#isOver && this.#asked === null) {
      if (endOf(await this.#deps.look(this.#use)) <= Date.now()) return false;
    }
    let units = this.#amount - this.#left;
    for (let part = 0; part < PARTS_MAX && units > 0; part += 1) {
      const asked = this.#asked ?? { units, idempotencyKey: this.#deps.newKey() };
      const { allowed, remaining, reason } = await this.#ask(asked);
      if (allowed) return !this.#isOver;
      if (reason !== 'insufficient_balance' || remaining === null) return false;
      units = Math.min(this.#amount - this.#left, Math.floor(remaining * this.#factor));
      // A double may round up.
      while (units > 0 && units / this.#factor > remaining) units -= 1;
    }
    return false;
  }

  async #ask(asked: Asked): Promise<CheckResult> {
    const { units, idempotencyKey } = asked;
    const value = units / this.#factor;
    this.#asked = asked;
    try {
      const answer = await this.#deps.consume({ ...this.#use, value }, idempotencyKey);
      this.#asked = null;
      if (answer.allowed) this.#add(units, answer);
      return answer;
    } catch (error) {
      // Anything else is a refusal: nothing was taken.
      if (error instanceof TollhouseError && !isUnasked(error)) this.#asked = null;
      throw error;
    }
  }

  #add(units: number, answer: CheckResult): void {
    const endsAt = endOf(answer);
    // The slices of two periods are not mixed: the older one has ended.
    if (endsAt !== this.#endsAt) this.#left = 0;
    this.#endsAt = endsAt;
    this.#isOver = false;
    this.#left += units;
    this.#look();
    this.#setTimer();
  }

  /** Drops what is left when its period has ended. */
  #look(): void {
    this.#untilLook = TAKES_PER_LOOK;
    if (Date.now() < this.#endsAt) return;
    this.#left = 0;
    this.#endsAt = Infinity;
    this.#isOver = true;
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    if (this.#endsAt === Infinity) return;
    const wait = Math.max(0, this.#endsAt - Date.now());
    this.#timer = setTimeout(
      () => {
        this.#look();
        this.#setTimer();
      },
      Math.min(wait, TIMEOUT_MS_MAX),
    );
    unref(this.#timer);
  }

  #unitsOf(n: number): number {
    const units = Math.round(n * this.#factor);
    if (!(units >= 0 && units <= UNITS_MAX)) throw new RangeError(`${n} is out of range`);
    if (units / this.#factor === n) return units;
    const decimals = Math.round(Math.log10(this.#factor));
    throw new RangeError(`${n} has more than the ${decimals} decimals of this lease`);
  }
}

/** Lets the process end before the timer, which is a number in an older Deno and in browsers. */
function unref(timer: number | { readonly unref?: () => void }): void {
  if (typeof timer === 'object') timer.unref?.();
  else (globalThis as Runtime).Deno?.unrefTimer(timer);
}

type Runtime = { readonly Deno?: { unrefTimer(timer: number): void } };

/** When its period ends, in milliseconds since 1970. */
function endOf({ resetsAt }: CheckResult): number {
  return resetsAt === null ? Infinity : Date.parse(resetsAt);
}
