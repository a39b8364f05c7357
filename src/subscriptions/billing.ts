// What a subscription's commit still owes others: an invoice, a charge, an invoice made void, the customer's overdue state.
//
//     flush (period, followup) ─▶ one transaction for many: invoices, payments ─▶ processor ─▶ payment's actor ─▶ customer's actor
//
// Holds: before the processor hears of a charge, its invoice and its payment are on disk with an alarm that finds them again. A row is
// deleted by the transaction that does what it says; what a crash left behind is swept up. Each may come twice: ids follow from causes.
import type { Ledger } from '../../ledger/ledger.ts';
import type { Ids, Log, OrgClock, Timers } from '../../ledger/ports.ts';
import type { Command } from '../../ledger/subscription-actions.ts';
import { Batches } from '../platform/batches.ts';
import type { Sql } from '../platform/postgres.ts';
import { Sweep } from '../platform/sweep.ts';
import type { ProcessorFor } from '../processors/processor.ts';
import { billingPolicyOf } from '../records/organisations.ts';
import { deleteFollowups, listSubscriptionsOwing } from '../records/subscription-followups.ts';
import type { Scope } from '../records/scope.ts';
import { carryOut, type Owed, type Unpayable, type UntoldNews } from './carry-out.ts';

const SWEEP_MS = 2000;
/** Younger ones are being done by whoever brought them about. */
const LEFT_BEHIND_MS = 1500;
const SWEPT_AT_ONCE = 200;

export type BillingDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly processorFor: ProcessorFor;
  /** Charges what the customer has left, for a payment that is on disk. */
  readonly collect: (paymentId: string) => Promise<void>;
};

export class Billing {
  readonly #deps: BillingDeps;
  readonly #batches: Batches<Owed>;
  readonly #sweep: Sweep;
  #closed = false;

  constructor(deps: BillingDeps) {
    this.#deps = deps;
    this.#batches = new Batches({
      atMost: 100,
      concurrentMax: 4,
      work: (ids) => deps.sql.begin((transaction) => carryOut(transaction, deps, ids)),
      failed: (error) => this.#warn(error),
    });
    this.#sweep = new Sweep({
      timers: deps.timers,
      everyMs: SWEEP_MS,
      work: () => this.#carryOutLeftBehind(),
      failed: (error) => this.#warn(error),
    });
  }

  start(): void {
    this.#sweep.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep.stop();
    await this.#batches.idle();
  }

  /** Does what the subscription owes, charges included; resolves when each has an answer or none came. */
  async carryOut(subscriptionId: string): Promise<void> {
    const owed = await this.#batches.do(subscriptionId);
    if (owed === undefined) return;
    // One after the other: what became due first is told first.
    for (const paymentId of owed.charges) await this.#deps.collect(paymentId);
    for (const one of owed.unpayable) await this.#giveUp(one);
    for (const one of owed.news) await this.#tell(one, one.news);
  }

  /** There is nothing to charge: the invoice stays open, and is chased. */
  async #giveUp(one: Unpayable): Promise<void> {
    const { sql, orgClock } = this.#deps;
    const { scope, paymentId } = one;
    const { dunning: policy } = await billingPolicyOf(sql, scope);
    const settlement = { kind: 'no_method', paymentId, at: orgClock.now(scope), policy } as const;
    await this.#tell(one, { kind: 'settle', settlement });
  }

  /** It may owe something else then: an invoice to make void, a word to the merchant. */
  async #tell(
    { customerId, subscriptionId, followupId }: Unpayable | UntoldNews,
    command: Command,
  ): Promise<void> {
    const { sql, ledger } = this.#deps;
    await ledger.subscriptions.command(customerId, subscriptionId, command);
    await deleteFollowups(sql, [followupId]);
    await this.carryOut(subscriptionId);
  }

  /** Does what any subscription of a tenant owes now; whether there was anything. */
  async carryOutAll(scope: Scope): Promise<boolean> {
    const all = { olderThanMs: 0, atMost: SWEPT_AT_ONCE, scope };
    const ids = await listSubscriptionsOwing(this.#deps.sql, all);
    await Promise.all(ids.map((id) => this.carryOut(id)));
    return ids.length > 0;
  }

  async #carryOutLeftBehind(): Promise<void> {
    const left = { olderThanMs: LEFT_BEHIND_MS, atMost: SWEPT_AT_ONCE, scope: null };
    const ids = await listSubscriptionsOwing(this.#deps.sql, left);
    await Promise.all(ids.map((id) => this.carryOut(id)));
  }

  #warn(error: unknown): void {
    if (!this.#closed) this.#deps.log.warn({ err: error }, 'billing is left for later');
  }
}
