import { Actor } from '../actor/actor.ts';
import type { OwnershipSession, OwnershipSessionDeps } from '../actor/ownership-session.ts';
import type { Meter } from '../metering/meter.ts';
import type { UsageRequest } from '../outcome.ts';
import type { Ids } from '../ports.ts';
import type { Storage } from '../storage.ts';
import type { Found } from './customers.ts';
import type { Member } from './member.ts';
import type { Router } from './router.ts';

// Which node is asked about which items of a call.

/** One usage of a call. */
export type CallItem = {
  readonly customer: Found;
  readonly meter: Meter;
  readonly request: UsageRequest;
};

/** What a call about many customers needs. */
export type CallDeps = {
  readonly member: Member;
  readonly router: Router;
  readonly ids: Ids;
  readonly wants: OwnershipSessionDeps['wants'];
  readonly storage: Pick<Storage, 'mayPass'>;
};

/** The items by their owners, each in the order of the call. */
export function sharesOf<P extends { readonly slot: number }>(
  member: Member,
  placed: readonly P[],
): readonly (readonly P[])[] {
  const byNode = Map.groupBy(placed, ({ slot }) => {
    const location = member.locate(slot);
    // A slot that no node serves now is waited for by itself.
    if (location.kind === 'nowhere') return String(slot);
    return location.kind === 'there' ? location.address : 'here';
  });
  return [...byNode.values()];
}

type Here<I> = {
  readonly session: OwnershipSession;
  readonly items: readonly (I & { readonly actor: Actor })[];
};

/** All items with their actors, where all live here, as on a node that is alone; else null. */
export function allHere<I extends { readonly customer: Found }>(
  member: Member,
  items: readonly I[],
): Here<I> | null {
  const [first] = items;
  const location = first === undefined ? null : member.locate(first.customer.slot);
  if (location?.kind !== 'here') return null;
  const { session } = location;
  const found: (I & { readonly actor: Actor })[] = [];
  for (const item of items) {
    const { customer: actor } = item;
    if (!(actor instanceof Actor) || !session.store.slots.has(actor.slot)) return null;
    found.push({ ...item, actor });
  }
  return { session, items: found };
}
