import { assert } from '../kernel/assert.ts';
import type { LedgerEvent, LedgerEventType } from '../event.ts';
import { formatMoney } from '../kernel/money.ts';
import {
  type Dispute,
  type Followup,
  type PaymentAccount,
  type PaymentEffects,
  type PaymentState,
  type Refund,
  isBilled,
  refundable,
} from './payment.ts';
import type { Ids } from '../ports.ts';
import type { Transfer } from '../kernel/transfers.ts';

/** What a decision on a payment may know besides its state. */
export type PaymentContext = {
  readonly now: number;
  readonly ids: Ids;
  /** The other side of this currency's transfers on the deciding node. */
  readonly clearing: string;
};

/**
 * The state of a payment while a decision changes it, and what that writes. Lives inside one
 * decision.
 */
export class PaymentDraft {
  readonly context: PaymentContext;
  readonly before: PaymentState;
  state: PaymentState;
  readonly #transfers: Transfer[] = [];
  readonly #refunds = new Map<string, Refund>();
  readonly #disputes = new Map<string, Dispute>();
  readonly #events: LedgerEvent[] = [];
  readonly #followups: Followup[] = [];

  constructor(context: PaymentContext, state: PaymentState) {
    this.context = context;
    this.before = state;
    this.state = state;
  }

  change(fields: Partial<PaymentState>): void {
    this.state = { ...this.state, ...fields };
  }

  /** Writes a transfer between the payment's account, on `side`, and clearing. */
  move(
    side: 'debit' | 'credit',
    transfer: Pick<Transfer, 'id' | 'kind' | 'amount' | 'hold'> &
      Partial<Pick<Transfer, 'refund' | 'dispute'>>,
  ): void {
    const { payment } = this.state;
    const { clearing, now } = this.context;
    assert(transfer.amount <= payment.amount, 'no more moves than was charged');
    this.#transfers.push({
      refund: null,
      ...transfer,
      slot: payment.slot,
      debit: side === 'debit' ? payment.id : clearing,
      credit: side === 'debit' ? clearing : payment.id,
      at: now,
      usage: null,
    });
  }

  /** Replaces the totals of the account. */
  account(change: Partial<PaymentAccount>): void {
    const account = { ...this.state.account, ...change, opened: true };
    const { opened: _opened, ...totals } = account;
    const isSound = Object.values(totals).every((total) => total >= 0n);
    assert(isSound, 'I4: totals are never negative');
    assert(refundable(account) >= 0n, 'I4: no more is given back than was captured');
    this.change({ account });
  }

  /** A refund stays in memory while it may still change. */
  putRefund(refund: Refund): void {
    this.#refunds.set(refund.id, refund);
    const refunds = new Map(this.state.refunds);
    if (refund.askAt === null) refunds.delete(refund.id);
    else refunds.set(refund.id, refund);
    this.change({ refunds });
  }

  /** Every dispute stays in memory. */
  putDispute(dispute: Dispute): void {
    this.#disputes.set(dispute.id, dispute);
    this.change({ disputes: new Map(this.state.disputes).set(dispute.id, dispute) });
  }

  follow(kind: Followup['kind'], cause: string, data: Followup['data']): void {
    const { ids } = this.context;
    const { id: paymentId } = this.state.payment;
    this.#followups.push({ id: ids.derive(kind, cause), kind, paymentId, data });
  }

  /** Writes an event of the payment; `data` adds to what all payment events carry. */
  announce(type: LedgerEventType, amount: bigint, data: Record<string, unknown>): void {
    const { now, ids } = this.context;
    const { payment, customerId, invoiceId } = this.state;
    const timestamp = Math.max(now, this.state.eventAt + 1);
    const sequence = this.state.sequence + 1n;
    this.#events.push({
      id: ids.next(),
      type,
      objectType: 'PAYMENT',
      objectId: payment.id,
      accountId: customerId,
      timestamp,
      sequence,
      data: {
        paymentId: payment.id,
        subscriptionId: payment.subscriptionId,
        invoiceId,
        amount: formatMoney(amount, payment.currency),
        currency: payment.currency,
        transactionType: payment.transactionType,
        ...payment.roundTrip,
        ...data,
      },
    });
    this.change({ sequence, eventAt: timestamp });
  }

  /**
   * The subscription hears of what went back, or may, of its invoice: also before that is decided.
   */
  #followReturns(): void {
    const [first] = this.#transfers;
    if (first === undefined || !isBilled(this.state)) return;
    if (backOf(this.before.account) === backOf(this.state.account)) return;
    this.follow('usage_given_back', first.id, {});
  }

  effects(): PaymentEffects {
    this.#followReturns();
    return {
      kind: 'payment',
      at: this.context.now,
      before: this.before,
      state: this.state,
      transfers: this.#transfers,
      refunds: [...this.#refunds.values()],
      disputes: [...this.#disputes.values()],
      events: this.#events,
      followups: this.#followups,
    };
  }
}

const backOf = (account: PaymentAccount): bigint => account.captured - refundable(account);

/** Asked so often in vain, in about two minutes, the processor is away. */
const AWAY_ASKS = 16;

/**
 * The delay doubles from half a second to eight, and after two minutes of silence to a minute. No
 * answer is never taken for a no: the processor is asked until it answers. Before that it is at
 * most eight seconds, so that ten seconds after a restart a payment is decided
 * (docs/spec/payments.md#payments).
 */
export function backoff(asks: number): number {
  const away = Math.min(Math.max(asks - AWAY_ASKS, 0), 3);
  return 500 * 2 ** (Math.min(asks, 4) + away);
}
