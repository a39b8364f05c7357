// Idempotency keys: the first answer to a key is the answer for a day, a 500 too.
import { Refusal } from './errors.ts';

export type Stored = { readonly status: number; readonly body: string };

type Entry = { readonly fingerprint: string; readonly sinceMs: number; answer: Stored | null };

const REMEMBERED_MS = 24 * 60 * 60 * 1000;
const KEY_MAX = 255;

export type Idempotency = {
  /**
   * What was answered to this key before, or null where it is new: then it is in use until
   * `finish`. Throws Stripe's refusal for another request of the same key, or one in progress.
   */
  begin(key: string, fingerprint: string): Stored | null;
  /** null: nothing had executed, so the key is free again. */
  finish(key: string, answer: Stored | null): void;
};

export function openIdempotency(nowMs: () => number): Idempotency {
  const entries = new Map<string, Entry>();
  return {
    begin(key, fingerprint) {
      if (key.length > KEY_MAX) {
        throw new Refusal(
          400,
          {
            type: 'invalid_request_error',
            message: `An idempotency key can have up to ${KEY_MAX} characters.`,
          },
          false,
        );
      }
      const known = entries.get(key);
      if (known === undefined || isForgotten(known, nowMs())) {
        entries.set(key, { fingerprint, sinceMs: nowMs(), answer: null });
        return null;
      }
      if (known.fingerprint !== fingerprint) throw otherParameters(key);
      if (known.answer === null) throw inUse(key);
      return known.answer;
    },
    finish(key, answer) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      if (answer === null) entries.delete(key);
      else entry.answer = answer;
    },
  };
}

function isForgotten(entry: Entry, nowMs: number): boolean {
  return entry.answer !== null && nowMs - entry.sinceMs >= REMEMBERED_MS;
}

function otherParameters(key: string): Refusal {
  return new Refusal(
    400,
    {
      type: 'idempotency_error',
      message:
        'Keys for idempotent requests can only be used with the same parameters they were first ' +
        `used with. Use a key other than '${key}' for another request.`,
    },
    false,
  );
}

function inUse(key: string): Refusal {
  return new Refusal(
    409,
    {
      type: 'invalid_request_error',
      code: 'idempotency_key_in_use',
      message: `Another request with the idempotency key '${key}' is in progress. Try again later.`,
    },
    false,
  );
}
