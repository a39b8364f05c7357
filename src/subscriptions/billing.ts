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
import { postpone } from '../records/followups.ts';
import { billingPolicyOf } from '../records/organisations.ts';
import {
  deleteFollowups,
  listSubscriptionsOwing,
  standingOf,
} from '../records/subscription-followups.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { executeOwed, type PendingNews, type StillOwed, type Unwanted } from './execute.ts';

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
  /** Cancels a charge that nobody wants any more, if the processor lets go of it. */
  readonly release: (paymentId: string) => Promise<void>;
  /** Refunds all that is left of a payment, once. */
  readonly giveBack: (scope: Tenant, paymentId: string) => Promise<void>;
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
      postpone: (subscriptionId, why) => postpone(deps.sql, { subscriptionId }, why),
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
    for (const one of owed.news) await this.#tell(one);
    for (const one of owed.unwanted) await this.#undo(one);
  }

  /** Its row stays until it is done: a refund that is owed is not lost. */
  async #undo({ kind, scope, subscriptionId, paymentId, followupId }: Unwanted): Promise<void> {
    const { sql, release, giveBack } = this.#deps;
    try {
      if (kind === 'let_go') await release(paymentId);
      else await giveBack(scope, paymentId);
      await deleteFollowups(sql, [followupId]);
    } catch (error) {
      await this.#owed.failed(subscriptionId, error);
    }
  }

  /** New follow-ups may result: an invoice to void, an event for the merchant. */
  async #tell(one: PendingNews): Promise<void> {
    const { sql, ledger } = this.#deps;
    const { customerId, subscriptionId, followupId } = one;
    const command = await this.#commandOf(one);
    if (command === 'later') return;
    if (command !== null) await ledger.subscriptions.command(customerId, subscriptionId, command);
    await deleteFollowups(sql, [followupId]);
    await this.carryOut(subscriptionId);
  }

  /** null: there is nothing to tell any more. */
  async #commandOf({ scope, news, followupId }: PendingNews): Promise<Command | null | 'later'> {
    if (news.kind === 'pending') {
      const { kind, invoiceId, paymentId } = news;
      const standing = await standingOf(this.#deps.sql, { followupId, paymentId });
      // Another caller asks about it, and tells where there is no answer.
      if (standing === 'asked') return 'later';
      return standing === 'decided' ? null : { kind, invoiceId };
    }
    if (news.kind !== 'no_method') return news;
    // The invoice stays open, in dunning.
    const { sql, orgClock } = this.#deps;
    const { dunning: policy } = await billingPolicyOf(sql, scope);
    return { kind: 'settle', settlement: { ...news, at: orgClock.now(scope), policy } };
  }

  /** Executes what any subscription of a tenant owes. Returns whether there was anything. */
  carryOutAll(scope: Tenant): Promise<boolean> {
    return this.#owed.carryOutAll(scope);
  }
}
