import { must } from '../assert.ts';
import { type ChargeAnswer, decideCharge } from '../charge.ts';
import type { PaymentEffects, PaymentState, Refund } from '../payment.ts';
import type { PaymentContext } from '../payment-draft.ts';
import {
  type RefundDecision,
  type RefundOutcome,
  type RefundRequest,
  decideRefund,
  decideRefundOutcome,
} from '../refund.ts';
import type { Tenant } from '../ports.ts';
import type { StoredRefund } from '../storage.ts';
import type { Term } from './term.ts';
import { ActorUnit, DUPLICATE } from './unit.ts';
import { STALE } from '../outcome.ts';
import type { PaymentActor } from './payment-actor.ts';

/** The payments' side of the ledger's door. Every answer is durable when it is given. @throws LedgerUnavailable */
export class PaymentDesk {
  readonly #live: () => Term;

  constructor(live: () => Term) {
    this.#live = live;
  }

  /** The tenant's payment as the last decision left it; null where it has none of this id. */
  async find(tenant: Tenant, id: string): Promise<PaymentState | null> {
    const actor = await this.#live().payments.find(id);
    if (actor === null) return null;
    const { organisationId, mode } = actor.tentative.payment;
    const isTheirs = organisationId === tenant.organisationId && mode === tenant.mode;
    return isTheirs ? actor.tentative : null;
  }

  /** Whoever's it is, for alarms and whoever made it. */
  async load(id: string): Promise<PaymentState> {
    return (await this.#actor(id)).tentative;
  }

  /** Takes in what the processor said of the charge; the payment as it is then. */
  async charge(id: string, answer: ChargeAnswer): Promise<PaymentState> {
    await this.#decide(id, NO_KEYS, (context, state) => ({
      outcome: null,
      effects: decideCharge(context, state, answer),
    }));
    return this.load(id);
  }

  /** Reserves a refund. `duplicate`: the key that its id was derived from was used before. */
  refund(id: string, request: RefundRequest): Promise<RefundDecision | 'duplicate'> {
    const keys = request.fingerprint === null ? NO_KEYS : [request.id];
    return this.#decide(id, keys, (context, state) => {
      const { decision, effects } = decideRefund(context, state, request);
      return { outcome: decision, effects };
    });
  }

  /** What the refund became; null where it could not change any more. */
  async settleRefund(
    id: string,
    answer: { readonly refundId: string; readonly outcome: RefundOutcome },
  ): Promise<Refund | null> {
    const settled = await this.#decide(id, NO_KEYS, (context, state) => {
      const decided = decideRefundOutcome(context, state, answer);
      return { outcome: decided?.refund ?? null, effects: decided?.effects ?? null };
    });
    return settled === 'duplicate' ? null : settled;
  }

  /** What a refund's key was used for; null where it was not. */
  findRefund(id: string): Promise<StoredRefund | null> {
    return this.#live().deps.storage.findRefund(id);
  }

  async #actor(id: string): Promise<PaymentActor> {
    return must(await this.#live().payments.find(id), 'a payment that exists');
  }

  async #decide<T>(
    id: string,
    keys: readonly string[],
    decision: (
      context: PaymentContext,
      state: PaymentState,
    ) => { readonly outcome: T; readonly effects: PaymentEffects | null },
  ): Promise<T | 'duplicate'> {
    for (;;) {
      const term = this.#live();
      const actor = await this.#actor(id);
      const unit = new ActorUnit<T | typeof STALE>({
        keys,
        actors: [actor],
        run: (apply) => {
          if (actor.dropped) return STALE;
          const state = actor.tentative;
          const { outcome, effects } = decision(term.paymentContext(state.payment), state);
          if (effects !== null) apply(actor, effects);
          return outcome;
        },
      });
      const outcome = await term.submit(unit);
      if (outcome === DUPLICATE) return 'duplicate';
      if (outcome !== STALE) return outcome;
    }
  }
}

const NO_KEYS: readonly string[] = [];
