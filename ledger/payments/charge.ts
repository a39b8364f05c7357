import { unreachable } from '../kernel/assert.ts';
import {
  type PaymentEffects,
  type PaymentMethod,
  type PaymentState,
  isBilled,
  isCharged,
} from './payment.ts';
import { declineOf } from './declines.ts';
import { type DisputeNews, learnDispute } from './dispute.ts';
import { PaymentDraft, backoff, type PaymentContext } from './payment-draft.ts';

/** The processor's answer to a charge. */
export type ChargeAnswer =
  | {
      readonly kind: 'succeeded';
      readonly reference: string | null;
      readonly method: PaymentMethod | null;
      /** The customer, which exists by now. */
      readonly customerId: string;
      /** What was captured, where the merchant has taken less at the processor. */
      readonly captured?: bigint | undefined;
      /** Disputes of it that the processor knows already. */
      readonly disputes?: readonly DisputeNews[] | undefined;
    }
  | {
      readonly kind: 'pending';
      readonly reference: string;
      readonly method: PaymentMethod;
      readonly askAfterMs: number;
    }
  /** `method` is null while the buyer has not chosen one. */
  | {
      readonly kind: 'requires_action';
      readonly reference: string;
      readonly method: PaymentMethod | null;
    }
  | {
      readonly kind: 'declined';
      readonly code: string;
      readonly message: string;
      readonly method: PaymentMethod | null;
    }
  | { readonly kind: 'not_attempted'; readonly code: string; readonly message: string }
  /** The buyer did not return from the bank, and the processor gave the charge up. */
  | { readonly kind: 'abandoned' }
  /** The buyer did not want to go on, and the processor gave the charge up. */
  | { readonly kind: 'given_up' }
  | { readonly kind: 'unknown' };

/**
 * Whether the time that a buyer has to act at the bank, `actionMs`, is over: the charge is given
 * up.
 */
export function isActionOverdue(
  { status, payment }: PaymentState,
  { now, actionMs }: { readonly now: number; readonly actionMs: number },
): boolean {
  return status === 'requires_action' && now >= payment.createdAt + actionMs;
}

const ACTION_FIRST_ASK_MS = 2000;

const ABANDONED = {
  code: 'authentication_abandoned',
  message: 'The payment was not confirmed in time.',
};

const GIVEN_UP = { code: 'canceled', message: 'The buyer gave the payment up.' };

/**
 * Applies an answer. A repeated answer, or one after the final answer, changes nothing: `effects`
 * is null. The id of the invoice is derived from that of the payment, so the event can name it
 * before it exists.
 */
export function decideCharge(
  context: PaymentContext,
  state: PaymentState,
  answer: ChargeAnswer,
): PaymentEffects | null {
  if (isCharged(state)) return null;
  const draft = new PaymentDraft(context, state);
  const { now } = context;
  switch (answer.kind) {
    case 'succeeded':
      capture(draft, answer);
      for (const news of answer.disputes ?? []) learnDispute(draft, news);
      break;
    case 'pending':
      draft.change({
        status: 'processing',
        reference: answer.reference,
        method: answer.method,
        asks: 0,
        askAt: now + answer.askAfterMs,
      });
      break;
    case 'requires_action':
      draft.change({
        status: 'requires_action',
        reference: answer.reference,
        method: answer.method,
        asks: state.asks + 1,
        // The buyer may have acted and never returned.
        askAt: now + ACTION_FIRST_ASK_MS + backoff(state.asks),
      });
      break;
    case 'declined':
      if (answer.method !== null) draft.change({ method: answer.method });
      fail(draft, 'failed', answer);
      break;
    case 'not_attempted':
      fail(draft, 'errored', answer);
      break;
    case 'abandoned':
      fail(draft, 'canceled', ABANDONED);
      break;
    case 'given_up':
      fail(draft, 'canceled', GIVEN_UP);
      break;
    case 'unknown':
      draft.change({ asks: state.asks + 1, askAt: now + backoff(state.asks) });
      break;
    default:
      return unreachable(answer);
  }
  return draft.effects();
}

function capture(
  draft: PaymentDraft,
  { reference, method, customerId, ...taken }: Extract<ChargeAnswer, { kind: 'succeeded' }>,
): void {
  const { ids, now } = draft.context;
  const { payment } = draft.state;
  const transactionId = ids.derive('capture', payment.id);
  const { captured = payment.amount } = taken;
  draft.move('credit', { id: transactionId, kind: 'single', amount: captured, hold: null });
  draft.account({ captured });
  draft.change({
    status: 'succeeded',
    customerId,
    invoiceId: draft.state.invoiceId ?? ids.derive('invoice', payment.id),
    reference: reference ?? draft.state.reference,
    method: method ?? draft.state.method,
    failure: null,
    paidAt: now,
    asks: 0,
    askAt: null,
  });
  // The events of the subscription announce this payment, in their own order.
  if (payment.subscriptionId === null) {
    draft.announce('payment.succeeded', captured, { transactionId });
  }
  draft.follow('payment_settled', payment.id, {});
}

function fail(
  draft: PaymentDraft,
  status: 'failed' | 'errored' | 'canceled',
  { code, message }: { readonly code: string; readonly message: string },
): void {
  const { payment } = draft.state;
  draft.change({ status, failure: { code, message }, asks: 0, askAt: null });
  const why = { failureCode: code, failureMessage: message };
  // There is no automatic retry. If the buyer tries again, that is another payment.
  const tries = { attempt: payment.attempt, nextAttemptAt: null };
  const data = { transactionId: null, ...why, ...tries };
  if (isBilled(draft.state)) {
    // The subscription announces it, with the time of the next try.
  } else if (status === 'errored') {
    const retryable = declineOf(draft.state) !== 'final';
    draft.announce('payment.errored', payment.amount, { ...data, retryable });
  } else {
    draft.announce('payment.failed', payment.amount, data);
  }
  draft.follow('payment_settled', payment.id, {});
}
