// What a payment's commit still owes others: the checkout is paid or open again, the discount is given back, the invoice is written.
//
// How: the commit that made it true wrote a row for each; one transaction deletes the rows and does what they say, so each is done
// once. Whoever settled a charge waits for it; refunds are done soon, many together; what a crash left behind is swept up.
import { must, unreachable } from '../../ledger/assert.ts';
import type { Ids, Log, Timers } from '../../ledger/ports.ts';
import type { Sql, Transaction } from '../platform/postgres.ts';
import { findCheckout, finishAttempt } from '../records/checkouts.ts';
import { releaseDiscount } from '../records/discounts.ts';
import { type Followup, listPaymentsOwing, takeFollowups } from '../records/followups.ts';
import { recordInvoiceRefund } from '../records/invoices.ts';
import { findPayment, type PaymentRecord } from '../records/payments.ts';
import type { Scope } from '../records/scope.ts';
import { invoicePayment } from './invoicing.ts';

const SWEEP_MS = 2000;
/** Younger ones are being done by whoever brought them about. */
const LEFT_BEHIND_MS = 1500;
const SWEPT_AT_ONCE = 200;

export type FollowupsDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly clock: { now(): number };
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

  /** Does what is owed for this payment, before it resolves. A failure is left to the sweep: the payment itself is as it is. */
  async now(paymentId: string): Promise<void> {
    const { sql, clock, ids } = this.#deps;
    try {
      await sql.begin(async (transaction) => {
        for (const followup of await takeFollowups(transaction, paymentId)) {
          await carryOut(transaction, followup, { now: clock.now(), ids });
        }
      });
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Does it when what is being done is done. */
  soon(paymentId: string): void {
    this.#waiting.add(paymentId);
    this.#working ??= this.#work().finally(() => (this.#working = null));
  }

  async #work(): Promise<void> {
    for (const paymentId of this.#waiting) {
      this.#waiting.delete(paymentId);
      await this.now(paymentId);
    }
  }

  async #sweep(): Promise<void> {
    const { sql, clock } = this.#deps;
    const before = clock.now() - LEFT_BEHIND_MS;
    for (const id of await listPaymentsOwing(sql, { before, atMost: SWEPT_AT_ONCE })) {
      await this.now(id);
    }
  }

  #warn(error: unknown): void {
    if (!this.#closed) this.#deps.log.warn({ err: error }, 'a follow-up is left for later');
  }
}

async function carryOut(
  sql: Transaction,
  followup: Followup,
  { now, ids }: { now: number; ids: Ids },
): Promise<void> {
  const scope = { organisationId: followup.organisationId, mode: followup.mode };
  const payment = must(await findPayment(sql, scope, followup.paymentId), 'a payment that settled');
  switch (followup.kind) {
    case 'payment_settled':
      return settleCheckout(sql, scope, { payment, now, ids });
    case 'refund_settled': {
      const { refundId, delta } = followup.data;
      await recordInvoiceRefund(sql, {
        invoiceId: must(payment.invoiceId, 'the invoice of a captured payment'),
        refundId: must(refundId, 'a refund'),
        amountDelta: BigInt(must(delta, 'an amount')),
        eventId: ids.next(),
        now,
      });
      return;
    }
    default:
      unreachable(followup.kind);
  }
}

async function settleCheckout(
  sql: Transaction,
  scope: Scope,
  { payment, now, ids }: { payment: PaymentRecord; now: number; ids: Ids },
): Promise<void> {
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
