// Records usages that belong together by nothing but their call: each one is decided by itself, in
// order, as if they came one after the other (`recording.ts`). They are one unit: durable together.
//
// Keys count as there. A key that stands twice in the call is the first item's; the second one gets
// the same answer. An item that is refused leaves the others as they are.
import { type RecordOutcome, STALE } from '../outcome.ts';
import type { StoredUsage } from '../storage.ts';
import type { Actor } from './actor.ts';
import { AlertBudget } from './alert-budget.ts';
import { DueBudget } from './due-budget.ts';
import { RETRY, type Task } from './executor.ts';
import { holdAgain, whileHeld } from './held-actors.ts';
import { Lacking } from './loader.ts';
import type { OwnershipSession } from './ownership-session.ts';
import { decideOne } from './recording.ts';
import { formerUsage, replay, type UsageItem } from './stored-usage.ts';
import { isPublished, sizeOfEach, type UnitSize, withDraws } from './unit-size.ts';
import type { Memory } from './unit.ts';

/** An item, with the actor that is the customer's now. */
type Each = Omit<UsageItem, 'actor'> & { actor: Actor; readonly id: string };

/** In the order of the items. @throws NotOwner: none of them is recorded */
export async function recordEach(
  session: OwnershipSession,
  items: readonly UsageItem[],
): Promise<readonly RecordOutcome[]> {
  const { recent, mutex, executor, deps } = session;
  const each = items.map((item) => ({ ...item, id: item.request.keyId ?? deps.ids.next() }));
  const keys = [...new Set(items.flatMap(({ request }) => request.keyId ?? []))];
  return mutex.alone(keys, async () => {
    const task = new EachTask(session, each, keys);
    await task.learn(keys.filter((key) => recent.has(key)));
    await task.learnFormer();
    const outcomes = await whileHeld(each, () => executor.run(task));
    for (const key of keys) recent.add(key);
    return outcomes;
  });
}

class EachTask implements Task<readonly RecordOutcome[]> {
  readonly op = 'recordEach';
  readonly size: UnitSize;
  readonly #session: OwnershipSession;
  #alerts = new AlertBudget();
  readonly #items: readonly Each[];
  readonly #keys: readonly string[];
  /** What earlier calls recorded, by the key. */
  readonly #stored = new Map<string, StoredUsage>();

  constructor(session: OwnershipSession, items: readonly Each[], keys: readonly string[]) {
    this.#session = session;
    this.#items = items;
    this.#keys = keys;
    const own = sizeOfEach(items, isPublished(session.deps, items[0]?.actor));
    this.size = withDraws(session.deps, items, own);
  }

  get keys(): readonly string[] {
    return this.#keys.filter((key) => !this.#stored.has(key));
  }

  get actors(): readonly Actor[] {
    return this.#items.map(({ actor }) => actor);
  }

  async learn(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const found = await this.#session.deps.storage.findUsage(keys);
    for (const usage of found) this.#stored.set(usage.id, usage);
  }

  /** As `learn`, by the former ids of the keys. */
  async learnFormer(): Promise<void> {
    const found = await formerUsage(this.#session, this.#items);
    for (const { item, stored } of found) this.#stored.set(item.id, stored);
  }

  decide(memory: Memory): readonly RecordOutcome[] | Lacking | typeof STALE {
    // It may be decided again.
    this.#alerts = new AlertBudget();
    this.#session.contexts.late.begin();
    const outcomes: RecordOutcome[] = [];
    const lacking: Lacking['items'][number][] = [];
    /** The items of this call that were decided, by their keys. */
    const decided = new Map<string, Decided>();
    const latest = new Map<string, Moment>();
    const due = new DueBudget();
    for (const item of this.#items) {
      const outcome = this.#outcomeOf(item, decided) ?? this.#decide(item, { memory, latest, due });
      if (outcome === STALE) {
        memory.discard();
        return STALE;
      }
      if (outcome instanceof Lacking) {
        lacking.push(...outcome.items);
        continue;
      }
      outcomes.push(outcome);
      if ('record' in outcome && item.request.keyId !== null && !decided.has(item.id)) {
        decided.set(item.id, { outcome, fingerprint: item.request.fingerprint });
      }
    }
    if (lacking.length === 0) return outcomes;
    memory.discard();
    return new Lacking(lacking);
  }

  async reload(): Promise<typeof RETRY> {
    await holdAgain(this.#session.store, this.#items);
    return RETRY;
  }

  async onDuplicate(keys: readonly string[]): Promise<typeof RETRY> {
    await this.learn(keys);
    return RETRY;
  }

  #decide(
    item: Each,
    {
      memory,
      latest,
      due,
    }: {
      readonly memory: Memory;
      readonly latest: Map<string, Moment>;
      readonly due: DueBudget;
    },
  ): RecordOutcome | Lacking | typeof STALE {
    const { actor, meter, request, id } = item;
    if (meter.aggregation !== 'last') {
      const usage = { ...request, id };
      return decideOne(this.#session, item, { usage, memory, alerts: this.#alerts, due });
    }
    const about = `${actor.id} ${meter.id}`;
    const eventAt = this.#timeAfter(latest.get(about), item);
    const usage = { ...request, id, eventAt };
    const outcome = decideOne(this.#session, item, { usage, memory, alerts: this.#alerts, due });
    if (outcome !== STALE && 'record' in outcome) {
      latest.set(about, { at: outcome.record.eventAt, id });
    }
    return outcome;
  }

  /**
   * A `last` meter takes the later of two events, and of the same millisecond the one with the
   * greater id. Items of one call come in one millisecond and in an order, so a later one that
   * would lose by its id is a millisecond later.
   */
  #timeAfter(before: Moment | undefined, { actor, request, id }: Each): number | null {
    const { eventAt } = request;
    if (before === undefined || eventAt !== null) return eventAt;
    if (before.at < this.#session.deps.orgClock.now(actor.customer)) return null;
    return before.id < id ? before.at : before.at + 1;
  }

  /** The answer that the item's key has already; null where it has none. */
  #outcomeOf(item: Each, decided: ReadonlyMap<string, Decided>): RecordOutcome | null {
    const { keyId, fingerprint } = item.request;
    if (keyId === null) return null;
    const stored = this.#stored.get(keyId);
    if (stored !== undefined) return replay(this.#session, item, stored);
    const first = decided.get(keyId);
    if (first === undefined) return null;
    return first.fingerprint === fingerprint
      ? { ...first.outcome, replayed: true }
      : { kind: 'key_reused' };
  }
}

/** When an event was, and its id. */
type Moment = { readonly at: number; readonly id: string };

type Decided = {
  readonly outcome: Extract<RecordOutcome, { readonly record: unknown }>;
  readonly fingerprint: bigint | null;
};
