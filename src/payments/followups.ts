// What a payment's commit still owes others: the checkout is paid or open again, the discount is given back, the invoice is written.
//
// How: the commit that made it true wrote a row for each; one transaction deletes the rows and does what they say, so each is done
// once. Whoever settled a charge waits for it; refunds are done soon, those of many payments together; what a crash left behind is swept up.
import { must, unreachable } from '../../ledger/assert.ts';
import type { Ids, Log, OrgClock, Timers } from '../../ledger/ports.ts';
import type { Sql, Transaction } from '../platform/postgres.ts';
import { findCheckout, finishAttempt } from '../records/checkouts.ts';
import { releaseDiscount } from '../records/discounts.ts';
import { type Followup, listPaymentsOwing, takeFollowups } from '../records/followups.ts';
import { type InvoiceRefund, recordInvoiceRefunds } from '../records/invoice-changes.ts';
import { findPayment } from '../records/payments.ts';
import { invoicePayment } from './invoicing.ts';

const SWEEP_MS = 2000;
/** Younger ones are being done by whoever brought them about. */
const LEFT_BEHIND_MS = 1500;
const SWEPT_AT_ONCE = 200;
const DONE_TOGETHER_MAX = 100;

export type FollowupsDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly log: Log;
};

export class Followups {
  readonly #deps: FollowupsDeps;
  readonly #waiting = new Set<string>();
  #working: Promise<void> | null = null;
  #stopSweeping: () => void = () => undefined;
  #closed = false;

  constructor(deps: FollowupsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stopSweeping = this.#deps.timers.after(SWEEP_MS, () => {
      this.#sweep()
        .catch((error: unknown) => this.#warn(error))
        .finally(() => this.#closed || this.start());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopSweeping();
    await this.#working;
  }

  /** Does what is owed for this payment, before it resolves. */
  now(paymentId: string): Promise<void> {
    return this.#do([paymentId]);
  }

  /** Does it when what is being done is done, together with what came meanwhile. */
  soon(paymentId: string): void {
    this.#waiting.add(paymentId);
    this.#working ??= this.#work().finally(() => (this.#working = null));
  }

  async #work(): Promise<void> {
    while (this.#waiting.size > 0) {
      const together = [...this.#waiting.values().take(DONE_TOGETHER_MAX)];
      for (const paymentId of together) this.#waiting.delete(paymentId);
      await this.#do(together);
    }
  }

  /** A failure is left to the sweep, which takes each payment by itself. The payments are as they are. */
  async #do(paymentIds: readonly string[]): Promise<void> {
    const { sql } = this.#deps;
    try {
      await sql.begin(async (transaction) => {
        const owed = await takeFollowups(transaction, paymentIds);
        await carryOut(transaction, owed, this.#deps);
      });
    } catch (error) {
      this.#warn(error);
    }
  }

  async #sweep(): Promise<void> {
    const { sql } = this.#deps;
    const left = { olderThanMs: LEFT_BEHIND_MS, atMost: SWEPT_AT_ONCE };
    for (const id of await listPaymentsOwing(sql, left)) {
      await this.now(id);
    }
  }

  #warn(error: unknown): void {
    if (!this.#closed) this.#deps.log.warn({ err: error }, 'a follow-up is left for later');
  }
}

async function carryOut(
  sql: Transaction,
  followups: readonly Followup[],
  { orgClock, ids }: FollowupsDeps,
): Promise<void> {
  const refunds: InvoiceRefund[] = [];
  for (const followup of followups) {
    switch (followup.kind) {
      case 'payment_settled':
        await settleCheckout(sql, followup, { now: orgClock.now(followup), ids });
        break;
      case 'refund_settled':
        refunds.push({
          invoiceId: must(followup.invoiceId, 'the invoice of a captured payment'),
          refundId: must(followup.data.refundId, 'a refund'),
          amountDelta: BigInt(must(followup.data.delta, 'an amount')),
          eventId: ids.next(),
          at: orgClock.now(followup),
        });
        break;
      default:
        unreachable(followup.kind);
    }
  }
  if (refunds.length > 0) await recordInvoiceRefunds(sql, refunds);
}

async function settleCheckout(
  sql: Transaction,
  { organisationId, mode, paymentId }: Followup,
  { now, ids }: { now: number; ids: Ids },
): Promise<void> {
  const scope = { organisationId, mode };
  const payment = must(await findPayment(sql, scope, paymentId), 'a payment that settled');
  const id = must(payment.checkoutId, 'the checkout of a purchase');
  const isPaid = payment.paidAt !== null;
  const status = isPaid ? 'paid' : 'active';
  const at = payment.paidAt?.getTime() ?? now;
  const finished = await finishAttempt(sql, { id, paymentId: payment.id, status, now: at });
  const checkout = must(
    await findCheckout(sql, scope, { id, now }),
    'a checkout that was attempted',
  );
  if (isPaid) {
    await invoicePayment(sql, scope, { payment, checkout, now, eventId: ids.next() });
  } else if (finished && checkout.discountId !== null) {
    await releaseDiscount(sql, checkout.discountId);
  }
}
