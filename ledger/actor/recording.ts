import { assert } from '../kernel/assert.ts';
import { type Usage, decideUsage, missing } from '../metering/usage.ts';
import { type RecordOutcome, STALE } from '../outcome.ts';
import type { Task } from './executor.ts';
import { Lacking } from './loader.ts';
import type { OwnershipSession } from './ownership-session.ts';
import { formerUsage, replay, type UsageItem } from './stored-usage.ts';
import { bytesOf } from './unit-size.ts';
import { ActorUnit, type Apply } from './unit.ts';
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
export function recordOne(session: OwnershipSession, item: UsageItem): Promise<RecordOutcome> {
  const { keyId } = item.request;
  if (keyId === null) {
    const id = session.deps.ids.next();
    return session.executor.run(new UsageTask(session, item, id, NO_KEYS));
  }
  const keys = [keyId];
  return session.mutex.alone(keys, () => recordKeyed(session, item, keyId, keys));
}

async function recordKeyed(
  session: OwnershipSession,
  item: UsageItem,
  id: string,
  keys: readonly string[],
): Promise<RecordOutcome> {
  const { recent, deps, executor } = session;
  if (recent.has(id)) {
    const [stored] = await deps.storage.findUsage(keys);
    if (stored !== undefined) return replay(session, item, stored);
  }
  if (item.request.formerKeyId !== null) {
    const [former] = await formerUsage(session, [item]);
    if (former !== undefined) return replay(session, item, former.stored);
  }
  const outcome = await executor.run(new UsageTask(session, item, id, keys));
  recent.add(id);
  return outcome;
}

class UsageTask implements Task<RecordOutcome> {
  readonly #session: OwnershipSession;
  readonly #usage: Usage;
  readonly #keys: readonly string[];
  #item: UsageItem;

  constructor(session: OwnershipSession, item: UsageItem, id: string, keys: readonly string[]) {
    this.#session = session;
    this.#item = item;
    this.#usage = { ...item.request, id };
    this.#keys = keys;
  }

  unit(): ActorUnit<RecordOutcome | Lacking | typeof STALE> {
    const { actor, request } = this.#item;
    return new ActorUnit({
      op: 'record',
      size: request.metadata === null ? ONE_ROW : { rows: 1, bytes: bytesOf(request.metadata) },
      keys: this.#keys,
      actors: [actor],
      run: (apply) => this.#decide(apply),
    });
  }

  async reload(): Promise<void> {
    const actor = await this.#session.store.again(this.#item.actor);
    this.#item = { ...this.#item, actor };
  }

  async onDuplicate(keys: readonly string[]): Promise<RecordOutcome> {
    const [stored] = await this.#session.deps.storage.findUsage(keys);
    assert(stored !== undefined, 'a duplicate id is in the table');
    return replay(this.#session, this.#item, stored);
  }

  #decide(apply: Apply): RecordOutcome | Lacking | typeof STALE {
    const { actor, meter, request } = this.#item;
    const { contexts, deps } = this.#session;
    if (actor.dropped) return STALE;
    if (!contexts.hasRoom(actor, meter)) return { kind: 'too_many_meters' };
    const context = contexts.ofMeter(actor, meter);
    const state = contexts.stateOf(actor, meter);
    const part = missing(context, state, this.#usage, actor.seen);
    if (part !== null) return new Lacking([{ actor, meter, missing: part }]);
    const { outcome, effects } = decideUsage(context, state, this.#usage, actor.seen);
    if (effects !== null) apply(actor, effects);
    if (outcome.kind === 'out_of_range') return outcome;
    if (outcome.kind === 'recorded' && deps.wantsUsage(actor.customer)) {
      const recorded = [{ request, record: outcome.record }];
      publishUsage(this.#session, apply, { actor, meter, recorded });
    }
    return { kind: outcome.kind, record: outcome.record, replayed: false };
  }
}

const NO_KEYS: readonly string[] = [];
const ONE_ROW = { rows: 1, bytes: 0 };
