import { assert } from '../kernel/assert.ts';
import { EVENT_LATE_MS_MAX } from '../limits.ts';
import { advanced } from '../metering/advance.ts';
import { type Meter, snapshotOf } from '../metering/meter.ts';
import {
  type BatchOutcome,
  type EventRefusal,
  type RecordOutcome,
  STALE,
  type UsageRequest,
} from '../outcome.ts';
import type { StoredUsage } from '../storage.ts';
import { type Missing, type Usage, decideUsage, missing } from '../metering/usage.ts';
import { type Recorded, usageEvent } from '../metering/usage-event.ts';
import type { Actor } from './actor.ts';
import { type Deduped, dedupe, isFresh } from './dedupe.ts';
import type { OwnershipSession } from './ownership-session.ts';
import { bytesOf, sizeOfBatch, type UnitSize } from './unit-size.ts';
import { NO_SIZE } from './journal-unit.ts';
import { ActorUnit, type Apply, type Discard, DUPLICATE } from './unit.ts';

/**
 * Recording usage, once for each key.
 *
 * A keyed usage has its id derived from its customer and the key, and the database lets an id in once for each slot: that constraint
 * decides, and all else here only saves work. A second call waits while the first is on its way; an id that was seen lately is looked up
 * first, so that a storm of retries does not spoil the flushes of others; and whoever finds out by the constraint looks the first answer
 * up. What was recorded when a key's scope was the organisation's has another id (`formerKeyId`), which nothing is recorded under any
 * more: it is looked up before anything is decided.
 */
type Item = { readonly actor: Actor; readonly meter: Meter; readonly request: UsageRequest };

export function recordOne(session: OwnershipSession, item: Item): Promise<RecordOutcome> {
  const { keyId } = item.request;
  if (keyId === null) return attempt(session, item, session.deps.ids.next());
  return session.mutex.alone([keyId], () => attempt(session, item, keyId));
}

async function attempt(session: OwnershipSession, asked: Item, id: string): Promise<RecordOutcome> {
  const { meter, request } = asked;
  const isKeyed = request.keyId !== null;
  if (isKeyed && session.recent.has(id)) {
    const [stored] = await session.deps.storage.findUsage([id]);
    if (stored !== undefined) return replay(session, asked, stored);
  }
  if (request.formerKeyId !== null) {
    const [former] = await formerUsage(session, [asked]);
    if (former !== undefined) return replay(session, asked, former.stored);
  }
  const usage: Usage = { ...request, id };
  for (let item = asked; ; item = { ...item, actor: await session.again(item.actor) }) {
    const { actor } = item;
    const unit = new ActorUnit<RecordOutcome | Missing | typeof STALE>({
      op: 'record',
      size: request.metadata === null ? ONE_ROW : { rows: 1, bytes: bytesOf(request.metadata) },
      keys: isKeyed ? [id] : NO_KEYS,
      actors: [actor],
      run: (apply) => {
        if (actor.dropped) return STALE;
        if (!session.hasRoom(actor, meter)) return { kind: 'too_many_meters' };
        const context = session.context(actor, meter);
        const state = session.stateOf(actor, meter);
        const lacking = missing(context, state, usage, actor.seen);
        if (lacking !== null) return lacking;
        const { outcome, effects } = decideUsage(context, state, usage, actor.seen);
        if (effects !== null) apply(actor, effects);
        if (outcome.kind === 'out_of_range') return outcome;
        if (outcome.kind === 'recorded' && session.deps.wantsUsage(actor.customer)) {
          publishUsage(session, apply, {
            actor,
            meter,
            recorded: [{ request, record: outcome.record }],
          });
        }
        return { kind: outcome.kind, record: outcome.record, replayed: false };
      },
    });
    const outcome = await session.submit(unit);
    if (outcome === STALE) continue;
    if (outcome !== DUPLICATE && (outcome.kind === 'history' || outcome.kind === 'member')) {
      await learn(session, item, [outcome]);
      continue;
    }
    if (isKeyed) session.recent.add(id);
    if (outcome === DUPLICATE) {
      const [stored] = await session.deps.storage.findUsage([id]);
      assert(stored !== undefined, 'a duplicate id is in the table');
      return replay(session, item, stored);
    }
    return outcome;
  }
}

const NO_KEYS: readonly string[] = [];
const ONE_ROW = { rows: 1, bytes: 0 };

/** Those of the items that were recorded under their keys' former ids. */
async function formerUsage<I extends Item>(
  session: OwnershipSession,
  items: readonly I[],
): Promise<readonly { readonly item: I; readonly stored: StoredUsage }[]> {
  const ids = items.flatMap(({ request: { formerKeyId } }) => formerKeyId ?? []);
  if (ids.length === 0) return [];
  const found = await session.deps.storage.findFormerUsage(ids);
  return items.flatMap((item) => {
    const stored = found.find(
      ({ id, customerId }) => id === item.request.formerKeyId && customerId === item.actor.id,
    );
    return stored === undefined ? [] : [{ item, stored }];
  });
}

/** What a decision recorded on one customer's meter. */
type RecordedUsage = Pick<Item, 'actor' | 'meter'> & { readonly recorded: Recorded[] };

/** Part of the same unit: the event is as durable as what it tells of. */
function publishUsage(
  session: OwnershipSession,
  apply: Apply,
  { actor, meter, recorded }: RecordedUsage,
): void {
  apply(actor, usageEvent(session.context(actor, meter), session.stateOf(actor, meter), recorded));
}

/** The answer that the first call with this key got. Of what that call did not store, as it is now. */
function replay(
  session: OwnershipSession,
  { actor, meter, request }: Item,
  stored: StoredUsage,
): RecordOutcome {
  if (stored.fingerprint !== request.fingerprint) return { kind: 'key_reused' };
  const { answer } = stored;
  const { overageAllowed, periodStart, periodEnd } =
    answer ?? snapshotOf(advanced(session.context(actor, meter), session.stateOf(actor, meter)));
  return {
    kind: stored.refused ? 'refused' : 'recorded',
    replayed: true,
    record: {
      id: stored.id,
      value: stored.value,
      eventAt: stored.eventAt,
      reason: stored.reason,
      externalId: answer === null ? actor.customer.externalId : answer.externalId,
      snapshot: {
        limit: stored.limitAfter,
        consumed: stored.consumedAfter,
        reserved: 0n,
        overageAllowed,
        periodStart,
        periodEnd,
      },
    },
  };
}

/** Loads what a decision lacked. */
async function learn(
  session: OwnershipSession,
  item: Item,
  lacking: readonly Missing[],
): Promise<void> {
  const { storage, orgClock } = session.deps;
  const { actor, meter } = item;
  const { id: customerId, slot } = actor.customer;
  actor.held += 1;
  try {
    if (lacking.some((part) => part.kind === 'history')) {
      const since = orgClock.now(actor.customer) - EVENT_LATE_MS_MAX;
      const periods = await storage.loadHistory({ slot, customerId, meterId: meter.id }, since);
      actor.learnHistory(meter.id, periods);
    }
    const members = lacking.filter((part) => part.kind === 'member');
    for (const [accountId, parts] of Map.groupBy(members, (part) => part.accountId)) {
      const asked = parts.map((part) => part.member);
      actor.learnMembers(accountId, asked, await storage.loadMembers({ slot, accountId }, asked));
    }
  } finally {
    actor.held -= 1;
  }
}

/** An item that `follows` is of the same event as the one before it, and counts if that one does. */
export type BatchItem = Item & { readonly follows: boolean };

/** An item of a batch, with the actor that is the customer's now. */
type Keyed = Deduped<Omit<BatchItem, 'actor'> & { actor: Actor }>;

/** What is known of a batch's keys. */
type Batch = {
  readonly all: readonly Keyed[];
  readonly keys: ReadonlyMap<string, Keyed>;
  /** Keys that turned out to be used before, each with the id that it was recorded by. */
  readonly used: Map<string, string>;
  /** Whether what is refused is left out, rather than a reason to record nothing. */
  readonly isPartial: boolean;
  /** Of a partial batch: why nothing of these events is recorded, by the id of each. */
  readonly refused: Map<string, EventRefusal>;
};

/** See `Ledger.recordAll`. Items with the same key are one event: the first counts, with all of its meters. */
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
 * Why `recordBatch` would record nothing of these, as of now; null where it would record them. For a call whose items are on several
 * nodes: none is asked to record before each has said that it would.
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

/** The id of the event that an item is of. */
const eventOf = ({ head, id }: Keyed): string => head?.id ?? id;

export type BatchRefused = Exclude<BatchOutcome, { kind: 'recorded' }>;

/** Adds to `used` which of the keys were used before; one of those that were refused is why nothing is recorded. */
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

/** What becomes of a batch in which these were refused before. */
function refusedBefore(batch: Batch, items: readonly Keyed[]): BatchRefused | null {
  const [first] = items;
  if (first === undefined) return null;
  if (!batch.isPartial) return { kind: 'was_refused', index: first.index };
  for (const item of items) batch.refused.set(eventOf(item), 'was_refused');
  return null;
}

/** The same of the ids that the keys gave before. */
async function learnFormer(session: OwnershipSession, batch: Batch): Promise<BatchRefused | null> {
  const found = await formerUsage(session, [...batch.keys.values()]);
  for (const { item, stored } of found) batch.used.set(item.id, stored.id);
  const refused = found.filter(({ stored }) => stored.refused);
  return refusedBefore(
    batch,
    refused.map(({ item }) => item),
  );
}

/**
 * Records what is new, in one unit; adds to `used` what turns out not to be. Null, or why nothing was recorded. A trial leaves no
 * trace.
 */
async function recordFresh(
  session: OwnershipSession,
  batch: Batch,
  options: { readonly isTrial: boolean },
): Promise<BatchRefused | null> {
  for (const { actor } of batch.all) actor.held += 1;
  try {
    return await recordHeld(session, batch, options);
  } finally {
    for (const { actor } of batch.all) actor.held -= 1;
  }
}

/** While its actors are held: where memory is full, to load the next one would else drop the last, again and again. */
async function recordHeld(
  session: OwnershipSession,
  batch: Batch,
  { isTrial }: { readonly isTrial: boolean },
): Promise<BatchRefused | null> {
  for (;;) {
    const items = batch.all.filter((item) => isFresh(item, batch.used));
    if (items.length === 0) return null;
    const unit = new ActorUnit<BatchAttempt | typeof STALE>({
      op: 'recordAll',
      size: isTrial ? NO_SIZE : sizeOf(session, items),
      keys: [...batch.keys.keys()].filter((key) => !batch.used.has(key)),
      actors: items.map((item) => item.actor),
      run: (apply, discard) => {
        if (items.some(({ actor }) => actor.dropped)) return STALE;
        const attempted = runBatch(session, items, { apply, discard, isPartial: batch.isPartial });
        if (isTrial && attempted.kind === 'recorded') discard();
        return attempted;
      },
    });
    const outcome = await session.submit(unit);
    if (outcome === STALE) {
      await Promise.all(batch.all.map((item) => holdAgain(session, item)));
    } else if (outcome === DUPLICATE) {
      const refused = await learnUsed(session, batch, unit.keys);
      if (refused !== null) return refused;
    } else if (outcome.kind === 'lacking') {
      for (const [item, lacking] of outcome.lacking) await learn(session, item, lacking);
    } else if (outcome.kind === 'recorded') {
      for (const [id, why] of outcome.refused) batch.refused.set(id, why);
      return null;
    } else {
      return outcome;
    }
  }
}

/** Its actor, where that was dropped another one, which is held in its place. */
async function holdAgain(session: OwnershipSession, item: Keyed): Promise<void> {
  const actor = await session.again(item.actor);
  item.actor.held -= 1;
  actor.held += 1;
  item.actor = actor;
}

function sizeOf(session: OwnershipSession, items: readonly Keyed[]): UnitSize {
  return sizeOfBatch(
    items.map(({ actor, meter, request, head }) => ({
      customer: actor,
      meter,
      request,
      follows: head !== null,
    })),
    isTold(session, items),
  );
}

/** A call is one tenant's. */
function isTold(session: OwnershipSession, items: readonly Keyed[]): boolean {
  return items.slice(0, 1).some(({ actor }) => session.deps.wantsUsage(actor.customer));
}

type BatchAttempt =
  | { readonly kind: 'recorded'; readonly refused: ReadonlyMap<string, EventRefusal> }
  | { readonly kind: 'out_of_range'; readonly index: number }
  | { readonly kind: 'too_many_meters'; readonly index: number }
  | { readonly kind: 'lacking'; readonly lacking: ReadonlyMap<Item, readonly Missing[]> };

type Memory = {
  readonly apply: Apply;
  readonly discard: Discard;
  readonly isPartial: boolean;
};

/** Decides the items one after the other. What is refused of a partial batch is as if it had not been in it. */
function runBatch(
  session: OwnershipSession,
  items: readonly Keyed[],
  memory: Memory,
): BatchAttempt {
  const lacking = new Map<Item, Missing[]>();
  const refused = new Map<string, EventRefusal>();
  const recorded: Reported[] = [];
  let applied = 0;
  // Those before the event that is decided.
  let before = 0;
  for (const item of items) {
    if (item.head === null) before = applied;
    if (refused.has(eventOf(item))) continue;
    const decided = decide(session, item);
    if ('refusal' in decided) {
      memory.discard(memory.isPartial ? before : 0);
      if (!memory.isPartial) return { kind: decided.refusal, index: item.index };
      applied = before;
      refused.set(eventOf(item), decided.refusal);
    } else if ('missing' in decided) {
      lacking.set(item, [decided.missing]);
    } else {
      const { effects, record } = decided;
      if (effects !== null) {
        memory.apply(item.actor, effects);
        applied += 1;
      }
      if (record !== null) recorded.push({ item, record });
    }
  }
  if (lacking.size > 0) {
    memory.discard();
    return { kind: 'lacking', lacking };
  }
  if (isTold(session, items)) {
    const stand = recorded.filter(({ item }) => !refused.has(eventOf(item)));
    tellOfAll(session, memory.apply, stand);
  }
  return { kind: 'recorded', refused };
}

/** What an item comes to, as of now. */
function decide(session: OwnershipSession, { actor, meter, request, id, head }: Keyed) {
  if (!session.hasRoom(actor, meter)) return { refusal: 'too_many_meters' } as const;
  const context = session.context(actor, meter);
  const state = session.stateOf(actor, meter);
  // The event is the transfer of its first meter: there alone are the metadata.
  const usage = { ...request, id, metadata: head === null ? request.metadata : null };
  const part = missing(context, state, usage, actor.seen);
  if (part !== null) return { missing: part };
  const { outcome, effects } = decideUsage(context, state, usage, actor.seen);
  if (outcome.kind === 'out_of_range') return { refusal: 'out_of_range' } as const;
  return { effects, record: outcome.kind === 'recorded' ? outcome.record : null };
}

/** An item, and what was recorded of it. */
type Reported = { readonly item: Keyed; readonly record: Recorded['record'] };

/** Once for each customer and meter. */
function tellOfAll(session: OwnershipSession, apply: Apply, reported: readonly Reported[]): void {
  const told = new Map<string, RecordedUsage>();
  for (const { item, record } of reported) {
    const { actor, meter, request } = item;
    const key = `${actor.id} ${meter.id}`;
    const about = told.get(key) ?? { actor, meter, recorded: [] };
    about.recorded.push({ request, record });
    told.set(key, about);
  }
  for (const about of told.values()) publishUsage(session, apply, about);
}
