import { Actor } from '../actor/actor.ts';
import { NotOwner } from '../actor/own-slots.ts';
import { type BatchItem, recordBatch } from '../actor/recording.ts';
import type { OwnershipSessionDeps } from '../actor/ownership-session.ts';
import { assert, must } from '../kernel/assert.ts';
import type { Meter } from '../metering/meter.ts';
import type { CallOutcome, EventRefusal, UsageRequest } from '../outcome.ts';
import { type Ids, LedgerUnavailable, mayPass, TooSlow } from '../ports.ts';
import { sizeOfBatch, tooLarge } from '../actor/unit-size.ts';
import type { Found } from './customers.ts';
import type { Member } from './member.ts';
import type { OpAnswer, SentItem } from './ops.ts';
import type { Router } from './router.ts';

/** An item that `follows` is of the same event as the one before it, and counts if that one does. */
export type Item = {
  readonly customer: Found;
  readonly meter: Meter;
  readonly request: UsageRequest;
  readonly follows: boolean;
};

type Deps = {
  readonly member: Member;
  readonly router: Router;
  readonly ids: Ids;
  readonly wantsUsage: OwnershipSessionDeps['wantsUsage'];
};

/**
 * Records all of these or, where one is refused, none, wherever their customers live. Where that is on several nodes, each is asked
 * first whether it would refuse; then each records its share.
 *
 *     wouldRefuse ─▶ any refuses, or cannot say: nothing is recorded
 *                 ─▶ recordAll: a share that is lost, or refused for now, is asked for again of whoever owns it then
 *
 * Holds: asked for again is the same as once, because each item has its id before anybody is asked. One share is one flush, whole or not
 * at all, so what became of it is the caller's to ask.
 *
 * Of a partial call nothing is asked first: each share leaves out the events that it refuses.
 *
 * Does not hold: a total that goes out of range between the two, or a share that cannot be recorded until the call's time is over, is
 * answered as unavailable while the other shares stand. What has keys may be sent again then.
 */
export async function recordEverywhere(
  deps: Deps,
  items: readonly Item[],
  isPartial: boolean,
): Promise<CallOutcome> {
  const { member } = deps;
  // A call is one tenant's. As a whole, before any of its shares is recorded.
  const isTold = items.slice(0, 1).some(({ customer }) => deps.wantsUsage(customer.customer));
  const why = tooLarge(sizeOfBatch(items, isTold));
  if (why !== null) return { kind: 'too_large', why };
  const here = actorsHere(member, items);
  if (here !== null && member.session !== null) {
    try {
      return await recordBatch(member.session, here, isPartial);
    } catch (error) {
      // Some moved meanwhile: nothing was recorded.
      if (!(error instanceof NotOwner)) throw error;
    }
  }
  const placed = placedOf(deps.ids, items);
  const fresh = placed.filter((one) => one.isFirst);
  if (!isPartial && sharesOf(member, fresh).length > 1) {
    const { answered } = await askAll(deps, 'wouldRefuse', fresh, isPartial);
    for (const { share, answer } of answered) {
      if (answer !== null) return { ...answer, index: share[answer.index]?.index ?? 0 };
    }
  }
  const { answered, isSplit } = await askAll(deps, 'recordAll', fresh, isPartial);
  const duplicates = new Set<number>();
  // By the id that was asked for: the one that it is recorded by.
  const recorded = new Map<string, string>();
  const refused = new Map<string, EventRefusal>();
  for (const { share, answer } of answered) {
    if (answer.kind !== 'recorded') {
      if (isSplit) throw new LedgerUnavailable('a part of it cannot be recorded now');
      return { ...answer, index: share[answer.index]?.index ?? 0 };
    }
    assert(answer.items.length === share.length, 'each item has an answer');
    for (const [place, { id, duplicate, refused: refusal }] of answer.items.entries()) {
      const one = must(share[place], 'what was answered');
      recorded.set(keyOf(one), id);
      if (refusal !== undefined) refused.set(keyOf(one), refusal);
      // Without a key of its own it is this call's alone: an answer was lost, and it was asked for again.
      if (duplicate && one.isKeyed) duplicates.add(one.index);
    }
  }
  return {
    kind: 'recorded',
    items: placed.map((one) => {
      const id = recorded.get(keyOf(one)) ?? keyOf(one);
      const refusal = refused.get(keyOf(one));
      if (refusal !== undefined) return { id, duplicate: false, refused: refusal };
      return { id, duplicate: !one.isFirst || duplicates.has(one.index) };
    }),
  };
}

const keyOf = ({ sent }: Placed): string => must(sent.request.keyId, 'the id of an item');

/** An item as it travels. */
type Placed = {
  readonly index: number;
  readonly slot: number;
  readonly sent: SentItem;
  readonly isKeyed: boolean;
  /** Whether neither it nor what it follows has a key that stood before it in the call. */
  readonly isFirst: boolean;
};

function placedOf(ids: Ids, items: readonly Item[]): readonly Placed[] {
  const seen = new Set<string>();
  let isHeadFirst = true;
  return items.map(({ customer: { customer }, request, ...rest }, index) => {
    const isKeyed = request.keyId !== null;
    const keyId = request.keyId ?? ids.next();
    const isFirst = !seen.has(keyId) && (!rest.follows || isHeadFirst);
    if (!rest.follows) isHeadFirst = isFirst;
    seen.add(keyId);
    const sent = { ...rest, customerId: customer.id, request: { ...request, keyId } };
    return { index, slot: customer.slot, sent, isKeyed, isFirst };
  });
}

/** What one node is asked about. */
type Share = readonly Placed[];

function sharesOf(member: Member, placed: readonly Placed[]): readonly Share[] {
  const byNode = Map.groupBy(placed, ({ slot }) => {
    const location = member.locate(slot);
    // What nobody serves now is waited for, slot by slot.
    if (location.kind === 'nowhere') return String(slot);
    return location.kind === 'there' ? location.address : 'here';
  });
  return [...byNode.values()];
}

/** Asks the owners of all of these, and again whoever owns what has no answer yet. @throws LedgerUnavailable */
async function askAll<N extends 'wouldRefuse' | 'recordAll'>(
  { member, router }: Deps,
  name: N,
  placed: readonly Placed[],
  isPartial: boolean,
): Promise<{
  readonly answered: readonly { readonly share: Share; readonly answer: OpAnswer<N> }[];
  /** Whether several were ever asked at once, be it that one owns all by now. */
  readonly isSplit: boolean;
}> {
  const answered: { share: Share; answer: OpAnswer<N> }[] = [];
  const waiting = router.startWaiting();
  let isRepeat = false;
  let isSplit = false;
  for (let left = placed; left.length > 0;) {
    const shares = sharesOf(member, left);
    isSplit ||= name === 'recordAll' && shares.length > 1;
    const asked = await askOnce(router, name, { shares, isRepeat, isSplit, isPartial });
    left = asked
      .flatMap(({ share, found }) => (found.kind === 'answered' ? [] : share))
      .toSorted((a, b) => a.index - b.index);
    for (const { share, found } of asked) {
      if (found.kind === 'answered') answered.push({ share, answer: found.answer as OpAnswer<N> });
      else isRepeat ||= found.kind === 'lost';
    }
    // One may be recorded: then the others are, too.
    const isBegun = isSplit && (isRepeat || answered.length > 0);
    if (left.length > 0) await router.wait(waiting, isBegun ? 'takeover' : 'planned_move');
  }
  return { answered, isSplit };
}

async function askOnce(
  router: Router,
  name: 'wouldRefuse' | 'recordAll',
  { shares, isRepeat, isSplit, isPartial }: Asking,
) {
  return Promise.all(
    shares.map(async (share) => {
      const { slot } = must(share[0], 'a share is about something');
      const sent = share.map((one) => one.sent);
      try {
        const found =
          name === 'recordAll'
            ? await router.attempt(slot, name, { args: [sent, isPartial], isRepeat })
            : await router.attempt(slot, name, { args: [sent], isRepeat });
        return { share, found };
      } catch (error) {
        // It may have been recorded, or may be by asking again; but what was too slow for one is so for its heir.
        if (isSplit && mayPass(error) && !(error instanceof TooSlow))
          return { share, found: { kind: 'lost' } as const };
        throw error;
      }
    }),
  );
}

type Asking = {
  readonly shares: readonly Share[];
  readonly isRepeat: boolean;
  /** Whether there are others, which may be recorded whatever becomes of one. */
  readonly isSplit: boolean;
  readonly isPartial: boolean;
};

/** Their actors, where all live here, as they do where there is one node. */
function actorsHere(member: Member, items: readonly Item[]): readonly BatchItem[] | null {
  const found: BatchItem[] = [];
  for (const { customer, ...item } of items) {
    if (!(customer instanceof Actor) || member.locate(customer.slot).kind !== 'here') return null;
    found.push({ ...item, actor: customer });
  }
  return found;
}
