// What follows from an attempt at a delivery (docs/spec/events.md#deliveries). Pure.
//
// Retry n waits min(5 s x 2^(n-1), 3 h). Jitter only shortens a wait. A receiver's Retry-After only
// lengthens it, up to 3 h. Nothing is sent later than 24 hours after the first attempt. Without
// jitter retries come after 5, 15, 35, 75, 155, 315, 635 s, 21 m 15 s, 42 m 35 s, 1 h 25 m 15 s,
// 2 h 50 m 35 s, 5 h 41 m 15 s, and then every 3 h; the last one after 23 h 41 m 15 s.
import { type Backoff, waitAfter } from './backoff.ts';

const BACKOFF: Backoff = { baseMs: 5000, waitMsMax: 3 * 3_600_000 };
/** From the first attempt on. */
export const WINDOW_MS = 24 * 3_600_000;
const GONE = 410;

export type Verdict =
  | { readonly kind: 'delivered' }
  /** The receiver answered 410: it is gone for good, and its endpoint is disabled. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'retry'; readonly at: number }
  | { readonly kind: 'exhausted' };

export function judge(attempt: {
  /** Attempts made, this one included. */
  readonly attempts: number;
  /** When the first of them was made, in milliseconds. */
  readonly firstAt: number;
  /** When this one ended. */
  readonly at: number;
  /** null: no answer came. */
  readonly statusCode: number | null;
  /** The receiver's header, as it came. */
  readonly retryAfter: string | null;
  /** 0 to 1. */
  readonly random: number;
}): Verdict {
  const { attempts, firstAt, at, statusCode, retryAfter, random } = attempt;
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { kind: 'delivered' };
  if (statusCode === GONE) return { kind: 'gone' };
  const wait = waitAfter(BACKOFF, attempts, random);
  const last = firstAt + WINDOW_MS;
  if (at + wait > last) return { kind: 'exhausted' };
  const asked = Math.min(askedWait(retryAfter, at), BACKOFF.waitMsMax);
  return { kind: 'retry', at: Math.min(at + Math.max(wait, asked), last) };
}

/** Retry-After is seconds or a date (RFC 9110, 10.2.3); 0 where it is neither. */
function askedWait(retryAfter: string | null, now: number): number {
  const text = retryAfter?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
