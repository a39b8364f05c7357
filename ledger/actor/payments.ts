import { assert, must } from '../kernel/assert.ts';
import { type ChargeAnswer, decideCharge } from '../payments/charge.ts';
import type { PaymentEffects, PaymentState, Refund } from '../payments/payment.ts';
import type { PaymentContext } from '../payments/payment-draft.ts';
import { decideDisputes, type DisputesAnswer, type DisputesOutcome } from '../payments/dispute.ts';
import {
  type RefundDecision,
  type RefundOutcome,
  type RefundRequest,
  decideRefund,
  decideRefundOutcome,
} from '../payments/refund.ts';
import type { PaymentActor } from './payment-actor.ts';
import type { OwnershipSession } from './ownership-session.ts';
import { DUPLICATE } from './unit.ts';

// Operations on payments. Every answer is durable. Each throws NotOwner where another node owns the
// payment.

/** As the last decision left it; null where there is none of this id. */
export function findPayment(session: OwnershipSession, id: string): Promise<PaymentState | null> {
  return session.executor.read(
    () => session.store.payments.find(id),
    (actor) => actor?.tentative ?? null,
  );
}

/** Records the processor's answer about the charge. Returns the payment after it. */
export async function chargePayment(
  session: OwnershipSession,
  id: string,
  answer: ChargeAnswer,
): Promise<PaymentState> {
  await decide(session, id, {
    keys: NO_KEYS,
    decision: (context, state) => ({
      outcome: null,
      effects: decideCharge(context, state, answer),
    }),
  });
  return must(await findPayment(session, id), 'a payment that was charged');
}

/**
 * Reserves a refund. `duplicate`: its id was used before, by a call with its key or by this one.
 */
export async function reserveRefund(
  session: OwnershipSession,
  id: string,
  request: RefundRequest,
): Promise<RefundDecision | 'duplicate'> {
  const decided = await decide(session, id, {
    keys: [request.id],
    decision: (context, state) => {
      const { decision, effects } = decideRefund(context, state, request);
      return { outcome: decision, effects };
    },
  });
  if (decided === 'duplicate' || decided.kind === 'reserved' || !session.recent.has(request.id))
    return decided;
  // A refusal without a key writes nothing, so no constraint has decided. A repeat may be refused
  // because of its own reserve.
  const [used] = await session.deps.storage.usedIds([request.id]);
  return used === undefined ? decided : 'duplicate';
}

/** What the refund became; null where it could not change any more. */
export async function settleRefund(
  session: OwnershipSession,
  id: string,
  answer: { readonly refundId: string; readonly outcome: RefundOutcome },
): Promise<Refund | null> {
  const settled = await decide(session, id, {
    keys: NO_KEYS,
    decision: (context, state) => {
      const decided = decideRefundOutcome(context, state, answer);
      return { outcome: decided?.refund ?? null, effects: decided?.effects ?? null };
    },
  });
  return settled === 'duplicate' ? null : settled;
}

/** Records what the processor says of the payment's disputes. */
export async function settleDisputes(
  session: OwnershipSession,
  id: string,
  answer: DisputesAnswer,
): Promise<DisputesOutcome> {
  const decided = await decide(session, id, {
    keys: NO_KEYS,
    decision: (context, state) => decideDisputes(context, state, answer),
  });
  assert(decided !== 'duplicate', 'a dispute has no key');
  return decided;
}

const NO_KEYS: readonly string[] = [];

async function decide<T>(
  session: OwnershipSession,
  id: string,
  {
    keys,
    decision,
  }: {
    readonly keys: readonly string[];
    readonly decision: (
      context: PaymentContext,
      state: PaymentState,
    ) => { readonly outcome: T; readonly effects: PaymentEffects | null };
  },
): Promise<T | 'duplicate'> {
  const decided = await session.executor.decideOn<PaymentActor, T>(
    'payment',
    async () => must(await session.store.payments.find(id), 'a payment that exists'),
    keys,
    (actor, memory) => {
      const state = actor.tentative;
      const { outcome, effects } = decision(session.contexts.ofPayment(state.payment), state);
      if (effects !== null) memory.apply(actor, effects);
      return outcome;
    },
  );
  return decided === DUPLICATE ? 'duplicate' : decided;
}
