// Disputes: what the processor says of them, into the ledger.
//
//     a hint, or an alarm ─▶ the processor is asked ─▶ payment's actor (ledger) ─▶ follow-ups
//
// Holds: a dispute is what the processor answers when it is asked; the news of a webhook only says
// that it is time to ask. An open one is asked about each day, so news that is lost costs time. In
// this process one question about a payment is under way, and those who come meanwhile share the
// next one: its answer is never of before they came.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DisputesOutcome } from '../../ledger/payments/dispute.ts';
import { isCharged, type PaymentState } from '../../ledger/payments/payment.ts';
import { type Log, pause, type Timers } from '../../ledger/ports.ts';
import type { DisputesResult, Processors } from '../processors/processor.ts';
import { isUuid } from '../records/uuid.ts';
import type { Charges } from './charges.ts';
import type { Followups } from './followups.ts';
import type { DisputesReply } from './payments.ts';

export type DisputesDeps = {
  readonly ledger: Ledger;
  readonly followups: Followups;
  readonly charges: Charges;
  readonly processors: Processors;
  readonly timers: Timers;
  readonly log: Log;
};

/** How often, a second apart, the answer to a charge is waited for that is on its way. */
const LOOKS_MAX = 8;
const LOOK_MS = 1000;

type Question = {
  readonly running: Promise<DisputesReply>;
  /** The one after it, once somebody waits for that. */
  next: Promise<DisputesReply> | null;
};

export class Disputes {
  readonly #deps: DisputesDeps;
  readonly #questions = new Map<string, Question>();

  constructor(deps: DisputesDeps) {
    this.#deps = deps;
  }

  /** Asks what is disputed of the payment, and records it. */
  async look(scope: Tenant, paymentId: string): Promise<DisputesReply> {
    const { payments } = this.#deps.ledger;
    const state = isUuid(paymentId) ? await payments.find(scope, paymentId) : null;
    return state === null ? { kind: 'not_found' } : this.#ask(paymentId);
  }

  /** Asks again where a dispute of the payment is due. */
  async again({ payment, disputes }: PaymentState, now: number): Promise<void> {
    const isDue = [...disputes.values()].some(({ askAt }) => askAt !== null && askAt <= now);
    if (isDue) await this.#ask(payment.id);
  }

  #ask(paymentId: string): Promise<DisputesReply> {
    const question = this.#questions.get(paymentId);
    if (question === undefined) return this.#begin(paymentId);
    question.next ??= question.running.then(
      () => this.#begin(paymentId),
      () => this.#begin(paymentId),
    );
    return question.next;
  }

  #begin(paymentId: string): Promise<DisputesReply> {
    const running = this.#askNow(paymentId);
    const question: Question = { running, next: null };
    this.#questions.set(paymentId, question);
    const ended = (): void => {
      if (question.next === null) this.#questions.delete(paymentId);
    };
    running.then(ended, ended);
    return running;
  }

  async #askNow(paymentId: string): Promise<DisputesReply> {
    const { ledger, followups } = this.#deps;
    const state = await ledger.payments.load(paymentId);
    const { payment } = state;
    const answer = await this.#answer(payment);
    if (answer.kind === 'found' && answer.disputes.length > 0) await this.#untilCharged(state);
    const outcome = await ledger.payments.dispute(paymentId, answer);
    this.#report(paymentId, outcome);
    if (outcome.changed.length > 0) followups.soon(payment);
    return answer.kind === 'unknown' ? answer : { kind: 'asked', ...outcome };
  }

  /** News of a dispute may be there before the answer to the charge, which somebody waits for. */
  async #untilCharged(first: PaymentState): Promise<void> {
    const { ledger, charges, timers } = this.#deps;
    let state = first;
    for (let looks = 1; !isCharged(state) && looks <= LOOKS_MAX; looks += 1) {
      if (looks > 1) await pause(timers, LOOK_MS);
      await charges.again(state, { isDue: false });
      state = await ledger.payments.load(state.payment.id);
    }
  }

  async #answer(payment: PaymentState['payment']): Promise<DisputesResult> {
    const processor = this.#deps.processors.named(payment, payment.processor);
    return processor === null ? { kind: 'unknown' } : processor.findDisputes(payment.id);
  }

  #report(paymentId: string, { refused }: DisputesOutcome): void {
    for (const { reference, refusal } of refused) {
      this.#deps.log.error({ paymentId, dispute: reference, refusal }, 'a dispute is not recorded');
    }
  }
}
