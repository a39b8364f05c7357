// Refunds, by our refund's id: it is the idempotency key, and stands in the metadata.
//
// Holds: a refund whose answer was lost is looked for in the list of its intent's refunds, which
// does not lag, before it is asked for again: Stripe forgets idempotency keys after a day. What
// Stripe declines stays declined.
import { DAY_MS, HOUR_MS } from '../../../ledger/kernel/durations.ts';
import type Stripe from 'stripe';
import { must } from '../../../ledger/kernel/assert.ts';
import type { RefundFailure } from '../../../ledger/payments/payment.ts';
import type { RefundRequest, RefundResult } from '../processor.ts';
import { stripeAmount } from './amounts.ts';
import type { Answer } from './answers.ts';
import { refundFailureOf } from './declines.ts';
import { keyOf, metadataOf } from './metadata.ts';
import type { StripeDeps } from './states.ts';
import {
  type ChargeRow,
  declineRefund,
  findCharge,
  findRefund,
  insertRefund,
  keepRefund,
  type RefundRow,
} from './store.ts';

/** Until then a bank may send a refund back. */
const RETURNED_MS = 30 * DAY_MS;
const LISTED_MAX = 100;

const NOT_ATTEMPTED: RefundResult = { kind: 'not_attempted' };
const UNKNOWN: RefundResult = { kind: 'unknown' };

export async function refund(deps: StripeDeps, request: RefundRequest): Promise<RefundResult> {
  const { sql, clock } = deps;
  const { key, chargeKey, amount } = request;
  if (amount <= 0n) return NOT_ATTEMPTED;
  const charge = await findCharge(sql, chargeKey);
  if (charge === null || (charge.stripeId === null && charge.state !== 'declined')) {
    return NOT_ATTEMPTED;
  }
  const createdAt = new Date(clock.now());
  const isNew = (await insertRefund(sql, { key, chargeKey, amount, createdAt })) !== null;
  if (!isNew) {
    const found = await refundState(deps, key);
    if (found !== NOT_ATTEMPTED) return found;
  }
  return make(deps, charge, request);
}

/** What became of it; `NOT_ATTEMPTED` where Stripe has none. */
export async function refundState(deps: StripeDeps, key: string): Promise<RefundResult> {
  const row = await findRefund(deps.sql, key);
  if (row === null) return NOT_ATTEMPTED;
  const { stripeId, declined } = row;
  if (declined !== null) return { kind: 'declined', reason: declined };
  if (stripeId === null) return lookFor(deps, row);
  const found = await deps.ask('refunds.retrieve', () => deps.stripe.refunds.retrieve(stripeId));
  return found.kind === 'done' ? refundResult(found.value, deps.clock.now()) : UNKNOWN;
}

async function lookFor(deps: StripeDeps, { key, chargeKey }: RefundRow): Promise<RefundResult> {
  const { sql, stripe, ask, clock, organisationId } = deps;
  const charge = must(await findCharge(sql, chargeKey), 'the charge of a refund');
  const of = await paymentIntentOf(deps, charge);
  if (of.kind !== 'done') return UNKNOWN;
  const { value: intent } = of;
  if (intent === null) return NOT_ATTEMPTED;
  const found = await ask('refunds.list', () =>
    stripe.refunds
      .list({ payment_intent: intent, limit: LISTED_MAX })
      .autoPagingToArray({ limit: REFUNDS_MAX }),
  );
  if (found.kind !== 'done') return UNKNOWN;
  const made = found.value.find(({ metadata }) => keyOf(metadata, organisationId) === key);
  if (made === undefined) return NOT_ATTEMPTED;
  await keepRefund(sql, key, made.id);
  return refundResult(made, clock.now());
}

/** More than anybody makes of one payment. */
const REFUNDS_MAX = 10_000;

async function make(
  deps: StripeDeps,
  charge: ChargeRow,
  { key, amount, currency }: RefundRequest,
): Promise<RefundResult> {
  const { sql, stripe, ask, clock, organisationId } = deps;
  const written = stripeAmount(amount, currency);
  if (written.kind === 'refused' || currency !== charge.currency || charge.kind === 'setup') {
    return decline(deps, key, 'declined');
  }
  const of = await paymentIntentOf(deps, charge);
  if (of.kind !== 'done') return UNKNOWN;
  const { value: intent } = of;
  if (intent === null) return decline(deps, key, 'declined');
  const made = await ask('refunds.create', () =>
    stripe.refunds.create(
      {
        payment_intent: intent,
        amount: written.units,
        metadata: metadataOf(organisationId, key),
      },
      { idempotencyKey: key },
    ),
  );
  if (made.kind === 'done') {
    await keepRefund(sql, key, made.value.id);
    return refundResult(made.value, clock.now());
  }
  // Of what Stripe did not take now, an earlier call may still be on its way.
  return made.kind === 'refused' ? refusal(deps, key, made.code) : UNKNOWN;
}

/** Refused, unless another call has made it meanwhile. */
async function refusal(deps: StripeDeps, key: string, code: string | null): Promise<RefundResult> {
  const found = await refundState(deps, key);
  return found === NOT_ATTEMPTED ? decline(deps, key, REASONS[code ?? ''] ?? 'declined') : found;
}

const REASONS: Readonly<Record<string, RefundFailure>> = {
  balance_insufficient: 'insufficient_funds',
  charge_disputed: 'disputed',
  insufficient_funds: 'insufficient_funds',
};

async function decline(
  deps: StripeDeps,
  key: string,
  reason: RefundFailure,
): Promise<RefundResult> {
  await declineRefund(deps.sql, key, reason);
  return { kind: 'declined', reason };
}

/** The PaymentIntent of a charge; null where there is none. */
export async function paymentIntentOf(
  { stripe, ask }: StripeDeps,
  { kind, intent, stripeId }: ChargeRow,
): Promise<Answer<string | null>> {
  if (intent !== null || kind !== 'session' || stripeId === null) {
    return { kind: 'done', value: intent };
  }
  return ask('sessions.retrieve', async () => {
    const { payment_intent: made } = await stripe.checkout.sessions.retrieve(stripeId);
    return typeof made === 'string' ? made : (made?.id ?? null);
  });
}

function refundResult(made: Stripe.Refund, now: number): RefundResult {
  const { id: reference, status } = made;
  switch (status) {
    case 'succeeded':
      return { kind: 'succeeded', reference, askAfterMs: isFinal(made, now) ? null : DAY_MS };
    case 'pending':
    case 'requires_action':
      return { kind: 'pending', reference, askAfterMs: HOUR_MS };
    case 'failed':
      return { kind: 'declined', reason: refundFailureOf(made.failure_reason) };
    case 'canceled':
      return { kind: 'declined', reason: 'declined' };
    case null:
    default:
      return UNKNOWN;
  }
}

/** A bank sends a refund back within days. It cannot where the charge was reversed instead. */
function isFinal({ created, destination_details: to }: Stripe.Refund, now: number): boolean {
  const { type, reference_status: network } = to?.card ?? {};
  return type === 'reversal' || network === 'available' || created * 1000 + RETURNED_MS <= now;
}
