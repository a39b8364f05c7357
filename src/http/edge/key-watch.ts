// Watches keys: tells an answer that stays open that its key has ended.
//
// Who calls: the stream of events. A request that ends by itself needs nothing of this.
// How: what invalidates the cache of keys (src/platform/postgres/changes.ts) makes this ask the
// database about the keys that are watched, many to a query and one query at a time; an expiry is a
// timer. A key is asked about once when it is first watched: it may have ended since its request
// was admitted.
// Holds: `onEnd` is called once, within a second of the revocation or the expiry, on every node. It
// is not called after it was given back. Where the database does not answer, a key counts as ended
// unless changes are not heard either: then the next beat asks again.
// Does not: bound how many watch. That is for what stays open.
import { DAY_MS } from '../../../ledger/kernel/durations.ts';
import type { Clock, Timers } from '../../../ledger/ports.ts';
import type { Changes } from '../../platform/postgres/changes.ts';

/** Calls `onEnd` when the key is revoked or expires. Returns what ends the watch. */
export type WatchKey = (keyId: string, onEnd: () => void) => () => void;

export type KeyWatchOptions = {
  /** Of these keys the ones that are not revoked, and when they expire (null: never). */
  readonly findEnds: (keyIds: readonly string[]) => Promise<ReadonlyMap<string, number | null>>;
  readonly changes: Pick<Changes, 'subscribe' | 'trusted'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly timers: Timers;
  readonly warn: (fields: Record<string, unknown>, message: string) => void;
};

type Watched = { readonly ends: Set<() => void>; cancelExpiry: () => void };

const KEYS_AT_ONCE = 500;
/** A timer holds 24 days at most. */
const EXPIRY_MS_MAX = DAY_MS;

export function openKeyWatch(options: KeyWatchOptions): WatchKey {
  const watches = new KeyWatches(options);
  options.changes.subscribe(watches);
  return (keyId, onEnd) => watches.watch(keyId, onEnd);
}

class KeyWatches {
  readonly #options: KeyWatchOptions;
  readonly #watched = new Map<string, Watched>();
  /** To ask about. */
  readonly #due = new Set<string>();
  #isAsking = false;

  constructor(options: KeyWatchOptions) {
    this.#options = options;
  }

  watch(keyId: string, onEnd: () => void): () => void {
    const watched = this.#watched.get(keyId) ?? this.#begin(keyId);
    // Two watches may be given the same function.
    const end = (): void => onEnd();
    watched.ends.add(end);
    return () => {
      watched.ends.delete(end);
      if (watched.ends.size === 0 && this.#watched.get(keyId) === watched) this.#forget(keyId);
    };
  }

  changed(kind: string, id: string): void {
    if (kind === 'api_key' && this.#watched.has(id)) this.#ask(id);
  }

  reset(): void {
    for (const keyId of this.#watched.keys()) this.#ask(keyId);
  }

  #begin(keyId: string): Watched {
    const watched = { ends: new Set<() => void>(), cancelExpiry: () => undefined };
    this.#watched.set(keyId, watched);
    this.#ask(keyId);
    return watched;
  }

  #forget(keyId: string): void {
    this.#watched.get(keyId)?.cancelExpiry();
    this.#watched.delete(keyId);
    this.#due.delete(keyId);
  }

  /** What is asked while an answer is on its way is asked again after it, which may be stale. */
  #ask(keyId: string): void {
    this.#due.add(keyId);
    if (this.#isAsking) return;
    this.#askAll().catch((error: unknown) => {
      this.#options.warn({ err: error }, 'what watched a key failed as the key ended');
    });
  }

  async #askAll(): Promise<void> {
    this.#isAsking = true;
    try {
      while (this.#due.size > 0) {
        const keyIds = [...this.#due].slice(0, KEYS_AT_ONCE);
        for (const keyId of keyIds) this.#due.delete(keyId);
        const ends = await this.#options.findEnds(keyIds).catch(() => null);
        if (ends === null && !this.#options.changes.trusted) continue;
        for (const keyId of keyIds) this.#learn(keyId, ends?.get(keyId));
      }
    } finally {
      this.#isAsking = false;
    }
  }

  /** `expiresAt` is undefined where the key is no more. */
  #learn(keyId: string, expiresAt: number | null | undefined): void {
    const watched = this.#watched.get(keyId);
    if (watched === undefined) return;
    watched.cancelExpiry();
    if (expiresAt === null) return;
    const left = expiresAt === undefined ? 0 : expiresAt - this.#options.clock.now();
    if (left > 0) {
      const ask = () => this.#ask(keyId);
      watched.cancelExpiry = this.#options.timers.after(Math.min(left, EXPIRY_MS_MAX), ask);
      return;
    }
    this.#forget(keyId);
    for (const end of watched.ends) end();
  }
}
