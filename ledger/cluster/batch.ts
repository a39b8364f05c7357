import { type Deduped, dedupe, isFresh } from '../actor/dedupe.ts';
import { NotOwner } from '../actor/own-slots.ts';
import { recordBatch } from '../actor/batch-recording.ts';
import { assert, must } from '../kernel/assert.ts';
import type { BatchOutcome, CallOutcome, EventRefusal } from '../outcome.ts';
import { LedgerUnavailable, TooSlow } from '../ports.ts';
import { isPublished, sizeOfBatch, tooLarge } from '../actor/unit-size.ts';
import type { OpAnswer, OpName, SentItem } from './ops.ts';
import type { Attempt } from './router.ts';
import { allHere, type CallDeps, type CallItem, sharesOf } from './shares.ts';

/**
 * An item that `follows` belongs to the event of the item before it, and counts if that one does.
 */
export type Item = CallItem & { readonly follows: boolean };

/**
 * Records all items of a call or, where one is refused, none, on the nodes that own the customers.
 *
 *     one node:      recordAll
 *     several nodes: wouldRefuse of each share ─▶ one refuses: nothing is recorded
 *                                              ─▶ none does: recordAll of each share
 *
 * A share whose owner is lost, or cannot answer now, is sent again to the node that owns it by
 * then.
 *
 * Holds: each item has its id before the first request, so a repeat counts once. One share is one
 * flush: it is recorded as a whole or not at all.
 *
 * A partial call skips `wouldRefuse`: each share leaves out the events that it refuses.
 *
 * Does not: make shares of several nodes one transaction. A total that leaves its range between the
 * two steps, or a share that cannot be recorded before the call gives up, is answered as
 * unavailable while the other shares stay recorded. A caller with keys sends the call again.
 */
export async function recordEverywhere(
  deps: CallDeps,
  items: readonly Item[],
  isPartial: boolean,
): Promise<CallOutcome> {
  const { member } = deps;
  // The size counts for the call as a whole.
  const why = tooLarge(sizeOfBatch(items, isPublished(deps, items[0]?.customer)));
  if (why !== null) return { kind: 'too_large', why };
  const here = allHere(member, items);
  if (here !== null) {
    try {
      return await recordBatch(here.session, here.items, isPartial);
    } catch (error) {
      // A customer has moved to another node: nothing was recorded.
      if (!(error instanceof NotOwner)) throw error;
    }
  }
  return recordElsewhere(deps, items, isPartial);
}

async function recordElsewhere(
  deps: CallDeps,
  items: readonly Item[],
  isPartial: boolean,
): Promise<BatchOutcome> {
  const { member, router, ids } = deps;
  const placed = dedupe(items, () => ids.next()).all.map(placedOf);
  const fresh = placed.filter(({ item }) => isFresh(item, NONE_USED));
  if (!isPartial && sharesOf(member, fresh).length > 1) {
    const { answered } = await askOwners(deps, fresh, {
      ask: (slot, args, isRepeat) =>
        router.attempt(slot, 'wouldRefuse', { args: [args], isRepeat }),
      records: false,
    });
    for (const { share, answer } of answered) if (answer !== null) return refusalOf(share, answer);
  }
  const { answered, spread } = await askOwners(deps, fresh, {
    ask: (slot, args, isRepeat) =>
      router.attempt(slot, 'recordAll', { args: [args, isPartial], isRepeat }),
    records: true,
  });
  const recorded: RecordedShare[] = [];
  for (const { share, answer } of answered) {
    if (answer.kind === 'recorded') recorded.push({ share, items: answer.items });
    else if (spread === 'one_node') return refusalOf(share, answer);
    else throw new LedgerUnavailable('a part of it cannot be recorded now');
  }
  return outcomeOf(placed, recorded);
}

const NONE_USED: ReadonlyMap<string, unknown> = new Map();

type Refused = Exclude<BatchOutcome, { kind: 'recorded' }>;

/** The refusal of a share, about the item of the call. */
function refusalOf(share: Share, refusal: Refused): Refused {
  return { ...refusal, index: share[refusal.index]?.item.index ?? 0 };
}

type ItemOutcome = Extract<BatchOutcome, { kind: 'recorded' }>['items'][number];
type RecordedShare = { readonly share: Share; readonly items: readonly ItemOutcome[] };

function outcomeOf(placed: readonly Placed[], shares: readonly RecordedShare[]): BatchOutcome {
  const duplicates = new Set<number>();
  // By the id that was sent: the id that the item is recorded by.
  const recorded = new Map<string, string>();
  const refused = new Map<string, EventRefusal>();
  for (const { share, items } of shares) {
    assert(items.length === share.length, 'each item has an answer');
    for (const [place, { id, duplicate, refused: refusal }] of items.entries()) {
      const { item } = must(share[place], 'what was answered');
      recorded.set(item.id, id);
      if (refusal !== undefined) refused.set(item.id, refusal);
      // Without a key from the caller the id belongs to this call alone: a reply was lost, and the
      // request was sent again.
      if (duplicate && item.request.keyId !== null) duplicates.add(item.index);
    }
  }
  return {
    kind: 'recorded',
    items: placed.map(({ item }) => {
      const id = recorded.get(item.id) ?? item.id;
      const refusal = refused.get(item.id);
      if (refusal !== undefined) return { id, duplicate: false, refused: refusal };
      return { id, duplicate: !isFresh(item, NONE_USED) || duplicates.has(item.index) };
    }),
  };
}

/** An item with its slot, and as it is sent. */
type Placed = { readonly item: Deduped<Item>; readonly slot: number; readonly sent: SentItem };

function placedOf(item: Deduped<Item>): Placed {
  const { customer, meter, follows, request, id } = item;
  const { id: customerId, slot } = customer.customer;
  const sent = { meter, follows, customerId, request: { ...request, keyId: id } };
  return { item, slot, sent };
}

/** The items that one node is asked about. */
type Share = readonly Placed[];

/** What each owner is asked about its share. */
type Question<N extends OpName> = {
  readonly ask: (
    slot: number,
    items: readonly SentItem[],
    isRepeat: boolean,
  ) => Promise<Attempt<N>>;
  /** Whether the op records the share. */
  readonly records: boolean;
};

/**
 * Over how many nodes a call spreads what it records.
 *
 *     one_node ─▶ several_nodes ─▶ begun
 *
 * It stays `several_nodes` although one node may own all of the rest by then.
 */
type Spread =
  /** One node records the whole call or nothing. */
  | 'one_node'
  /** Several nodes are asked, and no share is known to be recorded. */
  | 'several_nodes'
  /** Several nodes are asked, and a share may be recorded: the others must be, too. */
  | 'begun';

type Answered<N extends OpName> = { readonly share: Share; readonly answer: OpAnswer<N> };

/** Asks the owner of each item until all have answered. @throws LedgerUnavailable */
async function askOwners<N extends OpName>(
  { member, router, storage }: CallDeps,
  placed: readonly Placed[],
  { ask, records }: Question<N>,
): Promise<{ readonly answered: readonly Answered<N>[]; readonly spread: Spread }> {
  const answered: Answered<N>[] = [];
  const waiting = router.startWaiting();
  let spread: Spread = 'one_node';
  let isRepeat = false;
  for (let left = placed; left.length > 0;) {
    const shares = sharesOf(member, left);
    if (records && shares.length > 1 && spread === 'one_node') spread = 'several_nodes';
    const asking: Asking<N> = { ask, isRepeat, spread, storage };
    const attempts = await Promise.all(shares.map((share) => attemptShare(share, asking)));
    left = attempts
      .flatMap(({ share, attempt }) => (attempt.kind === 'answered' ? [] : share))
      .toSorted((a, b) => a.item.index - b.item.index);
    for (const { share, attempt } of attempts) {
      if (attempt.kind === 'answered') answered.push({ share, answer: attempt.answer });
      else isRepeat ||= attempt.kind === 'lost';
    }
    if (spread === 'several_nodes' && (isRepeat || answered.length > 0)) spread = 'begun';
    if (left.length > 0) {
      await router.wait(waiting, spread === 'begun' ? 'takeover' : 'planned_move');
    }
  }
  return { answered, spread };
}

type Asking<N extends OpName> = Pick<Question<N>, 'ask'> & {
  readonly isRepeat: boolean;
  readonly spread: Spread;
  readonly storage: CallDeps['storage'];
};

async function attemptShare<N extends OpName>(
  share: Share,
  { ask, isRepeat, spread, storage }: Asking<N>,
): Promise<{ readonly share: Share; readonly attempt: Attempt<N> }> {
  const { slot } = must(share[0], 'a share has items');
  const sent = share.map((one) => one.sent);
  try {
    return { share, attempt: await ask(slot, sent, isRepeat) };
  } catch (error) {
    // The share may be recorded, or may be with the next attempt. A share that was too slow for one
    // node is too slow for the next owner.
    const mayPass = error instanceof LedgerUnavailable || storage.mayPass(error);
    if (spread === 'one_node' || !mayPass || error instanceof TooSlow) throw error;
    return { share, attempt: { kind: 'lost' } };
  }
}
