import { assert } from '../kernel/assert.ts';
import type { UsageRequest } from '../outcome.ts';

type Keyable = { readonly request: Pick<UsageRequest, 'keyId'>; readonly follows: boolean };

/** An item of a call, under the id that it is recorded by. */
export type Deduped<I> = I & {
  /** The id that its key gives, or a new one. */
  readonly id: string;
  readonly index: number;
  /** The first item of its event; null where that is this item. */
  readonly head: Deduped<I> | null;
  /** Whether no item before it has its key. */
  readonly isFirst: boolean;
};

/** The items of a call, and the first item of each key that the caller gave. */
export type Dedupe<I> = {
  readonly all: readonly Deduped<I>[];
  readonly keys: ReadonlyMap<string, Deduped<I>>;
};

/** Finds the items of a call that repeat a key of an item before them. */
export function dedupe<I extends Keyable>(items: readonly I[], newId: () => string): Dedupe<I> {
  const keys = new Map<string, Deduped<I>>();
  let head: Deduped<I> | null = null;
  const all = items.map((item, index) => {
    assert(!item.follows || head !== null, 'a batch begins with an event');
    const { keyId } = item.request;
    const deduped: Deduped<I> = {
      ...item,
      id: keyId ?? newId(),
      index,
      head: item.follows ? head : null,
      isFirst: keyId === null || !keys.has(keyId),
    };
    if (!item.follows) head = deduped;
    if (keyId !== null && deduped.isFirst) keys.set(keyId, deduped);
    return deduped;
  });
  return { all, keys };
}

/**
 * Whether the item counts: no item before it has its key, its key was not `used` by an earlier
 * call, and the first item of its event counts.
 */
export function isFresh<I>(item: Deduped<I>, used: ReadonlyMap<string, unknown>): boolean {
  const { head, id, isFirst } = item;
  return isFirst && !used.has(id) && (head === null || isFresh(head, used));
}
