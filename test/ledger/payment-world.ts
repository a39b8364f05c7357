// One payment without a database: decisions are applied at once, and their transfers are folded as
// the store would fold them.
import { RowBuilder } from '../../ledger/actor/rows.ts';
import { type ChargeAnswer, decideCharge } from '../../ledger/payments/charge.ts';
import {
  decideDisputes,
  type DisputeNews,
  type DisputesAnswer,
  type DisputesOutcome,
} from '../../ledger/payments/dispute.ts';
import type { LedgerEvent } from '../../ledger/event.ts';
import type {
  Dispute,
  Followup,
  PaymentEffects,
  PaymentState,
  Refund,
} from '../../ledger/payments/payment.ts';
import {
  type RefundDecision,
  type RefundOutcome,
  decideRefund,
  decideRefundOutcome,
} from '../../ledger/payments/refund.ts';
import type { Ids } from '../../ledger/ports.ts';
import {
  NO_TOTALS,
  type Totals,
  type Transfer,
  applyTransfer,
} from '../../ledger/kernel/transfers.ts';

export const T0 = Date.UTC(2026, 0, 31, 12);
const CLEARING = 'clearing';

export const METHOD = { type: 'card', brand: 'visa', last4: '4242' } as const;
export const SUCCEEDED: Extract<ChargeAnswer, { kind: 'succeeded' }> = {
  kind: 'succeeded',
  reference: 'ch_1',
  method: METHOD,
  customerId: 'customer',
};

export class PaymentWorld {
  now = T0;
  state: PaymentState;
  readonly transfers: Transfer[] = [];
  readonly events: LedgerEvent[] = [];
  readonly followups: Followup[] = [];
  /** As last written. */
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Dispute>();
  readonly #rows = new RowBuilder();
  readonly #totals = new Map<string, Totals>();
  #ids = 0;

  constructor({
    amount = 10_000n,
    currency = 'USD',
    subscriptionId = null,
    isOffSession = false,
  }: {
    readonly amount?: bigint;
    readonly currency?: string;
    readonly subscriptionId?: string | null;
    readonly isOffSession?: boolean;
  } = {}) {
    this.state = {
      payment: {
        id: 'payment',
        slot: 3,
        organisationId: 'organisation',
        mode: 'test',
        amount,
        currency,
        transactionType: 'PURCHASE',
        subscriptionId,
        meterId: null,
        customerName: 'Ada',
        isOffSession,
        attempt: 2,
        processor: 'sandbox',
        createdAt: T0,
        roundTrip: {
          paymentLinkId: 'checkout',
          paymentLinkToken: 'token',
          productId: 'product',
          customerEmail: 'ada@example.com',
          externalCustomerId: 'u_1',
          clientReferenceId: 'order 7',
          metadata: { a: 'b' },
        },
      },
      status: 'processing',
      account: {
        opened: false,
        captured: 0n,
        refunded: 0n,
        reserved: 0n,
        held: 0n,
        chargedBack: 0n,
      },
      customerId: null,
      invoiceId: null,
      method: null,
      reference: null,
      failure: null,
      paidAt: null,
      asks: 0,
      askAt: T0 + 3000,
      refunds: new Map(),
      disputes: new Map(),
      sequence: 0n,
      eventAt: 0,
    };
  }

  readonly ids: Ids = {
    next: () => `id-${(this.#ids += 1)}`,
    derive: (...parts) => parts.join('/'),
    fingerprint: (text) => BigInt(text.length),
  };

  get context() {
    return { now: this.now, ids: this.ids, clearing: CLEARING };
  }

  /** The store's view of the payment's account. */
  get totals(): Totals {
    return this.#totals.get('payment') ?? NO_TOTALS;
  }

  get clearing(): Totals {
    return this.#totals.get(CLEARING) ?? NO_TOTALS;
  }

  charge(answer: ChargeAnswer): PaymentEffects | null {
    const effects = decideCharge(this.context, this.state, answer);
    if (effects !== null) this.#apply(effects);
    return effects;
  }

  refund(
    amount: bigint | null,
    key: { id: string; fingerprint: bigint | null } = { id: this.ids.next(), fingerprint: null },
  ): RefundDecision {
    const request = { ...key, amount, reason: 'requested_by_customer' } as const;
    const { decision, effects } = decideRefund(this.context, this.state, request);
    if (effects !== null) this.#apply(effects);
    return decision;
  }

  settle(refundId: string, outcome: RefundOutcome): Refund | null {
    const decided = decideRefundOutcome(this.context, this.state, { refundId, outcome });
    if (decided !== null) this.#apply(decided.effects);
    return decided?.refund ?? null;
  }

  /** The processor's answer to what is disputed. */
  answer(answer: DisputesAnswer): DisputesOutcome {
    const { outcome, effects } = decideDisputes(this.context, this.state, answer);
    if (effects !== null) this.#apply(effects);
    return outcome;
  }

  /** One dispute is so now. */
  dispute(news: Partial<DisputeNews> = {}): DisputesOutcome {
    const { currency, amount } = this.state.payment;
    const usual = { reference: 'dp_1', amount, currency, reason: 'fraudulent', at: T0 } as const;
    return this.answer({ kind: 'found', disputes: [{ ...usual, status: 'opened', ...news }] });
  }

  #apply(effects: PaymentEffects): void {
    // The builder asserts that the actor's totals are the fold of the transfers.
    const rows = this.#rows.build([effects]);
    this.#rows.committed(rows);
    for (const transfer of rows.transfers) {
      for (const side of ['debit', 'credit'] as const) {
        const id = transfer[side];
        const totals = this.#totals.get(id) ?? NO_TOTALS;
        this.#totals.set(id, applyTransfer(totals, transfer, side));
      }
    }
    this.transfers.push(...rows.transfers);
    this.events.push(...effects.events);
    this.followups.push(...effects.followups);
    for (const refund of effects.refunds) this.refunds.set(refund.id, refund);
    for (const dispute of effects.disputes) this.disputes.set(dispute.id, dispute);
    this.state = effects.state;
  }
}
