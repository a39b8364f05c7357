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

/** A request, as far as it tells one call from another. */
export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly idempotencyKey: string | undefined;
  /** Whether Stripe's package has sent it. */
  readonly isOfPackage: boolean;
};

export type Faults = {
  next(match: Match, how: How): void;
  /** Whether it is the package's own repetition of one whose connection was ended. */
  isRepeat(sent: Sent): boolean;
  /** What goes wrong with this request; null: nothing. */
  take(sent: Sent): How | null;
  /**
   * The connection of this request was ended. Stripe's package then sends it once more by itself,
   * and a call whose answer is lost has lost that one, too.
   */
  lost(sent: Sent, how: 'lose_request' | 'lose_answer'): void;
  isAway: boolean;
  slowMs: number;
};

export function openFaults(): Faults {
  const planned: { match: Match; how: How; left: number }[] = [];
  const repeats = new Map<string, How>();
  return {
    next(match, how) {
      planned.push({ match, how, left: match.count ?? 1 });
    },
    isRepeat: (sent) => repeats.has(callOf(sent)),
    take(sent) {
      const { method, path } = sent;
      const repeated = repeats.get(callOf(sent));
      if (repeated !== undefined) {
        repeats.delete(callOf(sent));
        return repeated;
      }
      const found = planned.find(
        ({ match, left }) => left > 0 && match.method === method && match.path.test(path),
      );
      if (found === undefined) return null;
      found.left -= 1;
      return found.how;
    },
    lost(sent, how) {
      if (sent.isOfPackage) repeats.set(callOf(sent), how);
    },
    isAway: false,
    slowMs: 0,
  };
}

function callOf({ method, path, query, idempotencyKey }: Sent): string {
  return JSON.stringify([method, path, query, idempotencyKey]);
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
