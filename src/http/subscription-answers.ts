// The response for the outcome of a subscription action: the same for the merchant's API and the
// customer's portal.
import { unreachable } from '../../ledger/kernel/assert.ts';
import { iso } from '../../ledger/kernel/iso.ts';
import type {
  SubscriptionAction,
  SubscriptionActionReply,
  SubscriptionPreviewReply,
} from '../subscriptions/subscriptions.ts';
import { type Answer, answer, refusal, refusedField } from './idempotency/idempotency.ts';
import { fromPreview } from './wire/subscription-previews.ts';
import { fromSubscription } from './wire/subscriptions.ts';

export const NOT_FOR_SALE = 'is of a product that is archived or unpublished';

export const QUANTITY_TOO_LARGE =
  'makes the price, or what the product gives, more than there can be';

export function actAnswer(
  reply: SubscriptionActionReply,
  kind: SubscriptionAction['kind'],
): Answer {
  if (reply.kind === 'done') {
    const { record, isUndecided = false } = reply;
    // A later retry gets what became of it.
    return { ...answer(200, fromSubscription(record)), isKept: !isUndecided };
  }
  return reply.kind === 'payment_failed'
    ? refusal('payment_failed', reply.message)
    : refusedAnswer(reply, kind);
}

/** Refused as the action is. */
export function previewAnswer(
  reply: SubscriptionPreviewReply,
  kind: SubscriptionAction['kind'],
): Answer {
  return reply.kind === 'previewed'
    ? answer(200, fromPreview(reply.preview))
    : refusedAnswer(reply, kind);
}

function refusedAnswer(
  reply: Exclude<SubscriptionPreviewReply, { readonly kind: 'previewed' }>,
  kind: SubscriptionAction['kind'],
): Answer {
  switch (reply.kind) {
    case 'not_found':
      return refusal('not_found', 'no such subscription');
    case 'price_not_found':
      return refusal('not_found', 'no such recurring price');
    case 'invalid_state':
      return refusal('invalid_state', stateMessage(kind, reply));
    case 'currency_mismatch':
      return refusedField('price_id', 'is in another currency');
    case 'not_for_sale':
      return refusedField('price_id', NOT_FOR_SALE);
    case 'quantity_too_large':
      return refusedField('quantity', QUANTITY_TOO_LARGE);
    case 'amount_refused':
      return refusedField('price_id', reply.message);
    case 'resumes_at_out_of_range':
      return refusedField('resumes_at', 'must be in the future, at most a year ahead');
    default:
      return unreachable(reply);
  }
}

function stateMessage(
  kind: SubscriptionAction['kind'],
  { legal, waiting }: Extract<SubscriptionPreviewReply, { readonly kind: 'invalid_state' }>,
): string {
  const names = legal.length === 0 ? ['nothing'] : legal.map(named);
  const why =
    waiting === undefined
      ? ''
      : `: a ${waiting.kind} has waited since ${iso(waiting.since)} for the payment ${waiting.paymentId}; unschedule takes it back`;
  return `it cannot ${named(kind)} now${why}; legal now: ${names.join(', ')}`;
}

/** The name of the action in the path. */
const named = (action: string): string => action.replace('_', '-');
