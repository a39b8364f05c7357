import { unreachable } from '../kernel/assert.ts';
import {
  type PaymentEffects,
  type PaymentMethod,
  type PaymentState,
  isBilled,
  isCharged,
} from './payment.ts';
import { PaymentDraft, backoff, type PaymentContext } from './payment-draft.ts';

/** What the processor said of a charge, in the ledger's words. */
export type ChargeAnswer =
  | {
      readonly kind: 'succeeded';
      readonly reference: string | null;
      readonly method: PaymentMethod | null;
      /** Whose it is: found or made before. */
      readonly customerId: string;
    }
  | {
      readonly kind: 'pending';
      readonly reference: string;
      readonly method: PaymentMethod;
      readonly askAfterMs: number;
    }
  | { readonly kind: 'requires_action'; readonly reference: string; readonly method: PaymentMethod }
  | {
      readonly kind: 'declined';
      readonly code: string;
      readonly message: string;
      readonly method: PaymentMethod | null;
    }
  | { readonly kind: 'not_attempted'; readonly code: string; readonly message: string }
  /** The buyer did not come back from where it had to act, and the processor gave the charge up. */
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'unknown' };

/** How long a buyer has for what its bank wants before the charge is given up. */
const ACTION_MS_MAX = 15 * 60_000;

/** Whether it is over. */
export function isActionOverdue({ status, payment }: PaymentState, now: number): boolean {
  return status === 'requires_action' && now >= payment.createdAt + ACTION_MS_MAX;
}

const ACTION_FIRST_ASK_MS = 2000;

const ABANDONED = {
  code: 'authentication_abandoned',
  message: 'The payment was not confirmed in time.',
};

/**
 * Takes an answer in. One that comes again, or after the final one, changes nothing: `effects` is null. The invoice's id follows
 * from the payment's, so that the event can name it before it is there.
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
        // The buyer may have done it and never come back.
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
  { reference, method, customerId }: Extract<ChargeAnswer, { kind: 'succeeded' }>,
): void {
  const { ids, now } = draft.context;
  const { payment } = draft.state;
  const transactionId = ids.derive('capture', payment.id);
  draft.move('credit', { id: transactionId, kind: 'single', amount: payment.amount, hold: null });
  draft.account({ captured: payment.amount });
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
  // A subscription's own events tell of what was paid for it, in their order.
  if (payment.subscriptionId === null) {
    draft.announce('payment.succeeded', payment.amount, { transactionId });
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
  // A buyer may try again, but nobody does it for them: what comes next is another payment.
  const tries = { attempt: payment.attempt, nextAttemptAt: null };
  const data = { transactionId: null, ...why, ...tries };
  if (isBilled(draft.state)) {
    // Its subscription tells of it, and when it is tried again.
  } else if (status === 'errored') {
    draft.announce('payment.errored', payment.amount, { ...data, retryable: true });
  } else {
    draft.announce('payment.failed', payment.amount, data);
  }
  draft.follow('payment_settled', payment.id, {});
}
