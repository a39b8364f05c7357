// Follows the hints of processors: asks what has become of a charge, its disputes or a refund.
//
//     webhook ─▶ row (durable) ─▶ answered ─▶ asked here, at once; by any node after a crash
//
// Holds: a hint changes nothing by itself, and one that is lost costs time alone: what is not
// decided is asked about by its alarm. Each tenant's hints are asked about beside the others', so a
// processor that is slow for one holds up no other.
import { unreachable } from '../../ledger/kernel/assert.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Log, Timers } from '../../ledger/ports.ts';
import { Sweep } from '../platform/background/sweep.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import {
  claimHints,
  insertHint,
  listHinted,
  type NewHint,
  type ProcessorHint,
  settleHints,
} from '../records/processor-hints.ts';
import type { Payments } from './payments.ts';

const SWEEP_MS = 5000;
/** Tenants whose hints are followed at the same time, and hints of one. */
const TENANTS_MAX = 64;
const AT_ONCE_MAX = 8;
/** Over some hours; then its alarm or the reconciliation has to notice. */
const TRIES_MAX = 10;

export type HintsDeps = {
  readonly sql: Sql;
  readonly timers: Timers;
  readonly log: Log;
  readonly payments: Pick<Payments, 'pollCharge' | 'pollDisputes' | 'pollRefund'>;
  /** A try to replace a payment method may be decided. */
  readonly pollMethod: (scope: Tenant, key: string) => Promise<void>;
};

export class Hints {
  readonly #deps: HintsDeps;
  readonly #sweep: Sweep;
  /** The tenants that are followed now; true where another hint came meanwhile. */
  readonly #news = new Map<string, boolean>();
  readonly #following = new Set<Promise<void>>();
  #closed = false;

  constructor(deps: HintsDeps) {
    this.#deps = deps;
    this.#sweep = new Sweep({
      timers: deps.timers,
      everyMs: SWEEP_MS,
      work: () => this.#followAll(),
      failed: (error) => this.#warn(error, {}),
    });
  }

  start(): void {
    this.#sweep.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep.stop();
    await Promise.all(this.#following);
  }

  /** Resolves when it is stored. It is followed after that. */
  async take(scope: Tenant, hint: NewHint): Promise<void> {
    if (await insertHint(this.#deps.sql, scope, hint)) this.#follow(scope);
  }

  async #followAll(): Promise<void> {
    for (const scope of await listHinted(this.#deps.sql, TENANTS_MAX)) this.#follow(scope);
  }

  #follow(scope: Tenant): void {
    const name = `${scope.organisationId} ${scope.mode}`;
    if (this.#news.has(name)) {
      this.#news.set(name, true);
      return;
    }
    // The sweep takes it up again.
    if (this.#closed || this.#news.size >= TENANTS_MAX) return;
    const following: Promise<void> = this.#run(scope, name).finally(() =>
      this.#following.delete(following),
    );
    this.#following.add(following);
  }

  /** Never rejects. */
  async #run(scope: Tenant, name: string): Promise<void> {
    try {
      do {
        this.#news.set(name, false);
        while (!this.#closed && (await this.#step(scope)));
      } while (!this.#closed && this.#news.get(name) === true);
    } catch (error) {
      this.#warn(error, scope);
    }
    this.#news.delete(name);
  }

  /** Whether there were any. */
  async #step(scope: Tenant): Promise<boolean> {
    const hints = await claimHints(this.#deps.sql, scope, AT_ONCE_MAX);
    // One payment makes several events at a time.
    const subjects = Map.groupBy(hints, ({ about, subject }) => `${about} ${subject}`);
    await Promise.all([...subjects.values()].map((same) => this.#settle(scope, same)));
    return hints.length > 0;
  }

  async #settle(scope: Tenant, same: readonly ProcessorHint[]): Promise<void> {
    const [hint] = same;
    if (hint === undefined) return;
    const { about, subject } = hint;
    try {
      await this.#ask(scope, hint);
    } catch (error) {
      this.#warn(error, { ...scope, about, subject });
      if (same.every(({ tries }) => tries < TRIES_MAX)) return;
    }
    const eventIds = same.map(({ eventId }) => eventId);
    await settleHints(this.#deps.sql, scope, eventIds);
  }

  #ask(scope: Tenant, hint: ProcessorHint): Promise<void> {
    const { payments } = this.#deps;
    const { about, subject } = hint;
    switch (about) {
      case 'charge':
        return this.#askCharge(scope, subject);
      case 'refund':
        return payments.pollRefund(scope, subject);
      case 'dispute':
        return this.#askOfDisputes(scope, subject);
      default:
        return unreachable(about);
    }
  }

  /** A key of no payment is that of a customer's try to replace its payment method. */
  async #askCharge(scope: Tenant, key: string): Promise<void> {
    const { payments, pollMethod } = this.#deps;
    if (!(await payments.pollCharge(scope, key))) await pollMethod(scope, key);
  }

  /** A dispute that we do not know has no alarm yet, so its hint waits for an answer. */
  async #askOfDisputes(scope: Tenant, paymentId: string): Promise<void> {
    const reply = await this.#deps.payments.pollDisputes(scope, paymentId);
    if (reply.kind === 'unknown') throw new Error('the processor has not answered');
    const isEarly =
      reply.kind === 'asked' && reply.refused.some(({ refusal }) => refusal === 'no_charge');
    if (isEarly) throw new Error('the charge that is disputed is not decided yet');
  }

  #warn(error: unknown, fields: Record<string, unknown>): void {
    const { log } = this.#deps;
    if (!this.#closed)
      log.warn({ err: error, ...fields }, 'a processor webhook will be followed later');
  }
}
