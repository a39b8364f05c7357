// Records the usage of a batch in one unit: all of it or none; of a partial batch, the events that
// are not refused.
//
// Keys count as in `recording.ts`. Items with the same key are one event: the first one counts,
// with all of its meters. Keys that earlier calls used are left out of the unit, and named in the
// outcome.
import { decideUsage, missing } from '../metering/usage.ts';
import { type BatchOutcome, type EventRefusal, STALE } from '../outcome.ts';
import type { Actor } from './actor.ts';
import { AlertBudget } from './alert-budget.ts';
import { DueBudget } from './due-budget.ts';
import { type Dedupe, type Deduped, dedupe, isFresh } from './dedupe.ts';
import { RETRY, type Task } from './executor.ts';
import { holdAgain, whileHeld } from './held-actors.ts';
import { NO_SIZE } from './journal-unit.ts';
import { Lacking } from './loader.ts';
import type { OwnershipSession } from './ownership-session.ts';
import { formerUsage, type UsageItem } from './stored-usage.ts';
import { isPublished, sizeOfBatch, type UnitSize, withDraws } from './unit-size.ts';
import type { Memory } from './unit.ts';
import { announceSpendCap } from './spend-cap.ts';
import { publishBatch, type Reported } from './usage-publication.ts';

/**
 * An item that `follows` belongs to the event of the item before it, and counts if that one does.
 */
export type BatchItem = UsageItem & { readonly follows: boolean };

/** An item of a batch, with the actor that is the customer's now. */
type Keyed = Deduped<Omit<BatchItem, 'actor'> & { actor: Actor }>;

type Batch = Dedupe<Keyed> & {
  /** Keys that earlier calls used, each with the id that it was recorded by. */
  readonly used: Map<string, string>;
  /** Whether refused events are left out. Otherwise one of them refuses the batch. */
  readonly isPartial: boolean;
  /** Of a partial batch: why nothing of these events is recorded, by the id of each. */
  readonly refused: Map<string, EventRefusal>;
};

export type BatchRefused = Exclude<BatchOutcome, { kind: 'recorded' }>;

/** See `Ledger.recordAll`. */
export async function recordBatch(
  session: OwnershipSession,
  items: readonly BatchItem[],
  isPartial: boolean,
): Promise<BatchOutcome> {
  const batch = batchOf(session, items, isPartial);
  const keys = [...batch.keys.keys()];
  return session.mutex.alone(keys, async () => {
    const lately = keys.filter((key) => session.recent.has(key));
    const refused =
      (await learnUsed(session, batch, lately)) ??
      (await learnFormer(session, batch)) ??
      (await recordFresh(session, batch, { isTrial: false }));
    if (refused !== null) return refused;
    for (const key of keys) session.recent.add(key);
    return {
      kind: 'recorded',
      items: batch.all.map((item) => {
        const id = batch.used.get(item.id) ?? item.id;
        const refusal = batch.refused.get(eventOf(item));
        if (refusal !== undefined) return { id, duplicate: false, refused: refusal };
        return { id, duplicate: !isFresh(item, batch.used) };
      }),
    };
  });
}

/**
 * The reason why `recordBatch` would record nothing now; null where it would record the items. For
 * a call over several nodes: none of them records before each has answered this.
 */
export async function refusalOfBatch(
  session: OwnershipSession,
  items: readonly BatchItem[],
): Promise<BatchRefused | null> {
  const batch = batchOf(session, items, false);
  const refused =
    (await learnUsed(session, batch, [...batch.keys.keys()])) ??
    (await learnFormer(session, batch));
  return refused ?? recordFresh(session, batch, { isTrial: true });
}

function batchOf(
  session: OwnershipSession,
  items: readonly BatchItem[],
  isPartial: boolean,
): Batch {
  const { all, keys } = dedupe<BatchItem>(items, () => session.deps.ids.next());
  return { all, keys, used: new Map(), isPartial, refused: new Map() };
}

/** The id of the event that an item belongs to. */
const eventOf = ({ head, id }: Keyed): string => head?.id ?? id;

/** Adds to `used` the keys that earlier calls used. A refused one refuses the batch. */
async function learnUsed(
  session: OwnershipSession,
  batch: Batch,
  keys: readonly string[],
): Promise<BatchRefused | null> {
  if (keys.length === 0) return null;
  const stored = await session.deps.storage.findUsage(keys);
  for (const { id } of stored) batch.used.set(id, id);
  const refused = stored.filter((usage) => usage.refused);
  return refusedBefore(
    batch,
    refused.flatMap(({ id }) => batch.keys.get(id) ?? []),
  );
}

/** Of a whole batch, the refusal; of a partial one, leaves these events out. */
function refusedBefore(batch: Batch, items: readonly Keyed[]): BatchRefused | null {
  const [first] = items;
  if (first === undefined) return null;
  if (!batch.isPartial) return { kind: 'was_refused', index: first.index };
  for (const item of items) batch.refused.set(eventOf(item), 'was_refused');
  return null;
}

/** As `learnUsed`, for the former ids of the keys. */
async function learnFormer(session: OwnershipSession, batch: Batch): Promise<BatchRefused | null> {
  const found = await formerUsage(session, [...batch.keys.values()]);
  for (const { item, stored } of found) batch.used.set(item.id, stored.id);
  const refused = found.filter(({ stored }) => stored.refused);
  return refusedBefore(
    batch,
    refused.map(({ item }) => item),
  );
}

/** Records the fresh items, or says why nothing is recorded. A trial leaves no trace. */
async function recordFresh(
  session: OwnershipSession,
  batch: Batch,
  { isTrial }: { readonly isTrial: boolean },
): Promise<BatchRefused | null> {
  const task = new BatchTask(session, batch, isTrial);
  if (task.isEmpty) return null;
  const outcome = await whileHeld(batch.all, () => session.executor.run(task));
  if (outcome.kind !== 'recorded') return outcome;
  for (const [id, why] of outcome.refused) batch.refused.set(id, why);
  return null;
}

const freshOf = ({ all, used }: Batch): readonly Keyed[] =>
  all.filter((item) => isFresh(item, used));

type Recorded = {
  readonly kind: 'recorded';
  /** Of a partial batch: why nothing of these events is recorded. */
  readonly refused: ReadonlyMap<string, EventRefusal>;
};

class BatchTask implements Task<Recorded | BatchRefused> {
  readonly #session: OwnershipSession;
  readonly #batch: Batch;
  readonly #isTrial: boolean;
  readonly op = 'recordAll';
  /** Of the batch. */
  #fresh: readonly Keyed[];

  constructor(session: OwnershipSession, batch: Batch, isTrial: boolean) {
    this.#session = session;
    this.#batch = batch;
    this.#isTrial = isTrial;
    this.#fresh = freshOf(batch);
  }

  get isEmpty(): boolean {
    return this.#fresh.length === 0;
  }

  get size(): UnitSize {
    return this.#isTrial ? NO_SIZE : sizeOf(this.#session, this.#fresh);
  }

  get keys(): readonly string[] {
    const { keys, used } = this.#batch;
    return [...keys.keys()].filter((key) => !used.has(key));
  }

  get actors(): readonly Actor[] {
    return this.#fresh.map(({ actor }) => actor);
  }

  decide(memory: Memory): Recorded | BatchRefused | Lacking | typeof STALE {
    const items = this.#fresh;
    if (items.some(({ actor }) => actor.dropped)) return STALE;
    this.#session.contexts.late.begin();
    const decided = decideBatch(this.#session, items, {
      memory,
      isPartial: this.#batch.isPartial,
      alerts: new AlertBudget(),
    });
    if (!this.#isTrial) return decided;
    memory.discard();
    return decided;
  }

  async reload(): Promise<typeof RETRY> {
    await holdAgain(this.#session.store, this.#batch.all);
    return RETRY;
  }

  async onDuplicate(keys: readonly string[]): Promise<Recorded | BatchRefused | typeof RETRY> {
    const refused = await learnUsed(this.#session, this.#batch, keys);
    if (refused !== null) return refused;
    this.#fresh = freshOf(this.#batch);
    return this.isEmpty ? NOTHING_FRESH : RETRY;
  }
}

const NOTHING_FRESH: Recorded = { kind: 'recorded', refused: new Map() };

function sizeOf(session: OwnershipSession, items: readonly Keyed[]): UnitSize {
  const own = sizeOfBatch(
    items.map(({ actor, meter, request, head }) => ({
      customer: actor,
      meter,
      request,
      follows: head !== null,
    })),
    isPublished(session.deps, items[0]?.actor),
  );
  return withDraws(session.deps, items, own);
}

/** Decides the items in their order. A refused event of a partial batch leaves no trace. */
function decideBatch(
  session: OwnershipSession,
  items: readonly Keyed[],
  {
    memory,
    isPartial,
    alerts,
  }: { readonly memory: Memory; readonly isPartial: boolean; readonly alerts: AlertBudget },
): Recorded | BatchRefused | Lacking {
  const lacking: Lacking['items'][number][] = [];
  const refused = new Map<string, EventRefusal>();
  const reported: (Reported & { readonly item: Keyed })[] = [];
  const isTold = isPublished(session.deps, items[0]?.actor);
  const due = new DueBudget();
  let applied = 0;
  // How many were applied before the event that is decided now.
  let before = 0;
  for (const item of items) {
    if (item.head === null) before = applied;
    if (refused.has(eventOf(item))) continue;
    const decided = decideItem(session, item, { alerts, due });
    if ('refusal' in decided) {
      memory.discard(isPartial ? before : 0);
      if (!isPartial) return { kind: decided.refusal, index: item.index };
      applied = before;
      refused.set(eventOf(item), decided.refusal);
    } else if ('missing' in decided) {
      lacking.push({ actor: item.actor, missing: decided.missing });
    } else {
      const { context, before: state, effects, outcome, record } = decided;
      if (effects !== null) {
        memory.apply(item.actor, effects);
        alerts.count(effects);
        applied += 1;
      }
      applied += announceSpendCap(session, memory, item, { context, before: state, outcome });
      if (isTold && record !== null) reported.push({ item, record });
    }
  }
  if (lacking.length > 0) {
    memory.discard();
    return new Lacking(lacking);
  }
  if (isTold) {
    const kept = reported.filter(({ item }) => !refused.has(eventOf(item)));
    publishBatch(session, memory, kept);
  }
  return { kind: 'recorded', refused };
}

function decideItem(
  { contexts }: OwnershipSession,
  { actor, meter, request, id, head }: Keyed,
  { alerts, due }: { readonly alerts: AlertBudget; readonly due: DueBudget },
) {
  if (!contexts.hasRoom(actor, meter)) return { refusal: 'too_many_meters' } as const;
  const state = contexts.stateOf(actor, meter);
  const context = alerts.contextOf(contexts.ofMeter(actor, meter));
  // The metadata of an event are written with its first meter only.
  const usage = { ...request, id, metadata: head === null ? request.metadata : null };
  const part =
    contexts.asleepBefore(actor, context, state) ??
    due.lacks(actor, context, state) ??
    missing(context, state, usage, actor.seen);
  if (part !== null) return { missing: part };
  const { outcome, effects } = decideUsage(context, state, usage, actor.seen);
  if (outcome.kind === 'out_of_range') return { refusal: 'out_of_range' } as const;
  const record = outcome.kind === 'recorded' ? outcome.record : null;
  return { context, before: state, effects, outcome, record };
}
