// What Stripe says to a call: its object, or why not.
//
// Holds: no error of Stripe is thrown. What may have been executed is `unknown`. An error's message
// is neither logged nor shown: it may name a part of a key.
import Stripe from 'stripe';
import type { Log } from '../../../ledger/ports.ts';
import { type Line, NotAsked } from './line.ts';

export type Answer<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** The bank refused: a charge was declined. */
  | { readonly kind: 'declined' }
  /** It cannot be done as asked. Nothing was executed. */
  | { readonly kind: 'refused'; readonly code: string | null }
  /** Not with this key. Nothing was executed. */
  | { readonly kind: 'not_allowed' }
  /** Too many calls at once, or Stripe is silent. Nothing was executed. */
  | { readonly kind: 'not_now' }
  /** No answer, or none that says whether it was executed. */
  | { readonly kind: 'unknown' };

export type Ask = <T>(call: string, ask: () => Promise<T>) => Promise<Answer<T>>;

/** `onFailing`: Stripe does not accept the key. */
export function openAsk({
  line,
  log,
  account,
  onFailing,
}: {
  readonly line: Line;
  readonly log: Log;
  readonly account: string;
  readonly onFailing: () => void;
}): Ask {
  return async (call, ask) => {
    try {
      return { kind: 'done', value: await line.ask(call, ask) };
    } catch (error) {
      const answer = answerTo(error);
      // The line has logged once why nothing is asked.
      if (answer.kind !== 'declined' && !(error instanceof NotAsked)) {
        log.warn({ call, processor: account, ...described(error) }, 'Stripe refused a call');
      }
      if (isOfKey(error)) onFailing();
      return answer;
    }
  };
}

type NotDone = Exclude<Answer<never>, { kind: 'done' }>;

function answerTo(error: unknown): NotDone {
  const { errors } = Stripe;
  if (error instanceof errors.StripeCardError) return { kind: 'declined' };
  if (error instanceof errors.StripeRateLimitError || error instanceof NotAsked) {
    return { kind: 'not_now' };
  }
  if (isOfKey(error)) return { kind: 'not_allowed' };
  // The call that has taken this idempotency key is another one, and may still be under way.
  if (error instanceof errors.StripeIdempotencyError) return { kind: 'unknown' };
  if (error instanceof errors.StripeInvalidRequestError) {
    return { kind: 'refused', code: error.code ?? null };
  }
  return { kind: 'unknown' };
}

/** Whether the key is wrong, has expired or may not do this. */
function isOfKey(error: unknown): boolean {
  const { errors } = Stripe;
  return (
    error instanceof errors.StripeAuthenticationError ||
    error instanceof errors.StripePermissionError
  );
}

function described(error: unknown): Record<string, unknown> {
  if (!(error instanceof Stripe.errors.StripeError)) {
    return { error: error instanceof Error ? error.name : typeof error };
  }
  const { type, code, param, statusCode, requestId } = error;
  return { error: type, code, param, status: statusCode, requestId };
}
