import type { Ids } from '../ports.ts';

/** Ids derived from what they name. The same parts give the same id, so nothing is made twice. */

type Key = { readonly customerId: string; readonly meterId: string };

/** The account of a customer's meter in the period that starts at `start`, milliseconds. */
export function periodAccountId(ids: Ids, key: Key & { readonly start: number }): string {
  return ids.derive('period', key.customerId, key.meterId, String(key.start));
}

/** The object that a customer's events on a meter are about. */
export function entitlementId(ids: Ids, { customerId, meterId }: Key): string {
  return ids.derive('entitlement', customerId, meterId);
}

/** The other side of all usage of a meter that a node writes: one account for each of its seats. */
export function usageAccountId(ids: Ids, meterId: string, node: number): string {
  return ids.derive('usage', meterId, String(node));
}
