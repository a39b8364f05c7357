// A lease: slices of a customer's balance, held by the service and given out from memory.
//
//     POST /check {reserve} ─▶ slice ─▶ take(n) ─▶ refilled before it is empty
//                                │         └─▶ commit: what was taken is counted
//                                └─▶ renewed at half of its time, or free again when it expires
//
// Holds: never more is given out than the service holds for it. Each slice is a reservation. What
// was taken of it is committed when it is used up, when it is renewed and at `close`; the rest is
// released. So of a process that dies at most what it took since is not counted, and what it held
// is free again when it expires. What is left to take is at most `amount`.
// A slice of which something was taken is renewed by another one, held before the first is let go,
// so that `take` is not false meanwhile; where the balance has no room for both, and where nothing
// was taken, it is extended. One that may have expired is not given out of, by the client's own
// clock and with a margin; what was taken of it is committed all the same, late if need be.
// A slice belongs to the period in which it was held, and what is committed of it counts there.
// A hold whose answer is unknown is asked for again under its key, before any other; commits repeat
// by themselves.
// Quantities are whole numbers of 10^-decimals, which a double holds exactly; one with more
// decimals is refused.
// Does not: notice that a subscription is paused, a test clock is moved or a grant is voided,
// before the next renewal.
import { elapsedBy } from './elapsed.ts';
import { TollhouseError } from './errors.ts';
import { type CustomerName, isUnasked } from './metering.ts';
import { prolong, renewing, restOf, type Slice, sliceOf } from './slice.ts';
import type { CheckBody, CheckResult } from './types.ts';

export type LeaseParams = CustomerName & {
  readonly featureKey: string;
  /** The most that is held to be taken. */
  readonly amount: number;
  /** Decimals of what is taken, at most the meter's `scale`; 0 unless said otherwise. */
  readonly decimals?: number;
  /**
   * Seconds after which what a dead process held is free again: 5 to 86,400, 60 unless said
   * otherwise.
   */
  readonly expiresIn?: number;
};

export type LeaseDeps = {
  /** A check that reserves. */
  reserve(params: CheckBody, idempotencyKey: string): Promise<CheckResult>;
  commit(id: string, value: number): Promise<unknown>;
  release(id: string): Promise<unknown>;
  extend(id: string, expiresIn: number): Promise<unknown>;
  /** Never goes back. */
  readonly now: () => number;
  readonly newKey: () => string;
  readonly closed: (lease: Lease) => void;
};

/** What a refill asked for, while its answer is unknown. */
type Asked = {
  readonly units: number;
  readonly idempotencyKey: string;
  readonly sentAt: number;
  /** Which slices it is to replace. */
  readonly replaced: readonly Slice[];
};

const UNITS_MAX = 2 ** 50;
const EXPIRES_IN = { least: 5, most: 86_400, default: 60 };
/** After a refill that gave nothing: how long until the next, first and at most. */
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** Between attempts to commit. */
const TELL_MS = 1000;
/** Attempts to get a part where the whole cannot be had. */
const PARTS_MAX = 3;
/** Calls of `take` in one turn of the event loop between two looks at the clock. */
const TAKES_PER_LOOK = 256;
/** Slices that wait to be committed: with more, nothing else is held. */
const ENDED_MAX = 8;

export class Lease {
  readonly #deps: LeaseDeps;
  readonly #use: Pick<CheckBody, 'customerId' | 'externalCustomerId' | 'featureKey'>;
  readonly #factor: number;
  readonly #amount: number;
  readonly #expiresIn: number;
  readonly #now: () => number;
  /** In units, as all that follows. */
  #left = 0;
  /** Below it a refill begins; 0 while a refill gave nothing. */
  #low = 0;
  #untilLook = 0;
  #isSameTurn = false;
  readonly #turnEnds = (): void => {
    this.#isSameTurn = false;
    this.#untilLook = 0;
  };
  /** Oldest first, of which is given out first. `#left` says how much is left of all. */
  #slices: readonly Slice[] = [];
  /** When the first of them is over or to be renewed. */
  #next = Infinity;
  /** Over, and not yet committed or released: what was taken of each is final. */
  readonly #ended: Slice[] = [];
  #telling: Promise<void> | null = null;
  /** What the service refused to count. */
  #refused: { units: number; readonly error: Error } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refilling: Promise<void> | null = null;
  #asked: Asked | null = null;
  #pauseMs = PAUSE_MS;
  #notBefore = -Infinity;
  #isClosed = false;
  #closing: Promise<void> | null = null;

  /** Made by `tollhouse.lease()`. */
  constructor(deps: LeaseDeps, params: LeaseParams) {
    const { amount, decimals = 0, customerId, externalCustomerId, featureKey } = params;
    const { expiresIn = EXPIRES_IN.default } = params;
    if (!Number.isInteger(decimals) || decimals < 0 || decimals > 9) {
      throw new RangeError('decimals must be 0 to 9');
    }
    const { least, most } = EXPIRES_IN;
    if (!Number.isInteger(expiresIn) || expiresIn < least || expiresIn > most) {
      throw new RangeError(`expiresIn must be ${least} to ${most} seconds`);
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
    this.#expiresIn = expiresIn;
    this.#now = elapsedBy(deps.now, () => Date.now());
  }

  /** What can be taken at once. */
  get remaining(): number {
    this.#look();
    return this.#left / this.#factor;
  }

  /**
   * Takes `n` of the slices: true, or false where they have less. At once and from memory; a refill
   * needs the event loop, so a loop that never awaits gets `amount`.
   */
  take(n = 1): boolean {
    const units = this.#factor === 1 && n >= 0 && n % 1 === 0 ? n : this.#unitsOf(n);
    this.#untilLook -= 1;
    if (this.#untilLook < 0) this.#look();
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
    this.#look();
    if (this.#left < units && !this.#isClosed) await this.#refill();
    return this.#left >= units;
  }

  /**
   * Takes no more, commits what was taken and releases the rest. Rejects where something that was
   * taken is not counted; another call tries again.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      if (this.#ended.length > 0) this.#closing = null;
    });
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#low = 0;
    await this.#refilling?.catch(noop);
    this.#end(this.#slices);
    try {
      await this.#tell();
    } catch (error) {
      throw this.#uncounted(error);
    } finally {
      clearTimeout(this.#timer);
      this.#deps.closed(this);
    }
    if (this.#refused !== null) throw this.#uncounted(this.#refused.error);
  }

  /** The error of a close says how much it is about. */
  #uncounted(error: unknown): Error {
    if (!(error instanceof TollhouseError)) return error as Error;
    const units = this.#ended.reduce((sum, { taken }) => sum + taken, this.#refused?.units ?? 0);
    const { featureKey, externalCustomerId, customerId } = this.#use;
    const what = `${units / this.#factor} ${featureKey} of ${externalCustomerId ?? customerId}`;
    return error.saying(`${what} could not be counted: ${error.message}`);
  }

  /** Begins a refill, unless one is on its way or the last one gave nothing a moment ago. */
  #want(): void {
    if (this.#isClosed || this.#refilling !== null || this.#now() < this.#notBefore) return;
    // Its failure is told by the next `ready`, and `take` is false meanwhile.
    this.#refill().catch(noop);
  }

  #refill(): Promise<void> {
    this.#refilling ??= this.#fill().finally(() => {
      this.#refilling = null;
      this.#setTimer();
    });
    return this.#refilling;
  }

  async #fill(): Promise<void> {
    this.#low = 0;
    let gained = false;
    try {
      gained = await this.#gain();
    } finally {
      if (gained) {
        this.#pauseMs = PAUSE_MS;
        this.#notBefore = -Infinity;
        this.#low = Math.ceil(this.#amount / 2);
      } else {
        // Where only a part could be had, the rest is not asked for again and again.
        this.#notBefore = this.#now() + this.#pauseMs;
        this.#pauseMs = Math.min(PAUSE_MS_MAX, this.#pauseMs * 2);
      }
    }
  }

  /**
   * Asks for what is missing, and for less where that cannot be had, and renews what is due.
   * Whether it has all that it wanted, or some more.
   */
  async #gain(): Promise<boolean> {
    if (this.#ended.length >= ENDED_MAX) await this.#tell();
    this.#count();
    const now = this.#now();
    const due = this.#slices.filter(({ renewAt }) => renewAt <= now);
    for (const slice of due) renewing(slice, now, this.#expiresIn * 1000);
    this.#findNext();
    const gained = await this.#hold(due.filter(({ taken }) => taken > 0));
    for (const slice of due) if (this.#slices.includes(slice)) await this.#extend(slice);
    return gained;
  }

  async #hold(due: readonly Slice[]): Promise<boolean> {
    let replaced = due;
    let units = this.#amount - this.#left + restOf(replaced);
    if (units === 0 && this.#asked === null) return true;
    for (let part = 0; part < PARTS_MAX && (units > 0 || this.#asked !== null); part += 1) {
      const { allowed, remaining, reason } = await this.#ask(
        this.#asked ?? {
          units,
          replaced,
          idempotencyKey: this.#deps.newKey(),
          sentAt: this.#now(),
        },
      );
      if (allowed) return this.#left > 0;
      if (reason !== 'insufficient_balance' || remaining === null) return false;
      replaced = [];
      units = Math.min(this.#amount - this.#left, Math.floor(remaining * this.#factor));
      // A double may round up.
      while (units > 0 && units / this.#factor > remaining) units -= 1;
    }
    return false;
  }

  async #ask(asked: Asked): Promise<CheckResult> {
    const { units, idempotencyKey } = asked;
    const value = units / this.#factor;
    const expiresIn = this.#expiresIn;
    this.#asked = asked;
    try {
      const body = { ...this.#use, value, reserve: true, expiresIn };
      const answer = await this.#deps.reserve(body, idempotencyKey);
      this.#asked = null;
      this.#add(asked, answer);
      return answer;
    } catch (error) {
      // Anything else is a refusal: nothing is held.
      if (error instanceof TollhouseError && !isUnasked(error)) this.#asked = null;
      throw error;
    }
  }

  #add({ units, sentAt, replaced }: Asked, answer: CheckResult): void {
    const { reservation } = answer;
    if (!answer.allowed || !reservation) return;
    const expiresInMs = this.#expiresIn * 1000;
    const slice = sliceOf(reservation, { units, sentAt, expiresInMs }, answer);
    this.#end(replaced);
    this.#slices = [...this.#slices, slice];
    this.#left += units;
    this.#findNext();
    this.#look();
  }

  /** Holds it for longer. */
  async #extend(slice: Slice): Promise<void> {
    const sentAt = this.#now();
    try {
      await this.#deps.extend(slice.id, this.#expiresIn);
      prolong(slice, sentAt, this.#expiresIn * 1000);
      this.#findNext();
    } catch (error) {
      // It is not open any more, or was for as long as it may be.
      if (!isUnasked(error)) this.#end([slice]);
    }
  }

  /** Ends what is over, and renews what is due. */
  #look(): void {
    this.#untilLook = TAKES_PER_LOOK;
    if (!this.#isSameTurn) {
      // The process may be stopped between any two turns.
      this.#isSameTurn = true;
      queueMicrotask(this.#turnEnds);
    }
    const now = this.#now();
    if (now < this.#next) return;
    const over = this.#slices.filter(({ until }) => until <= now);
    if (over.length > 0) {
      this.#end(over);
      this.#want();
    }
    const isDue = this.#slices.some(({ renewAt }) => renewAt <= now);
    if (isDue && this.#refilling === null && !this.#isClosed) this.#refill().catch(noop);
  }

  #findNext(): void {
    this.#next = Infinity;
    for (const { renewAt, until } of this.#slices) {
      this.#next = Math.min(this.#next, renewAt, until);
    }
  }

  /** Says of each slice what was taken, oldest first. What is used up has ended. */
  #count(): void {
    let given = restOf(this.#slices) - this.#left;
    for (const slice of this.#slices) {
      const part = Math.min(given, slice.units - slice.taken);
      slice.taken += part;
      given -= part;
    }
    const isLeft = ({ units, taken }: Slice) => taken < units;
    this.#release(this.#slices.filter((slice) => !isLeft(slice)));
  }

  /** What is left of them is not given out. */
  #end(slices: readonly Slice[]): void {
    this.#count();
    this.#release(slices.filter((slice) => this.#slices.includes(slice)));
  }

  #release(slices: readonly Slice[]): void {
    if (slices.length === 0) return;
    this.#left -= restOf(slices);
    this.#slices = this.#slices.filter((slice) => !slices.includes(slice));
    this.#ended.push(...slices);
    this.#findNext();
    this.#tell().catch(() => {
      this.#setTimer();
    });
  }

  /** Commits what was taken of ended slices, and releases those of which nothing was. */
  #tell(): Promise<void> {
    if (this.#ended.length === 0) return Promise.resolve();
    this.#telling ??= this.#tellAll();
    return this.#telling;
  }

  async #tellAll(): Promise<void> {
    try {
      for (let slice = this.#ended[0]; slice !== undefined; slice = this.#ended[0]) {
        await this.#tellOne(slice);
        this.#ended.shift();
      }
    } finally {
      this.#telling = null;
    }
  }

  async #tellOne({ id, taken }: Slice): Promise<void> {
    try {
      if (taken > 0) await this.#deps.commit(id, taken / this.#factor);
      else await this.#deps.release(id);
    } catch (error) {
      // What is not released expires.
      if (taken === 0) return;
      if (isUnasked(error)) throw error;
      this.#refused ??= { units: 0, error: error as Error };
      this.#refused.units += taken;
    }
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const isTold = this.#ended.length === 0 || this.#telling !== null;
    if (this.#isClosed || (isTold && this.#next === Infinity)) return;
    const wait = Math.max(0, this.#next - this.#now());
    this.#timer = setTimeout(
      () => {
        this.#look();
        if (this.#ended.length > 0) this.#tell().catch(noop);
        this.#setTimer();
      },
      isTold ? wait : Math.min(wait, TELL_MS),
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

function noop(): void {}

/** Lets the process end before the timer, which is a number in an older Deno and in browsers. */
function unref(timer: number | { readonly unref?: () => void }): void {
  if (typeof timer === 'object') timer.unref?.();
  else (globalThis as Runtime).Deno?.unrefTimer(timer);
}

type Runtime = { readonly Deno?: { unrefTimer(timer: number): void } };
