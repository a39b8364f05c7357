// Charges with the buyer there, on Stripe's own page: Checkout Sessions.
//
//     row ─▶ session ─▶ its id in the row ─▶ the address leaves ─▶ the buyer agrees ─▶ capture
//
// Holds: nobody can pay what has no row with its id. A card is authorised when the buyer agrees,
// and charged by `confirmCharge`. A bank debit cannot wait: it goes its way at once, unless the
// charge must be confirmed; then it is not offered.
import type Stripe from 'stripe';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import type { FailureCode } from '../../../ledger/payments/payment.ts';
import type { ChargeRequest, ChargeResult } from '../processor.ts';
import { stripeAmount, tooLittle } from './amounts.ts';
import { OFFERED } from './instruments.ts';
import { metadataOf } from './metadata.ts';
import {
  CANCELED,
  intentOf,
  intentResult,
  notAttempted,
  OF_INTENT,
  OF_SESSION,
  sessionResult,
  UNKNOWN,
} from './results.ts';
import { chargeState, type StripeDeps } from './states.ts';
import {
  beginCharge,
  type ChargeKind,
  type ChargeRow,
  findCharge,
  giveUpCharge,
  keepCharge,
} from './store.ts';

/** How long a buyer has on the page. Stripe has no less. */
export const ACTION_MS = 30 * 60_000;
/** By so much a session outlives that: clocks differ, and a lost call is repeated with the same. */
const MARGIN_MS = 5 * 60_000;

/** Characters of a product's name on Stripe's page. */
const NAME_MAX = 250;

/** A payment's id has 36 characters. Stripe takes 255 of an idempotency key, without spaces. */
const KEY = /^[\w-]{1,200}$/;

/** A charge before Stripe is asked for it: where it already is one, what became of it. */
export type Begun =
  | { readonly kind: 'new'; readonly row: ChargeRow; readonly units: number }
  | { readonly kind: 'known'; readonly row: ChargeRow }
  | { readonly kind: 'refused'; readonly result: ChargeResult };

export async function begin(
  { sql, account, clock }: StripeDeps,
  { key, amount, currency }: Pick<ChargeRequest, 'key' | 'amount' | 'currency'>,
  kind: ChargeKind,
): Promise<Begun> {
  if (!KEY.test(key)) return refusedAs('A payment of this name cannot be made.');
  const known = await findCharge(sql, key);
  if (known !== null && (known.stripeId !== null || known.state !== 'open')) {
    return { kind: 'known', row: known };
  }
  if (amount < 0n || (amount === 0n && kind !== 'setup')) {
    return refusedAs('There is nothing to charge.');
  }
  const written = stripeAmount(amount, currency);
  if (written.kind === 'refused') return refusedAs(written.message, 'amount_refused');
  const createdAt = new Date(clock.now());
  const row = await beginCharge(sql, { key, account, kind, currency, createdAt });
  const isNew = row.stripeId === null && row.state === 'open' && row.kind === kind;
  return isNew ? { kind: 'new', row, units: written.units } : { kind: 'known', row };
}

function refusedAs(message: string, code?: FailureCode): Begun {
  return { kind: 'refused', result: notAttempted(message, code) };
}

export async function charge(deps: StripeDeps, request: ChargeRequest): Promise<ChargeResult> {
  const { key, amount, save } = request;
  const begun = await begin(deps, request, amount === 0n && save ? 'setup' : 'session');
  if (begun.kind === 'refused') return begun.result;
  if (begun.kind === 'known') return chargeState(deps, begun.row);
  const { sql, stripe, ask } = deps;
  const create = (params: Stripe.Checkout.SessionCreateParams, idempotencyKey: string) =>
    ask('sessions.create', () => stripe.checkout.sessions.create(params, { idempotencyKey }));
  const params = sessionOf(request, begun, metadataOf(deps.organisationId, key));
  let made = await create(params, key);
  // Stripe has rules of its own for addresses; then the buyer types one there.
  if (made.kind === 'refused' && made.code === 'email_invalid') {
    const { customer_email: _, ...others } = params;
    made = await create(others, `${key}:no_email`);
  }
  if (made.kind === 'unknown') return UNKNOWN;
  if (made.kind !== 'done') return giveUp(deps, key, refusalOf(made, request));
  const { id } = made.value;
  const intent = intentOf(made.value)?.id ?? null;
  return (await keepCharge(sql, { key, stripeId: id, intent }))
    ? sessionResult(made.value)
    : giveBack(deps, { key, id });
}

/** The session came too late: its key was given up, or has another one. Nobody has its address. */
async function giveBack(
  deps: StripeDeps,
  { key, id }: { readonly key: string; readonly id: string },
): Promise<ChargeResult> {
  const row = await findCharge(deps.sql, key);
  if (row?.stripeId !== id) {
    await deps.ask('sessions.expire', () => deps.stripe.checkout.sessions.expire(id));
  }
  return chargeState(deps, row);
}

/**
 * Stripe has not made it. Its key is used up, so that no other call that is still on its way
 * charges after this answer.
 */
export async function giveUp(
  deps: StripeDeps,
  key: string,
  refusal: ChargeResult,
): Promise<ChargeResult> {
  const { sql, account, clock } = deps;
  const row = await giveUpCharge(sql, { key, account, createdAt: new Date(clock.now()) });
  const result = await chargeState(deps, row);
  return result === CANCELED ? refusal : result;
}

export function refusalOf(
  answer: { readonly kind: string; readonly code?: string | null },
  { amount, currency }: Pick<ChargeRequest, 'amount' | 'currency'>,
): ChargeResult {
  if (answer.code === 'amount_too_small') {
    return notAttempted(tooLittle(amount, currency), 'amount_refused');
  }
  if (answer.code === 'amount_too_large') {
    const shown = `${formatMoney(amount, currency)} ${currency}`;
    return notAttempted(`Stripe does not take as much as ${shown}.`, 'amount_refused');
  }
  return notAttempted('The payment could not be processed. Try again in a moment.');
}

type New = Extract<Begun, { kind: 'new' }>;

function sessionOf(
  request: ChargeRequest,
  { row, units }: New,
  metadata: Stripe.MetadataParam,
): Stripe.Checkout.SessionCreateParams {
  const { save, returnUrl, order } = request;
  const common = {
    metadata,
    success_url: returnUrl,
    cancel_url: returnUrl,
    // The same for each call with this key, which Stripe requires of a repeated one.
    expires_at: Math.floor((row.createdAt.getTime() + ACTION_MS + MARGIN_MS) / 1000),
    allowed_payment_method_types: OFFERED,
    ...(order === undefined ? {} : { customer_email: order.email }),
    expand: OF_SESSION,
  } as const satisfies Stripe.Checkout.SessionCreateParams;
  if (row.kind === 'setup') {
    const setup_intent_data = { metadata };
    const currency = request.currency.toLowerCase();
    return { ...common, mode: 'setup', currency, customer_creation: 'always', setup_intent_data };
  }
  const saving = save ? ({ setup_future_usage: 'off_session' } as const) : {};
  const waiting = request.confirms === true ? ({ capture_method: 'manual' } as const) : {};
  return {
    ...common,
    mode: 'payment',
    // The buyer pays the price in its own currency.
    adaptive_pricing: { enabled: false },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: request.currency.toLowerCase(),
          unit_amount: units,
          product_data: { name: order === undefined ? 'Payment' : shortened(order.name) },
        },
      },
    ],
    ...(save ? { customer_creation: 'always' } : {}),
    payment_intent_data: { metadata, ...saving, ...waiting },
    payment_method_options: { card: { capture_method: 'manual' } },
  };
}

/** As much of it as Stripe takes, and no half of a character. */
function shortened(name: string): string {
  return name.slice(0, NAME_MAX).replace(/[\uD800-\uDBFF]$/u, '');
}

/** Charges what the buyer has agreed to. Anything else stays as it is. */
export async function confirmCharge(deps: StripeDeps, key: string): Promise<ChargeResult> {
  const { sql, stripe, ask } = deps;
  const row = await findCharge(sql, key);
  const result = await chargeState(deps, row);
  if (result.kind !== 'requires_confirmation') return result;
  // Without an idempotency key, under which Stripe would repeat a failure of its own for a day: an
  // intent is captured once.
  const captured = await ask('paymentIntents.capture', () =>
    stripe.paymentIntents.capture(result.reference, { expand: OF_INTENT }),
  );
  if (captured.kind === 'done') return intentResult(captured.value);
  return captured.kind === 'unknown' ? UNKNOWN : chargeState(deps, row);
}
