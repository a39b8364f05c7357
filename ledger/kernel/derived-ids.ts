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

/** What a transfer of a reservation is for. Its first hold has the id of the reservation. */
type ReservationMove =
  | 'void'
  | 'commit'
  | 'commit hold'
  | 'excess'
  | 'excess hold'
  | `hold ${number}`
  | `extended ${number}`;

export function reservationTransferId(ids: Ids, what: ReservationMove, id: string): string {
  return ids.derive('reservation', what, id);
}

/** Every transfer that a reservation may have. */
export function reservationTransferIds(
  ids: Ids,
  { id, extensions }: { readonly id: string; readonly extensions: number },
): string[] {
  const moves: ReservationMove[] = ['void', 'commit', 'commit hold', 'excess', 'excess hold'];
  for (let count = 1; count <= extensions; count += 1) {
    moves.push(`hold ${count}`, `extended ${count}`);
  }
  return [id, ...moves.map((what) => reservationTransferId(ids, what, id))];
}

/** The other side of all usage of a meter that a node writes: one account for each of its seats. */
export function usageAccountId(ids: Ids, meterId: string, node: number): string {
  return ids.derive('usage', meterId, String(node));
}
