// Executes the follow-ups of subscriptions: invoices, charges, void invoices, the customer's
// overdue state.
//
//     flush ─▶ invoices and payments (one transaction) ─▶ processor ─▶ payment ─▶ customer
//
// Holds: an invoice and its payment, with an alarm, are on disk before the processor is asked. The
// transaction that executes a follow-up deletes its row; a sweep finds what a crash left behind. A
// step may be repeated: ids are derived from causes.
// Does not: decide what to bill or when to retry: ledger/subscriptions does.
import type { Ledger } from '../../ledger/ledger.ts';
import type { Ids, Log, OrgClock, Timers } from '../../ledger/ports.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import { OutboxTasks } from '../platform/background/outbox-tasks.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import type { Processors } from '../processors/processor.ts';
import { putOff } from '../records/followups.ts';
import { billingPolicyOf } from '../records/organisations.ts';
import { deleteFollowups, listSubscriptionsOwing } from '../records/subscription-followups.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { executeOwed, type StillOwed, type Unpayable, type PendingNews } from './execute.ts';

const CONCURRENT_MAX = 4;

export type BillingDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly processors: Processors;
  /** Whether customers get mails. */
  readonly sendsMail: boolean;
  /** Charges the saved payment method for a payment on disk. */
  readonly collect: (paymentId: string) => Promise<void>;
};

export class Billing {
  readonly #deps: BillingDeps;
  readonly #owed: OutboxTasks<string, Tenant, StillOwed>;

  constructor(deps: BillingDeps) {
    this.#deps = deps;
    this.#owed = new OutboxTasks({
      what: 'the billing of a subscription',
      timers: deps.timers,
      log: deps.log,
      concurrentMax: CONCURRENT_MAX,
      work: (ids) => deps.sql.begin((transaction) => executeOwed(transaction, deps, ids)),
      list: (which) => listSubscriptionsOwing(deps.sql, which),
      idOf: (id) => id,
      carryOut: (id) => this.carryOut(id),
      putOff: (subscriptionId, why) => putOff(deps.sql, { subscriptionId }, why),
    });
  }

  start(): void {
    this.#owed.start();
  }

  close(): Promise<void> {
    return this.#owed.close();
  }

  /**
   * Executes what the subscription owes, with its charges. Resolves when each charge has an answer
   * or none came.
   */
  async carryOut(subscriptionId: string): Promise<void> {
    const owed = await this.#owed.do(subscriptionId);
    if (owed === undefined) return;
    // In due order.
    for (const paymentId of owed.charges) await this.#deps.collect(paymentId);
    for (const one of owed.unpayable) await this.#giveUp(one);
    for (const one of owed.news) await this.#tell(one, one.news);
  }

  /** There is no payment method: the invoice stays open, in dunning. */
  async #giveUp(one: Unpayable): Promise<void> {
    const { sql, orgClock } = this.#deps;
    const { scope, paymentId } = one;
    const { dunning: policy } = await billingPolicyOf(sql, scope);
    const settlement = { kind: 'no_method', paymentId, at: orgClock.now(scope), policy } as const;
    await this.#tell(one, { kind: 'settle', settlement });
  }

  /** New follow-ups may result: an invoice to void, an event for the merchant. */
  async #tell(
    { customerId, subscriptionId, followupId }: Unpayable | PendingNews,
    command: Command,
  ): Promise<void> {
    const { sql, ledger } = this.#deps;
    await ledger.subscriptions.command(customerId, subscriptionId, command);
    await deleteFollowups(sql, [followupId]);
    await this.carryOut(subscriptionId);
  }

  /** Executes what any subscription of a tenant owes. Returns whether there was anything. */
  carryOutAll(scope: Tenant): Promise<boolean> {
    return this.#owed.carryOutAll(scope);
  }
}
