import { recordEach } from '../actor/each-recording.ts';
import { NotOwner } from '../actor/own-slots.ts';
import { isPublished, partsOfEach } from '../actor/unit-size.ts';
import { must } from '../kernel/assert.ts';
import type { EachOutcome, RecordOutcome } from '../outcome.ts';
import { LedgerUnavailable } from '../ports.ts';
import type { SentUsage } from './ops.ts';
import type { Waiting } from './router.ts';
import { allHere, type CallDeps, type CallItem, sharesOf } from './shares.ts';

/**
 * Records each item of a call by itself, in order, on the nodes that own the customers.
 *
 * How: what may be written at once is a part, and the parts go one after the other. Of a part each
 * owner gets its share, which is one flush there. A share whose owner is lost is sent again to the
 * node that owns it by then, for as long as a single call would be.
 *
 * Holds: the outcomes are durable. The items of one customer are decided in their order. Where an
 * owner cannot answer, its items are `unavailable`, and the others stand. Each item has its id
 * before another node is asked, so a repeat counts once.
 */
export async function recordEachEverywhere(
  deps: CallDeps,
  items: readonly CallItem[],
): Promise<readonly EachOutcome[]> {
  const parts = partsOfEach(items, isPublished(deps, items[0]?.customer));
  const outcomes: EachOutcome[] = [];
  for (const part of parts) outcomes.push(...(await recordPart(deps, part)));
  return outcomes;
}

async function recordPart(
  deps: CallDeps,
  items: readonly CallItem[],
): Promise<readonly EachOutcome[]> {
  const here = allHere(deps.member, items);
  if (here === null) return recordElsewhere(deps, items);
  try {
    return await recordEach(here.session, here.items);
  } catch (error) {
    // A customer has moved to another node: nothing was recorded.
    if (error instanceof NotOwner) return recordElsewhere(deps, items);
    const outcome = unavailable(deps, error);
    return items.map(() => outcome);
  }
}

/** An item with its slot, and as it is sent. */
type Placed = {
  readonly item: CallItem;
  readonly slot: number;
  readonly sent: SentUsage;
};

async function recordElsewhere(
  deps: CallDeps,
  items: readonly CallItem[],
): Promise<readonly EachOutcome[]> {
  const { member, router, ids } = deps;
  const placed = items.map((item): Placed => {
    const { customer, meter, request } = item;
    const keyId = request.keyId ?? ids.next();
    const sent = { customerId: customer.id, meter, request: { ...request, keyId } };
    return { item, slot: customer.slot, sent };
  });
  const outcomes = new Map<Placed, EachOutcome>();
  const answer = (share: readonly Placed[], outcomeAt: (index: number) => EachOutcome): void => {
    for (const [index, one] of share.entries()) outcomes.set(one, outcomeAt(index));
  };
  const askOwner = async (share: readonly Placed[], asking: Asking): Promise<void> => {
    let { isRepeat } = asking;
    try {
      const { slot } = must(share[0], 'a share has items');
      const args: [readonly SentUsage[]] = [share.map(({ sent }) => sent)];
      const attempt = await router.attempt(slot, 'recordEach', { args, isRepeat });
      if (attempt.kind === 'answered') {
        return answer(share, (index) => ownOutcome(share[index], attempt.answer[index]));
      }
      isRepeat ||= attempt.kind === 'lost';
      await router.wait(asking.waiting, 'planned_move');
    } catch (error) {
      const outcome = unavailable(deps, error);
      return answer(share, () => outcome);
    }
    // They may have different owners by now.
    await askOwners(share, { ...asking, isRepeat });
  };
  const askOwners = async (share: readonly Placed[], asking: Asking): Promise<void> => {
    await Promise.all(
      sharesOf(member, share).map((part) =>
        askOwner(part, { ...asking, waiting: { ...asking.waiting } }),
      ),
    );
  };
  await askOwners(placed, { waiting: router.startWaiting(), isRepeat: false });
  return placed.map((one) => must(outcomes.get(one), 'each item has an outcome'));
}

/** `isRepeat`: it was asked for before, and the reply was lost. */
type Asking = { readonly waiting: Waiting; readonly isRepeat: boolean };

/** An id of ours belongs to this call alone: where it was used before, it was sent twice. */
function ownOutcome(placed: Placed | undefined, outcome: RecordOutcome | undefined): EachOutcome {
  const { item } = must(placed, 'what was sent');
  const given = must(outcome, 'each item has an answer');
  const isOurs = item.request.keyId === null && 'replayed' in given;
  return isOurs ? { ...given, replayed: false } : given;
}

/** @throws what is no outage: a bug */
function unavailable({ storage }: CallDeps, error: unknown): EachOutcome {
  if (error instanceof LedgerUnavailable) return { kind: 'unavailable', why: error.message };
  if (storage.mayPass(error)) return { kind: 'unavailable', why: 'the database is away' };
  throw error;
}
