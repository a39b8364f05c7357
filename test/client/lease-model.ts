// A service that holds units of one customer's feature, and whose time and faults a test decides.
import { ConflictError, ConnectionError } from '../../src/client/errors.ts';
import { Lease, type LeaseDeps, type LeaseParams } from '../../src/client/lease.ts';
import type { CheckBody, CheckResult, Reservation } from '../../src/client/types.ts';

/** What becomes of a call. */
export type Fate =
  | 'answered'
  /** Done, and the answer is lost. */
  | 'lost'
  /** Not done, and no answer. */
  | 'cut'
  /** Somebody else was quicker. */
  | 'rival';

export const FATES = ['answered', 'lost', 'cut', 'rival'] as const satisfies readonly Fate[];

type Held = {
  readonly amount: number;
  readonly madeAt: number;
  readonly period: number;
  expiresAt: number;
};
type Done = { readonly value: number; readonly period: number };

export class Holder {
  readonly #fates: Fate[];
  readonly #held = new Map<string, Held>();
  readonly #done = new Map<string, Done>();
  /** The times of the service and of the client. */
  now = 1_000_000;
  clientNow = 5000;
  granted: number;
  /** How long a period lasts. */
  periodMs = Infinity;
  /** Whether no call gets through. */
  isAway = false;
  readonly calls: string[] = [];
  /** Calls, whatever became of them. */
  attempts = 0;

  constructor(granted: number, fates: readonly Fate[] = []) {
    this.granted = granted;
    this.#fates = [...fates];
  }

  lease(params: Partial<Pick<LeaseParams, 'amount' | 'expiresIn'>> = {}): Lease {
    return new Lease(this.#deps(), {
      externalCustomerId: 'ann',
      featureKey: 'calls',
      amount: 100,
      ...params,
    });
  }

  /** Time passes, for the service and for the client. */
  pass(ms: number): void {
    this.now += ms;
    this.clientNow += ms;
  }

  /** What was committed, in this period or in another one. */
  consumedIn(period = this.#period): number {
    let sum = 0;
    for (const done of this.#done.values()) if (done.period === period) sum += done.value;
    return sum;
  }

  get consumed(): number {
    let sum = 0;
    for (const { value } of this.#done.values()) sum += value;
    return sum;
  }

  /** What nobody else can have. */
  get reserved(): number {
    let sum = 0;
    for (const [id, { amount }] of this.#held) if (this.#isOpen(id)) sum += amount;
    return sum;
  }

  get #period(): number {
    return this.periodMs === Infinity ? 0 : Math.floor(this.now / this.periodMs);
  }

  #isOpen(id: string): boolean {
    const held = this.#held.get(id);
    return held !== undefined && !this.#done.has(id) && this.now < held.expiresAt;
  }

  #deps(): LeaseDeps {
    let keys = 0;
    return {
      newKey: () => String((keys += 1)),
      now: () => this.clientNow,
      closed: () => undefined,
      reserve: (body, key) => this.#call('reserve', () => this.#reserve(body, key)),
      commit: (id, value) => this.#call(`commit ${value}`, () => this.#resolve(id, value)),
      release: (id) => this.#call('release', () => this.#resolve(id, 0)),
      extend: (id, expiresIn) => this.#call('extend', () => this.#extend(id, expiresIn)),
    };
  }

  async #call<T>(what: string, act: () => T): Promise<T> {
    this.attempts += 1;
    await Promise.resolve();
    const fate = this.#fates.shift() ?? 'answered';
    if (fate === 'cut' || this.isAway) throw new ConnectionError('cut');
    if (fate === 'rival') {
      this.granted = Math.max(this.consumed + this.reserved, this.granted - 5);
    }
    this.calls.push(what);
    const answer = act();
    if (fate === 'lost') throw new ConnectionError('lost');
    return answer;
  }

  #reserve({ value, expiresIn }: CheckBody, key: string): CheckResult {
    const amount = Number(value);
    const known = this.#held.get(key);
    const period = this.#period;
    const start = this.periodMs === Infinity ? 0 : period * this.periodMs;
    const used = this.consumedIn() + this.reserved;
    const allowed = known !== undefined || amount <= this.granted - used;
    const expiresAt = this.now + Number(expiresIn) * 1000;
    const held = known ?? { amount, madeAt: this.now, period, expiresAt };
    if (allowed) this.#held.set(key, held);
    return {
      allowed,
      reason: allowed ? 'ok' : 'insufficient_balance',
      remaining: this.granted - this.consumedIn() - this.reserved,
      periodStart: new Date(start).toISOString(),
      resetsAt: this.periodMs === Infinity ? null : new Date(start + this.periodMs).toISOString(),
      reservation: allowed
        ? ({ id: key, createdAt: new Date(held.madeAt).toISOString() } as Reservation)
        : null,
    } as CheckResult;
  }

  #resolve(id: string, value: number): void {
    const done = this.#done.get(id);
    if (done !== undefined && done.value !== value) throw conflict();
    const held = this.#held.get(id)!;
    // What is late is usage of now.
    const period = this.#isOpen(id) ? held.period : this.#period;
    if (done === undefined) this.#done.set(id, { value, period });
  }

  #extend(id: string, expiresIn: number): void {
    if (!this.#isOpen(id)) throw conflict();
    this.#held.get(id)!.expiresAt = this.now + expiresIn * 1000;
  }
}

const conflict = (): ConflictError =>
  new ConflictError('not open', { type: 'invalid_state', status: 409 });
