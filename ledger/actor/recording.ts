import { assert } from '../kernel/assert.ts';
import type { Turn } from '../kernel/keyed-mutex.ts';
import { type Usage, decideUsage, missing } from '../metering/usage.ts';
import { type RecordOutcome, STALE } from '../outcome.ts';
import type { StoredUsage } from '../storage.ts';
import type { Actor } from './actor.ts';
import type { AlertBudget } from './alert-budget.ts';
import type { DueBudget } from './due-budget.ts';
import { RETRY, type Task } from './executor.ts';
import { Lacking } from './loader.ts';
import { NotOwner } from './own-slots.ts';
import type { OwnershipSession } from './ownership-session.ts';
import { formerUsage, replay, type UsageItem } from './stored-usage.ts';
import { bytesOf, type UnitSize, withDraws } from './unit-size.ts';
import type { Memory } from './unit.ts';
import { announceSpendCap } from './spend-cap.ts';
import { publishUsage } from './usage-publication.ts';

/**
 * Records one usage, once for each key.
 *
 * A usage with a key has an id that is derived from its customer and the key. The database accepts
 * an id once in a slot; that constraint decides. Everything else here only saves work:
 * - a second call with a key waits while the first one is in progress (`mutex`);
 * - an id that was used lately (`recent`) is looked up first, so that a storm of retries does not
 *   spoil the flushes of other calls;
 * - a call that meets the constraint reads the answer of the first call.
 *
 * Before, a key's scope was the organisation, which gave another id (`formerKeyId`). No usage is
 * recorded under it any more; it is looked up before the decision.
 */
export function recordOne(
  session: OwnershipSession,
  item: UsageItem,
  elsewhere: Elsewhere | null,
): Promise<RecordOutcome> {
  const { recent, executor, mutex } = session;
  const { keyId, formerKeyId } = item.request;
  const task = new UsageTask(session, item, elsewhere);
  if (keyId === null) return executor.run(task);
  task.turn = mutex.take(task.keys);
  const mayBeKnown = task.turn === null || recent.has(keyId) || formerKeyId !== null;
  return mayBeKnown ? recordUnlessKnown(session, item, task) : executor.run(task);
}

/** Records the usage at the customer's new node. */
type Elsewhere = (item: UsageItem) => Promise<RecordOutcome>;

async function recordUnlessKnown(
  session: OwnershipSession,
  item: UsageItem,
  task: UsageTask,
): Promise<RecordOutcome> {
  task.turn ??= await session.mutex.wait(task.keys);
  let known: StoredUsage | undefined;
  try {
    known = await findKnown(session, item);
  } catch (error) {
    task.endTurn();
    throw error;
  }
  if (known === undefined) return session.executor.run(task);
  task.endTurn();
  return replay(session, item, known);
}

/** What an earlier call recorded under the item's key. */
async function findKnown(
  session: OwnershipSession,
  item: UsageItem,
): Promise<StoredUsage | undefined> {
  const { keyId, formerKeyId } = item.request;
  if (keyId !== null && session.recent.has(keyId)) {
    const [stored] = await session.deps.storage.findUsage([keyId]);
    if (stored !== undefined) return stored;
  }
  if (formerKeyId === null) return undefined;
  const [former] = await formerUsage(session, [item]);
  return former?.stored;
}

class UsageTask implements Task<RecordOutcome> {
  readonly op = 'record';
  readonly size: UnitSize;
  /** Empty without a key. */
  readonly keys: readonly string[];
  /** While it lasts, no other call has its key. */
  turn: Turn<string> | null = null;
  readonly #session: OwnershipSession;
  readonly #usage: Usage;
  readonly #elsewhere: Elsewhere | null;
  #item: UsageItem;

  constructor(session: OwnershipSession, item: UsageItem, elsewhere: Elsewhere | null) {
    const { request, meter } = item;
    const { metadata, keyId } = request;
    this.#session = session;
    this.#item = item;
    this.#elsewhere = elsewhere;
    this.#usage = { ...item.request, id: keyId ?? session.deps.ids.next() };
    this.keys = keyId === null ? NO_KEYS : [keyId];
    const own = metadata === null ? ONE_ROW : { rows: 1, bytes: bytesOf(metadata) };
    this.size = session.deps.poolOf(meter) === null ? own : withDraws(session.deps, [item], own);
  }

  get actors(): readonly [Actor] {
    return [this.#item.actor];
  }

  async reload(): Promise<RecordOutcome | typeof RETRY> {
    try {
      const actor = await this.#session.store.again(this.#item.actor);
      this.#item = { ...this.#item, actor };
      return RETRY;
    } catch (error) {
      if (this.#elsewhere === null || !(error instanceof NotOwner)) throw error;
      // The customer has moved: nothing was recorded. It may be back here by then, for its next
      // call with this key.
      this.endTurn();
      return this.#elsewhere(this.#item);
    }
  }

  onEnd(how: 'has_outcome' | 'failed'): void {
    const { keyId } = this.#item.request;
    if (how === 'has_outcome' && keyId !== null) this.#session.recent.add(keyId);
    this.endTurn();
  }

  endTurn(): void {
    this.turn?.end();
    this.turn = null;
  }

  async onDuplicate(keys: readonly string[]): Promise<RecordOutcome> {
    const [stored] = await this.#session.deps.storage.findUsage(keys);
    assert(stored !== undefined, 'a duplicate id is in the table');
    return replay(this.#session, this.#item, stored);
  }

  decide(memory: Memory): RecordOutcome | Lacking | typeof STALE {
    this.#session.contexts.late.begin();
    return decideOne(this.#session, this.#item, {
      usage: this.#usage,
      memory,
      alerts: null,
      due: null,
    });
  }
}

/** Decides one usage, and applies it with the event that tells of it. */
export function decideOne(
  session: OwnershipSession,
  { actor, meter, request }: UsageItem,
  {
    usage,
    memory,
    alerts,
    due,
  }: {
    readonly usage: Usage;
    readonly memory: Memory;
    /** Of the unit; null for a usage by itself. */
    readonly alerts: AlertBudget | null;
    readonly due: DueBudget | null;
  },
): RecordOutcome | Lacking | typeof STALE {
  const { contexts, deps } = session;
  if (actor.dropped) return STALE;
  if (!contexts.hasRoom(actor, meter)) return { kind: 'too_many_meters' };
  const own = contexts.ofMeter(actor, meter);
  const state = contexts.stateOf(actor, meter);
  const context = alerts?.contextOf(own) ?? own;
  const part =
    contexts.asleepBefore(actor, context, state) ??
    due?.lacks(actor, context, state) ??
    missing(context, state, usage, actor.seen);
  if (part !== null) return new Lacking([{ actor, missing: part }]);
  const { outcome, effects } = decideUsage(context, state, usage, actor.seen);
  if (effects !== null) memory.apply(actor, effects);
  alerts?.count(effects);
  announceSpendCap(session, memory, { actor, meter }, { context, before: state, outcome });
  if (outcome.kind === 'out_of_range') return outcome;
  if (outcome.kind === 'recorded' && deps.wants(actor.customer, 'usage.recorded')) {
    const recorded = [{ request, record: outcome.record }];
    publishUsage(session, memory, { actor, meter, recorded });
  }
  return { kind: outcome.kind, record: outcome.record, replayed: false };
}

export type { UsageItem };

const NO_KEYS: readonly string[] = [];
const ONE_ROW = { rows: 1, bytes: 0 };
