// When a request is sent again, and after which wait.
import {
  ConnectionError,
  IdempotencyError,
  RateLimitedError,
  type TollhouseError,
  UnavailableError,
} from './errors.ts';

const FIRST_MS = 50;
const MOST_MS = 2000;

/**
 * Whether another attempt may help. `repeatable`: the request counts once however often it is sent.
 * One that is not is sent again only after a 429, which did nothing.
 */
export function mayRetry(error: TollhouseError, repeatable: boolean): boolean {
  if (error instanceof RateLimitedError) return true;
  if (!repeatable) return false;
  if (error instanceof ConnectionError || error instanceof UnavailableError) return true;
  return error instanceof IdempotencyError && error.type === 'idempotency_in_progress';
}

/**
 * The wait before the next attempt: at least what the answer asked for, and on top a random part
 * that doubles with each attempt, so that those who failed together do not come back together.
 */
export function delayMs(error: TollhouseError, attempt: number, random: () => number): number {
  const jitter = random() * Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
  return (error.retryAfterMs ?? 0) + jitter;
}

/** `Retry-After`: seconds, or a date. Null without one that can be read. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  if (header.trim() !== '' && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
