// Charges of what was saved, without the buyer: PaymentIntents.
//
//     row ─▶ intent, unconfirmed ─▶ its id in the row ─▶ confirm
//
// Holds: only an intent whose id is in the row is confirmed, and an intent charges once. After
// `not_attempted` its key is used up, so that no confirmation that is still on its way charges.
import type Stripe from 'stripe';
import type { ChargeResult, ForgetResult, SavedChargeRequest } from '../processor.ts';
import type { Answer } from './answers.ts';
import { cancelCharge } from './cancel.ts';
import { begin, giveUp, refusalOf } from './charges.ts';
import { type Saved, savedOf } from './instruments.ts';
import { metadataOf } from './metadata.ts';
import { CANCELED, NOT_FOUND, OF_INTENT, UNKNOWN } from './results.ts';
import { chargeState, declineIntent, savedResult, type StripeDeps } from './states.ts';
import { declineCharge, findCharge, keepCharge } from './store.ts';

/** How long the same intent is asked for. */
const KEY_MS = 10 * 60_000;

export async function chargeSaved(
  deps: StripeDeps,
  request: SavedChargeRequest,
): Promise<ChargeResult> {
  const begun = await begin(deps, request, 'intent');
  if (begun.kind === 'refused') return begun.result;
  const saved = savedOf(request.saved);
  if (begun.kind === 'known') {
    const { kind, state, stripeId: id } = begun.row;
    const result = await chargeState(deps, begun.row);
    // The call that made it went no further.
    const isLeft = kind === 'intent' && state === 'open' && id !== null && result === NOT_FOUND;
    return isLeft && saved !== null ? confirm(deps, { request, saved, id }) : result;
  }
  if (saved === null) return loseMandate(deps, request.key);
  return make(deps, { request, saved, units: begun.units });
}

type Making = { readonly request: SavedChargeRequest; readonly saved: Saved };

async function make(
  deps: StripeDeps,
  { request, saved, units }: Making & { readonly units: number },
): Promise<ChargeResult> {
  const { sql, stripe, ask, clock } = deps;
  const { key, currency } = request;
  // Stripe repeats a failure of its own for a day. What is lost with a key charges nothing: it is
  // never confirmed.
  const idempotencyKey = `${key}:${Math.floor(clock.now() / KEY_MS)}`;
  const params: Stripe.PaymentIntentCreateParams = {
    amount: units,
    currency: currency.toLowerCase(),
    customer: saved.customer,
    payment_method: saved.method,
    metadata: metadataOf(deps.organisationId, key),
    // Nobody is there to be sent anywhere.
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  };
  const made = await ask('paymentIntents.create', () =>
    stripe.paymentIntents.create(params, { idempotencyKey }),
  );
  if (made.kind === 'refused') {
    if (await isForgotten(deps, saved)) return loseMandate(deps, key);
    return giveUp(deps, key, refusalOf(made, request));
  }
  // Nobody waits for it: it is asked for again, also with another key of the account.
  if (made.kind !== 'done') return UNKNOWN;
  const { id } = made.value;
  if (await keepCharge(sql, { key, stripeId: id, intent: id })) {
    return confirm(deps, { request, saved, id });
  }
  return giveBack(deps, { key, id });
}

/** The key was given up meanwhile, or has another intent: this one charges nothing. */
async function giveBack(
  deps: StripeDeps,
  { key, id }: { readonly key: string; readonly id: string },
): Promise<ChargeResult> {
  const row = await findCharge(deps.sql, key);
  if (row?.stripeId !== id) {
    await deps.ask('paymentIntents.cancel', () => deps.stripe.paymentIntents.cancel(id));
  }
  const result = await chargeState(deps, row);
  // The call that has kept it is about to confirm it.
  return result === NOT_FOUND ? UNKNOWN : result;
}

async function confirm(
  deps: StripeDeps,
  { request, saved, id }: Making & { readonly id: string },
): Promise<ChargeResult> {
  const { stripe, ask } = deps;
  // Without an idempotency key, under which Stripe would repeat a failure of its own for a day: an
  // intent charges once.
  const confirmed = await ask('paymentIntents.confirm', () =>
    stripe.paymentIntents.confirm(id, { off_session: true, expand: OF_INTENT }),
  );
  if (confirmed.kind === 'unknown' || confirmed.kind === 'not_now') return UNKNOWN;
  if (confirmed.kind === 'done') return savedResult(deps, request.key, confirmed.value);
  return afterRefusal(deps, { request, saved, id, refusal: confirmed });
}

/** A decline, or a state that is not what the call expects: the intent says what is true. */
async function afterRefusal(
  deps: StripeDeps,
  {
    request,
    saved,
    id,
    refusal,
  }: Making & { readonly id: string; readonly refusal: Answer<never> },
): Promise<ChargeResult> {
  const { key } = request;
  const result = await chargeState(deps, await findCharge(deps.sql, key));
  if (result !== NOT_FOUND) return result;
  if (refusal.kind === 'refused' && (await isForgotten(deps, saved))) {
    return declineIntent(deps, { key, id, code: 'mandate_lost' });
  }
  const canceled = await cancelCharge(deps, key);
  return canceled === CANCELED ? refusalOf(refusal, request) : canceled;
}

/** Nothing of Stripe's stands for this name, or does so any more. */
async function loseMandate(deps: StripeDeps, key: string): Promise<ChargeResult> {
  await declineCharge(deps.sql, key, 'mandate_lost');
  return chargeState(deps, await findCharge(deps.sql, key));
}

/** Whether it was detached, or never was there. */
async function isForgotten(
  { stripe, ask }: StripeDeps,
  { customer, method }: Saved,
): Promise<boolean> {
  const found = await ask('paymentMethods.retrieve', () => stripe.paymentMethods.retrieve(method));
  if (found.kind === 'refused') return found.code === 'resource_missing';
  if (found.kind !== 'done') return false;
  const { customer: owner } = found.value;
  return (typeof owner === 'string' ? owner : (owner?.id ?? null)) !== customer;
}

export async function forget(deps: StripeDeps, name: string): Promise<ForgetResult> {
  const saved = savedOf(name);
  if (saved === null) return { kind: 'forgotten' };
  const { stripe, ask } = deps;
  const detached = await ask('paymentMethods.detach', () =>
    stripe.paymentMethods.detach(saved.method),
  );
  const isDone =
    detached.kind === 'done' || (detached.kind === 'refused' && (await isForgotten(deps, saved)));
  return isDone ? { kind: 'forgotten' } : { kind: 'unknown' };
}
