// Asks the processor about charges and applies its answers.
//
//     ask ─▶ answer ─▶ payment's actor (ledger) ─▶ follow-ups (followups.ts)
//
// Holds: one question about a payment is under way at a time in this process. The payment's actor
// applies an answer once; what follows from it is a row of the same commit.
// Does not: decide what an answer means for the payment: ledger/payments does.
import { type ChargeAnswer, isActionOverdue } from '../../ledger/payments/charge.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { Batcher } from '../../ledger/kernel/batcher.ts';
import { type Payment, type PaymentState, isCharged } from '../../ledger/payments/payment.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Ids, OrgClock, Timers } from '../../ledger/ports.ts';
import type { Changes } from '../platform/postgres/changes.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import type { ChargeResult, Processor, Processors } from '../processors/processor.ts';
import {
  findPaymentMethods,
  type NewPaymentMethod,
  type Payer,
  type PaymentMethodRecord,
  putPaymentMethod,
} from '../records/payment-methods.ts';
import { oweMethodStored } from '../records/topup-followups.ts';
import { customerOf } from './customer.ts';
import type { Followups } from './followups.ts';
import { giveBack, takeAgain } from './redemption.ts';

/** How many times an off-session charge is lost at least before it is given up. */
const LOST_MIN = 3;

/** Charges that may look their payment methods up at the same time, and in one statement. */
const LOOKING_MAX = 4096;
const LOOKED_UP_TOGETHER_MAX = 200;
const QUERIES_MAX = 2;

export type ChargesDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly changes: Changes;
  readonly ledger: Ledger;
  readonly followups: Followups;
  readonly processors: Processors;
};

/** An answer for the ledger. Two kinds need no processor. */
type Result =
  | ChargeResult
  /** Nothing is due. */
  | { readonly kind: 'free' }
  /**
   * The buyer did not return in time, or did not want to go on, and the processor gave the charge
   * up.
   */
  | { readonly kind: 'abandoned' | 'given_up' };

export class Charges {
  readonly #deps: ChargesDeps;
  readonly #asking = new Map<string, Promise<Result | null>>();
  readonly #methods: Batcher<Tenant & Payer & { readonly paymentId: string }, PaymentMethodRecord>;

  constructor(deps: ChargesDeps) {
    this.#deps = deps;
    this.#methods = new Batcher({
      timers: deps.timers,
      // One question of each charge: an answer to an earlier one may be of before a change.
      nameOf: ({ paymentId }) => paymentId,
      async load(asked) {
        const found = await findPaymentMethods(deps.sql, asked);
        return asked.flatMap(({ paymentId }, index) => {
          const method = found[index] ?? null;
          return method === null ? [] : [[paymentId, method] as const];
        });
      },
      keysMax: LOOKED_UP_TOGETHER_MAX,
      concurrentMax: QUERIES_MAX,
      waitingMax: LOOKING_MAX,
    });
  }

  /**
   * Asks, and applies the answer. null if another question is under way, or there was no answer.
   */
  async asking(paymentId: string, ask: () => Promise<Result | null>): Promise<Result | null> {
    if (this.#asking.has(paymentId)) return null;
    const asking = this.#ask(paymentId, ask);
    this.#asking.set(paymentId, asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(paymentId);
    }
  }

  /** Waits while a question is under way. Whoever asks it gets its error. */
  async asked(paymentId: string): Promise<void> {
    await this.#asking.get(paymentId)?.catch(() => null);
  }

  async #ask(paymentId: string, ask: () => Promise<Result | null>): Promise<Result | null> {
    const result = await ask();
    if (result !== null) await this.#take(paymentId, result);
    return result;
  }

  /**
   * Asks again about a charge that is not decided. Returns the address that the buyer must visit,
   * if any. `isDue`: an alarm asks, because the first question has no answer.
   */
  async again(state: PaymentState, { isDue }: { readonly isDue: boolean }): Promise<string | null> {
    const { payment } = state;
    const { id } = payment;
    const { processors, orgClock } = this.#deps;
    const processor = processors.named(payment, payment.processor);
    if (isCharged(state) || processor === null) return null;
    const { actionMs } = processor;
    const isLate = isActionOverdue(state, { now: orgClock.now(payment), actionMs });
    let actionUrl: string | null = null;
    await this.asking(id, async () => {
      const found = await processor.findCharge(id);
      // Also late: it was away, or we were, when the buyer had agreed.
      if (isAgreed(found, payment)) return this.#confirm(state, processor);
      if (isLate && isWaiting(found)) return end(processor, { id, as: 'abandoned' });
      if (found.kind === 'requires_action') {
        actionUrl = found.url;
        return isDue ? found : null;
      }
      if (found.kind !== 'not_attempted') return found;
      // While the buyer waits, the call may still be on its way, from this node or another: that
      // decides nothing. When the alarm is due the call was lost, and canceling keeps it from
      // charging later.
      if (!isDue) return null;
      return payment.isOffSession
        ? this.#retryCharge(state, processor)
        : processor.cancelCharge(id);
    });
    return actionUrl;
  }

  /**
   * The buyer does not want to go on: cancels a charge that waits for the buyer. One that the buyer
   * has agreed to is made. Where the processor does not answer, nothing changes.
   */
  async giveUp(paymentId: string): Promise<void> {
    while (this.#asking.has(paymentId)) await this.asked(paymentId);
    await this.asking(paymentId, async () => {
      const state = await this.#deps.ledger.payments.load(paymentId);
      const { payment } = state;
      const processor = this.#deps.processors.named(payment, payment.processor);
      if (state.status !== 'requires_action' || processor === null) return null;
      const found = await processor.findCharge(paymentId);
      if (isAgreed(found, payment)) return this.#confirm(state, processor);
      return isWaiting(found) ? end(processor, { id: paymentId, as: 'given_up' }) : found;
    });
  }

  /**
   * Nobody wants a charge without its buyer any more: it is canceled if the processor lets go of
   * it. Where it does not, or a question about it is under way, what becomes of it is known later.
   */
  async release(paymentId: string): Promise<void> {
    const state = await this.#deps.ledger.payments.load(paymentId);
    const processor = this.#deps.processors.named(state.payment, state.payment.processor);
    if (isCharged(state) || processor === null) return;
    await this.asking(paymentId, () => end(processor, { id: paymentId, as: 'given_up' }));
  }

  /** The buyer has agreed to a price: charge it, unless its discount is used up. */
  async #confirm({ payment }: PaymentState, processor: Processor): Promise<Result> {
    const { sql, orgClock } = this.#deps;
    const { id: paymentId, amount, roundTrip } = payment;
    const attempt = { checkoutId: must(roundTrip.paymentLinkId, 'a checkout'), paymentId };
    const now = orgClock.now(payment);
    const mayCharge = await sql.begin((transaction) => takeAgain(transaction, attempt, now));
    if (mayCharge) return processor.confirmCharge(paymentId);
    const canceled = await processor.cancelCharge(paymentId);
    const isNothing = amount === 0n && canceled.kind === 'succeeded';
    return canceled.kind === 'not_attempted' || isNothing ? DISCOUNT_GONE : canceled;
  }

  /** Charges the saved payment method, and applies the answer. */
  async collect(paymentId: string): Promise<void> {
    await this.asking(paymentId, async () => {
      const state = await this.#deps.ledger.payments.load(paymentId);
      const { payment } = state;
      const processor = this.#deps.processors.named(payment, payment.processor);
      return isCharged(state) || processor === null ? null : this.#chargeSaved(state, processor);
    });
  }

  /**
   * An off-session charge that never arrived is sent again under the same key: a processor that is
   * away for an hour charges when it is back. If it is lost for too long it is canceled, and
   * dunning retries another day.
   */
  async #retryCharge(state: PaymentState, processor: Processor): Promise<Result> {
    const result = await this.#chargeSaved(state, processor);
    const { payment, asks } = state;
    const isLate = this.#deps.orgClock.now(payment) >= payment.createdAt + processor.retryLostMs;
    const isHopeless = result.kind === 'unknown' && asks >= LOST_MIN && isLate;
    return isHopeless ? processor.cancelCharge(payment.id) : result;
  }

  async #chargeSaved(state: PaymentState, processor: Processor): Promise<Result> {
    const { payment } = state;
    const customerId = must(state.customerId, 'whose payment it is');
    const { id: key, amount, currency, organisationId, mode, subscriptionId } = payment;
    const payer = { organisationId, mode, customerId, subscriptionId, processor: processor.name };
    const method = await this.#methods.get({ ...payer, paymentId: key }, organisationId);
    if (method === null) return NOTHING_LEFT;
    return processor.chargeSaved({ key, saved: method.saved, amount, currency });
  }

  async #take(paymentId: string, result: Result): Promise<void> {
    const { ledger, followups } = this.#deps;
    if (result.kind === 'requires_action') await this.#giveBack(paymentId);
    const answer = await this.#answerOf(paymentId, result);
    const state = await ledger.payments.charge(paymentId, answer);
    if (isCharged(state)) await followups.now(state.payment);
  }

  async #giveBack(paymentId: string): Promise<void> {
    const { sql, ledger } = this.#deps;
    const { payment } = await ledger.payments.load(paymentId);
    const { paymentLinkId: checkoutId } = payment.roundTrip;
    if (checkoutId === null) return;
    await sql.begin((transaction) => giveBack(transaction, { checkoutId, paymentId }));
  }

  /**
   * A payment that succeeds has a customer. The customer is created before the ledger records the
   * success.
   */
  async #answerOf(paymentId: string, result: Result): Promise<ChargeAnswer> {
    // It is not confirmed yet; it will be.
    if (result.kind === 'requires_confirmation') return { kind: 'unknown' };
    if (result.kind !== 'succeeded' && result.kind !== 'free') return result;
    const { reference, method, captured, disputes } = result.kind === 'succeeded' ? result : FREE;
    const { sql, ledger, ids, orgClock, changes } = this.#deps;
    const state = await ledger.payments.load(paymentId);
    const { roundTrip, subscriptionId, organisationId, mode, processor } = state.payment;
    if (state.payment.isOffSession) {
      const customerId = must(state.customerId, 'whose payment it is');
      return { kind: 'succeeded', reference, method, customerId, captured, disputes };
    }
    const checkoutId = must(roundTrip.paymentLinkId, 'the checkout that was paid');
    const buyer = {
      email: roundTrip.customerEmail ?? '',
      name: state.payment.customerName,
      externalCustomerId: roundTrip.externalCustomerId,
    };
    const scope = { organisationId, mode };
    const now = orgClock.now(scope);
    const customer = await sql.begin(async (transaction) => {
      const payer = await customerOf(transaction, scope, { checkoutId, buyer, ids, now });
      const owner = { id: ids.next(), customerId: payer.id, subscriptionId, processor };
      const kept = methodOf(result, owner);
      if (kept !== null && (await putPaymentMethod(transaction, scope, { method: kept, now }))) {
        const stored = { customerId: payer.id, methodId: kept.id };
        await oweMethodStored(transaction, stored, { ids, now });
      }
      return payer;
    });
    if (customer.changed) await changes.publish('customer', customer.id);
    const { id: customerId } = customer;
    return { kind: 'succeeded', reference, method, customerId, captured, disputes };
  }
}

/**
 * Whether the buyer has agreed to the price at the bank or on the processor's page. Where nothing
 * is due today, a processor may only have saved what is charged later.
 */
function isAgreed({ kind }: ChargeResult, { amount, roundTrip }: Payment): boolean {
  const isSaved = kind === 'succeeded' && amount === 0n && roundTrip.paymentLinkId !== null;
  return kind === 'requires_confirmation' || isSaved;
}

/** Whether nothing can happen before the buyer, or a call that is on its way, does something. */
function isWaiting({ kind }: ChargeResult): boolean {
  return kind === 'requires_action' || kind === 'not_attempted';
}

/** Cancels a charge that waits. Where something happened first, that is what became of it. */
async function end(
  processor: Processor,
  { id, as: kind }: { readonly id: string; readonly as: 'abandoned' | 'given_up' },
): Promise<Result> {
  const canceled = await processor.cancelCharge(id);
  return canceled.kind === 'not_attempted' ? { kind } : canceled;
}

/** What a processor would say of a payment that it was not asked for. */
const FREE = { reference: null, method: null, captured: undefined, disputes: undefined };

const DISCOUNT_GONE: Result = {
  kind: 'declined',
  code: 'discount_spent',
  message: 'The discount code has been used up meanwhile. Nothing was charged.',
  method: null,
};

/** The payment method was removed in the meantime. */
const NOTHING_LEFT: Result = {
  kind: 'declined',
  code: 'mandate_lost',
  message: 'There is nothing to charge any more.',
  method: null,
};

/** The payment method that a charge has saved. */
function methodOf(
  result: Result,
  owner: Pick<NewPaymentMethod, 'id' | 'customerId' | 'subscriptionId' | 'processor'>,
): NewPaymentMethod | null {
  if (result.kind !== 'succeeded' || result.saved === null) return null;
  return { ...owner, ...result.method, saved: result.saved, expiry: result.expiry };
}
