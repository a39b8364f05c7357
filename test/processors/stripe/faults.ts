// What a test lets go wrong: lost requests and answers, errors, delays, and Stripe being away.
import { lockTimeout, rateLimited, Refusal, serverError } from './errors.ts';
import type { ErrorBody } from './types.ts';

export type Match = {
  readonly method: string;
  /** Of the path, such as `/v1/refunds`. */
  readonly path: RegExp;
  /** How many calls it is for; 1 by default. */
  readonly count?: number;
};

export type How =
  /** The connection ends before anything is done. */
  | 'lose_request'
  /** All is done, and the connection ends without an answer. */
  | 'lose_answer'
  /** A 500, kept under the idempotency key, and nothing is done. */
  | 'error_500'
  /** All is done, and answered by a 500, which is kept under the idempotency key. */
  | 'error_500_after'
  | 'rate_limit'
  | 'lock_timeout'
  /** The call waits, with its idempotency key in use, and is done then. */
  | { readonly hangMs: number }
  /** The same, until a test lets it go on. */
  | { readonly until: Promise<void> }
  /** Any other error; 402 for a card error, else 400. Nothing is done. */
  | { readonly error: ErrorBody & { readonly status?: number } };

export type Faults = {
  next(match: Match, how: How): void;
  /** What goes wrong with this request; null: nothing. */
  take(method: string, path: string): How | null;
  isAway: boolean;
  slowMs: number;
};

export function openFaults(): Faults {
  const planned: { match: Match; how: How; left: number }[] = [];
  return {
    next(match, how) {
      planned.push({ match, how, left: match.count ?? 1 });
    },
    take(method, path) {
      const found = planned.find(
        ({ match, left }) => left > 0 && match.method === method && match.path.test(path),
      );
      if (found === undefined) return null;
      found.left -= 1;
      return found.how;
    },
    isAway: false,
    slowMs: 0,
  };
}

/** The wait of a call before it is done. */
export async function hang(faults: Faults, how: How | null): Promise<void> {
  if (faults.slowMs > 0) await Bun.sleep(faults.slowMs);
  if (how === null || typeof how === 'string') return;
  if ('hangMs' in how) await Bun.sleep(how.hangMs);
  if ('until' in how) await how.until;
}

/** The refusal that takes the place of the call. */
export function refusalOf(how: How): Refusal | null {
  if (how === 'error_500') return serverError();
  if (how === 'rate_limit') return rateLimited();
  if (how === 'lock_timeout') return lockTimeout();
  if (typeof how === 'string' || !('error' in how)) return null;
  const { status, ...body } = how.error;
  return new Refusal(status ?? (body.type === 'card_error' ? 402 : 400), body, true);
}
