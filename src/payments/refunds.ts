// Refunds.
//
//     reserve (durable) ─▶ processor ─▶ post or void, with the answer (durable) ─▶ reply
//
// Holds: the refund ceiling is the payment's account; nothing is computed here. The processor is
// asked only when the reserve is on disk, with the refund's id as key, so asking again is the same
// refund. If no answer comes, the reserve stays and an alarm asks again. An idempotency key is one
// refund for ever: the id of the hold is derived from it and is unique.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { parseMoney } from '../../ledger/kernel/money.ts';
import type { PaymentState, Refund } from '../../ledger/payments/payment.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { RefundDecision, RefundRequest } from '../../ledger/payments/refund.ts';
import type { StoredRefund } from '../../ledger/storage.ts';
import type { RateLimit, Taken } from '../platform/redis/rate-limit.ts';
import type { Processors, RefundResult } from '../processors/processor.ts';
import type { RefundRecord } from '../records/payments.ts';
import { isUuid } from '../records/uuid.ts';
import type { Followups } from './followups.ts';
import type { RefundCall, RefundReply } from './payments.ts';

export type RefundsDeps = {
  readonly ids: Ids;
  readonly ledger: Ledger;
  readonly followups: Followups;
  readonly processors: Processors;
  readonly limits: { readonly perOrganisation: RateLimit; readonly perPayment: RateLimit };
};

export class Refunds {
  readonly #deps: RefundsDeps;
  /** Refunds with a question under way, and keys being executed. */
  readonly #busy = new Set<string>();

  constructor(deps: RefundsDeps) {
    this.#deps = deps;
  }

  async refund(scope: Tenant, call: RefundCall): Promise<RefundReply> {
    const { ids } = this.#deps;
    const { idempotencyKey: key } = call;
    if (key === null) return this.#execute(scope, call, { id: ids.next(), isAlone: true });
    const id = ids.derive('refund', scope.organisationId, scope.mode, key);
    const busy = `key ${id}`;
    const isAlone = !this.#busy.has(busy);
    if (isAlone) this.#busy.add(busy);
    try {
      return await this.#execute(scope, call, { id, isAlone });
    } finally {
      if (isAlone) this.#busy.delete(busy);
    }
  }

  /**
   * All that is left of a payment that nobody wanted, once: again changes nothing. Where nothing is
   * left, or the buyer's bank has it, there is nothing to give back.
   */
  async giveBack(scope: Tenant, paymentId: string): Promise<void> {
    const { ledger, ids } = this.#deps;
    const state = must(await ledger.payments.find(scope, paymentId), 'a payment that was captured');
    const id = ids.derive('refund', 'given back', paymentId);
    const reason = 'requested_by_customer';
    const request = { id, amount: null, reason, fingerprint: null } as const;
    const decision = await this.#reserve(paymentId, request);
    if (decision === 'duplicate' || decision.kind === 'refused') return;
    if (decision.refund.status === 'pending') await this.#ask(state, decision.refund, 'first');
  }

  /** Asks again about each refund of the payment that is due. */
  async again(state: PaymentState, now: number): Promise<void> {
    const open = [...state.refunds.values()].filter(({ askAt }) => askAt !== null && askAt <= now);
    await Promise.all(open.map((refund) => this.#ask(state, refund, 'again')));
  }

  /** Asks about a refund that may still change, due or not. */
  async look(state: PaymentState, refundId: string): Promise<void> {
    const refund = state.refunds.get(refundId);
    if (refund !== undefined && refund.askAt !== null) await this.#ask(state, refund, 'again');
  }

  /**
   * `isAlone`: no other call with its key is being executed. Beside one, what was answered is told.
   */
  async #execute(
    scope: Tenant,
    call: RefundCall,
    { id, isAlone }: { readonly id: string; readonly isAlone: boolean },
  ): Promise<RefundReply> {
    const { ledger, ids } = this.#deps;
    if (!isUuid(call.paymentId)) return { kind: 'not_found' };
    const state = await ledger.payments.find(scope, call.paymentId);
    if (state === null) return { kind: 'not_found' };
    const { currency } = state.payment;
    const amount = call.amount === null ? null : parseMoney(call.amount, currency);
    if (typeof amount === 'string' || amount === 0n) return { kind: 'invalid_amount', currency };
    const isKeyed = call.idempotencyKey !== null;
    const meaning = `${call.paymentId} ${amount ?? 'rest'} ${call.reason}`;
    const fingerprint = isKeyed ? ids.fingerprint(meaning) : null;
    const stored = isKeyed ? await ledger.payments.findRefund(id) : null;
    if (stored !== null) return replay(stored, fingerprint);
    if (!isAlone) return { kind: 'in_progress' };
    const taken = await this.#take(scope, call.paymentId);
    if (!taken.allowed) return { kind: 'rate_limited', taken };
    const request = { id, amount, reason: call.reason, fingerprint };
    const decision = await this.#reserve(call.paymentId, request);
    if (decision === 'duplicate') return this.#firstReply(id, fingerprint);
    if (decision.kind === 'refused') {
      return { kind: 'refused', refusal: decision.refusal, replayed: false };
    }
    const settled = await this.#ask(state, decision.refund, 'first');
    // The owner has asked and settled it meanwhile.
    if (settled === null && isKeyed) return this.#firstReply(id, fingerprint);
    const refund = recordOf(state, settled ?? decision.refund);
    return { kind: 'refund', refund, replayed: false };
  }

  /**
   * Without a key the id is random. If it exists, an earlier call of ours succeeded, and its answer
   * was lost with another node.
   */
  async #reserve(paymentId: string, request: RefundRequest): Promise<RefundDecision | 'duplicate'> {
    const { payments } = this.#deps.ledger;
    const decision = await payments.refund(paymentId, request);
    if (decision !== 'duplicate' || request.fingerprint !== null) return decision;
    const stored = await payments.findRefund(request.id);
    return stored?.kind === 'refund' ? { kind: 'reserved', refund: stored.refund } : decision;
  }

  /** The answer for each call with this key, once it is stored. */
  async #firstReply(id: string, fingerprint: bigint | null): Promise<RefundReply> {
    const stored = await this.#deps.ledger.payments.findRefund(id);
    return stored === null ? { kind: 'in_progress' } : replay(stored, fingerprint);
  }

  async #take({ organisationId, mode }: Tenant, paymentId: string): Promise<Taken> {
    const { perOrganisation, perPayment } = this.#deps.limits;
    const taken = await perPayment.take(paymentId);
    return taken.allowed ? perOrganisation.take(`${organisationId} ${mode}`) : taken;
  }

  /** The refund after the question; null if another one is under way, or it was settled before. */
  async #ask(
    { payment }: PaymentState,
    refund: Refund,
    time: 'first' | 'again',
  ): Promise<Refund | null> {
    const { ledger, followups, processors } = this.#deps;
    const processor = processors.named(payment, payment.processor);
    if (processor === null || this.#busy.has(refund.id)) return null;
    this.#busy.add(refund.id);
    try {
      const { id: key, amount } = refund;
      // Its subscription hears of what is under way, too.
      if (time === 'first' && payment.subscriptionId !== null) followups.soon(payment);
      const send = (): Promise<RefundResult> =>
        processor.refund({ key, chargeKey: payment.id, amount, currency: payment.currency });
      let outcome = time === 'first' ? await send() : await processor.findRefund(key);
      // It did not arrive. The key makes it safe to send again.
      if (time === 'again' && outcome.kind === 'not_attempted') outcome = await send();
      const answer = { refundId: key, outcome };
      const settled = await ledger.payments.settleRefund(payment.id, answer);
      if (settled !== null && settled.status !== refund.status) followups.soon(payment);
      return settled;
    } finally {
      this.#busy.delete(refund.id);
    }
  }
}

/** The answer to the first call with this key. */
function replay(stored: StoredRefund, fingerprint: bigint | null): RefundReply {
  if (stored.fingerprint !== fingerprint) return { kind: 'key_reused' };
  if (stored.kind === 'refused') {
    return { kind: 'refused', refusal: stored.refusal, replayed: true };
  }
  const { refund, payment } = stored;
  if (refund.answered === null) return { kind: 'in_progress' };
  const first = recordOf({ payment }, { ...refund, ...refund.answered });
  return { kind: 'refund', refund: first, replayed: true };
}

function recordOf(
  { payment }: { payment: Pick<PaymentState['payment'], 'id' | 'currency'> },
  refund: Refund,
): RefundRecord {
  const { id, amount, status, reason, failureReason, createdAt, settledAt } = refund;
  return {
    id,
    paymentId: payment.id,
    amount,
    currency: payment.currency,
    status,
    reason,
    failureReason,
    createdAt: new Date(createdAt),
    settledAt: settledAt === null ? null : new Date(settledAt),
  };
}
