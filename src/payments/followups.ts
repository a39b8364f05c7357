// Executes the follow-ups of payments: the checkout is paid or open again, a discount is given
// back, an invoice is written.
//
// How: the commit of the decision wrote one row for each follow-up. One transaction deletes the
// rows and executes them, so each is done once. A charge waits for its follow-ups. Refunds are
// batched across payments. A sweep finds what a crash left behind.
import { must, unreachable } from '../../ledger/kernel/assert.ts';
import type { Ids, Log, OrgClock, Timers } from '../../ledger/ports.ts';
import { OutboxTasks } from '../platform/background/outbox-tasks.ts';
import type { Sql, Transaction } from '../platform/postgres/postgres.ts';
import { findCheckout, finishAttempt } from '../records/checkouts.ts';
import { releaseDiscount } from '../records/discounts.ts';
import {
  type Followup,
  listPaymentsOwing,
  type OwingPayment,
  listReturns,
  owesTelling,
  postpone,
  takeFollowups,
} from '../records/followups.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import {
  type InvoicePayment,
  type InvoiceReturn,
  payInvoices,
  recordInvoiceReturns,
} from '../invoices/changes.ts';
import { findPayment } from '../records/payments.ts';
import { deleteFollowups } from '../records/subscription-followups.ts';
import { checkoutInvoice } from '../invoices/checkout-invoice.ts';
import { topUpInvoice } from '../invoices/topup-invoice.ts';
import { type Issuance, issueInvoices } from '../invoices/issue.ts';
import { oweMails } from './mails.ts';

const CONCURRENT_MAX = 2;
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

export type FollowupsDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly log: Log;
  /** Whether buyers get mails. */
  readonly sendsMail: boolean;
  /**
   * A charge of a subscription is decided: the customer's actor gets it first. It may be repeated.
   */
  readonly onSubscriptionPayment: (scope: Tenant, paymentId: string) => Promise<void>;
  /** Money of an invoice of a subscription went back, or has come again. It may be repeated. */
  readonly onUsageGivenBack: (paymentId: string) => Promise<void>;
  /** The same of an automatic top-up. */
  readonly onTopUpPayment: (scope: Tenant, paymentId: string) => Promise<void>;
};

export class Followups {
  readonly #deps: FollowupsDeps;
  readonly #owed: OutboxTasks<OwingPayment, Tenant, never>;

  constructor(deps: FollowupsDeps) {
    this.#deps = deps;
    this.#owed = new OutboxTasks({
      what: 'a follow-up of a payment',
      timers: deps.timers,
      log: deps.log,
      concurrentMax: CONCURRENT_MAX,
      work: (paymentIds) => this.#work(paymentIds),
      list: (which) => listPaymentsOwing(deps.sql, which),
      idOf: ({ id }) => id,
      carryOut: (payment) => this.now(payment),
      postpone: (paymentId, why) => postpone(deps.sql, { paymentId }, why),
    });
  }

  start(): void {
    this.#owed.start();
  }

  close(): Promise<void> {
    return this.#owed.close();
  }

  /** Executes what is due for this payment before it resolves. */
  async now(payment: OwingPayment): Promise<void> {
    try {
      await this.#tell(payment);
    } catch (error) {
      return this.#owed.failed(payment.id, error);
    }
    await this.#owed.do(payment.id);
  }

  async #tell(payment: OwingPayment): Promise<void> {
    const { onSubscriptionPayment, onTopUpPayment } = this.#deps;
    if (payment.subscriptionId !== null) {
      await onSubscriptionPayment(payment, payment.id);
      await this.#tellReturns(payment.id);
    }
    if (payment.meterId !== null) await onTopUpPayment(payment, payment.id);
  }

  /** What goes back meanwhile has a row of its own, which stays. */
  async #tellReturns(paymentId: string): Promise<void> {
    const { sql, onUsageGivenBack } = this.#deps;
    const told = await listReturns(sql, paymentId);
    if (told.length === 0) return;
    await onUsageGivenBack(paymentId);
    await deleteFollowups(sql, told);
  }

  /** Executes it soon, in a batch. A customer's actor gets the result of its charge first. */
  soon(payment: OwingPayment): void {
    const { sql } = this.#deps;
    const isSettled = async (): Promise<boolean> =>
      !isAwaited(payment) || !(await owesTelling(sql, payment.id));
    isSettled()
      .then((settled) => (settled ? this.#owed.do(payment.id) : this.now(payment)))
      .catch((error: unknown) => this.#owed.failed(payment.id, error));
  }

  async #work(paymentIds: readonly string[]): Promise<ReadonlyMap<string, never>> {
    await this.#deps.sql.begin(async (transaction) => {
      const owed = await takeFollowups(transaction, paymentIds);
      await executeFollowup(transaction, owed, this.#deps);
    });
    return NOTHING;
  }

  /** Executes what is due for any payment of a tenant. Returns whether there was anything. */
  carryOut(scope: Tenant): Promise<boolean> {
    return this.#owed.carryOutAll(scope);
  }
}

/** Whether a customer's actor waits for its outcome. */
function isAwaited({ subscriptionId, meterId }: OwingPayment): boolean {
  return subscriptionId !== null || meterId !== null;
}

async function executeFollowup(
  sql: Transaction,
  followups: readonly Followup[],
  { orgClock, ids, log, sendsMail }: FollowupsDeps,
): Promise<void> {
  const returns: InvoiceReturn[] = [];
  const settled: Settled = { paid: [], issuances: [], unused: [] };
  for (const followup of followups) {
    switch (followup.kind) {
      case 'payment_settled':
        await settle(sql, followup, { now: orgClock.now(followup), ids, settled });
        break;
      case 'refund_settled':
      case 'dispute_settled':
        returns.push({
          invoiceId: must(followup.invoiceId, 'the invoice of a captured payment'),
          paymentId: followup.paymentId,
          refundId: followup.data.refundId ?? null,
          disputeId: followup.data.disputeId ?? null,
          amountDelta: BigInt(must(followup.data.delta, 'an amount')),
          eventId: ids.next(),
          at: orgClock.now(followup),
        });
        break;
      default:
        unreachable(followup.kind);
    }
  }
  // What batches share (discounts, an organisation's numbers) is locked after what they do not
  // share, and in one order. Payment by payment, two batches may deadlock.
  for (const discountId of settled.unused.toSorted()) await releaseDiscount(sql, discountId);
  if (settled.paid.length > 0) await pay(sql, settled.paid, log);
  await issueInvoices(sql, settled.issuances);
  // Some may be of the invoices that were just issued.
  if (returns.length > 0) {
    for (const invoice of await recordInvoiceReturns(sql, returns)) {
      log.error({ invoice }, 'money came back of what an invoice was not paid by');
    }
  }
  if (sendsMail) await oweMails(sql, followups, ids);
}

async function pay(sql: Transaction, paid: readonly InvoicePayment[], log: Log): Promise<void> {
  for (const [index, isPaid] of (await payInvoices(sql, paid)).entries()) {
    // The money was captured and can be refunded. This is a bug if it happens; the audit reports
    // it.
    if (!isPaid) log.error({ invoice: paid[index]?.invoiceId }, 'money for a closed invoice');
  }
}

/** What is still to be done for payments that are settled, together for all of a batch. */
type Settled = {
  /** Invoices that were charged. */
  readonly paid: InvoicePayment[];
  /** Invoices of checkouts and of top-ups. */
  readonly issuances: Issuance[];
  /** Discounts that were redeemed in vain. */
  readonly unused: string[];
};

/** Marks the checkout paid, or open again. */
async function settle(
  sql: Transaction,
  { organisationId, mode, paymentId, checkoutId, meterId, paidAt, ...charged }: Followup,
  { now, ids, settled }: { now: number; ids: Ids; settled: Settled },
): Promise<void> {
  const scope = { organisationId, mode };
  if (meterId !== null) {
    if (paidAt === null) return;
    const payment = must(await findPayment(sql, scope, paymentId), 'a payment that settled');
    const issuance = await topUpInvoice(sql, scope, { payment, now, eventId: ids.next() });
    settled.issuances.push(issuance);
    return;
  }
  if (checkoutId === null) {
    if (paidAt === null) return;
    const invoiceId = must(charged.invoiceId, 'the invoice that was charged');
    settled.paid.push({ invoiceId, paymentId, paidAt });
    return;
  }
  const status = paidAt === null ? 'active' : 'paid';
  const at = paidAt?.getTime() ?? now;
  const finished = await finishAttempt(sql, { id: checkoutId, paymentId, status, now: at });
  const checkout = must(
    await findCheckout(sql, scope, { id: checkoutId, now }),
    'a checkout that was attempted',
  );
  if (paidAt !== null) {
    const payment = must(await findPayment(sql, scope, paymentId), 'a payment that settled');
    const attempt = { payment, checkout, now, eventId: ids.next() };
    settled.issuances.push(await checkoutInvoice(sql, scope, attempt));
  } else if (typeof finished?.holds === 'string') {
    settled.unused.push(finished.holds);
  }
}
