import { check, type Meter, type MeterState, snapshotOf } from '../metering/meter.ts';
import {
  decideReserve,
  decideResolution,
  missingForHolds,
  type ReservationRequest,
  type ReserveOutcome,
  type ResolveOutcome,
} from '../metering/reservation-decisions.ts';
import type { Reservation, Resolution } from '../metering/reservation.ts';
import { advanced } from '../metering/advance.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { UsageAnswer } from '../metering/usage-answer.ts';
import { assert, must } from '../kernel/assert.ts';
import { ASKED_WORK_MAX } from '../limits.ts';
import type { Actor } from './actor.ts';
import { billEnded, type Ended, endedSellers, soldSoFar } from './committed.ts';
import { Lacking } from './loader.ts';
import type { OwnershipSession } from './ownership-session.ts';
import { announceSpendCap } from './spend-cap.ts';
import { DUPLICATE, type Memory } from './unit.ts';
import { publishUsage } from './usage-publication.ts';

// Reservations of a customer's meters. Each throws NotOwner where another node owns the customer.
//
// An id counts once: that of the first hold is the reservation's own, and the database accepts it
// once. What is asked of one reservation runs one after the other (`mutex`), so that a repeated
// call finds what the first one did.

export type ReservedOutcome =
  | ReserveOutcome
  /** The id was used: as it is now, and what is left now. */
  | (Pick<
      Extract<ReserveOutcome, { kind: 'reserved' }>,
      'reservation' | 'reason' | 'snapshot' | 'paidBy'
    > & {
      readonly kind: 'known';
    })
  /** It was used for something else. */
  | { readonly kind: 'key_reused' };

export function reserve(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  request: ReservationRequest,
): Promise<ReservedOutcome> {
  const { id } = request;
  return session.mutex.alone([id], async () => {
    if (session.recent.has(id)) {
      const known = await findKnown(session, { customerId, meter, request });
      if (known !== null) return known;
    }
    const decided = await session.executor.decideOn<Actor, ReserveOutcome>(
      'reserve',
      () => session.store.actorOf(customerId, meter.organisationId),
      [id],
      (actor, memory) => {
        const { contexts } = session;
        const its = contexts.meter(meter);
        if (!contexts.hasRoom(actor, its)) return { kind: 'too_many_meters' };
        const context = contexts.ofMeter(actor, its);
        const state = contexts.stateOf(actor, its);
        const missing =
          contexts.asleepBefore(actor, context, state) ?? missingForHolds(context, state);
        if (missing !== null) return new Lacking([{ actor, missing }]);
        const { outcome, effects } = decideReserve(context, state, request);
        if (effects !== null) memory.apply(actor, effects);
        return outcome;
      },
    );
    if (decided !== DUPLICATE && decided.kind === 'reserved') {
      session.recent.add(id);
      return decided;
    }
    // What is refused is not written, so the key may have been used: what it holds is not free.
    if (decided !== DUPLICATE && request.fingerprint === null) return decided;
    const known = await findKnown(session, { customerId, meter, request });
    return decided === DUPLICATE
      ? must(known, 'an id that was used is in the table')
      : (known ?? decided);
  });
}

/** What was reserved under the id before; null for nothing. */
async function findKnown(
  session: OwnershipSession,
  {
    customerId,
    meter,
    request,
  }: { readonly customerId: string; readonly meter: Meter; readonly request: ReservationRequest },
): Promise<ReservedOutcome | null> {
  const stored = await session.deps.storage.findReservation(request.id);
  if (stored === null) return null;
  const { reservation } = stored;
  const isSame =
    stored.customerId === customerId &&
    stored.meterId === meter.id &&
    reservation.fingerprint === request.fingerprint;
  if (!isSame) return { kind: 'key_reused' };
  return session.executor.read(
    () => session.store.actorOf(customerId, meter.organisationId),
    (actor) => {
      const { contexts } = session;
      const its = contexts.meter(meter);
      const context = contexts.ofMeter(actor, its);
      const before = contexts.stateOf(actor, its);
      const asked = { state: before, max: ASKED_WORK_MAX };
      const missing = contexts.sleeperBehind(actor, context, asked);
      if (missing !== null) return new Lacking([{ actor, missing }]);
      const state = advanced(context, before);
      const isOpen = state.reservations.some(({ id }) => id === reservation.id);
      const status = reservation.status === 'open' && !isOpen ? 'expired' : reservation.status;
      const now = { ...reservation, status };
      const { reason } = check(state, 0n);
      const snapshot = snapshotOf(state);
      const { paidBy } = now;
      return { kind: 'known', reservation: now, reason, snapshot, paidBy } as const;
    },
  );
}

/** Commits, releases or extends. null where the customer has no such reservation on the meter. */
export function resolveReservation(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  { id, act }: { readonly id: string; readonly act: Resolution },
): Promise<Resolved | null> {
  return session.mutex.alone([id], async () => {
    const first = await decide(session, { customerId, meter, id, act, stored: null });
    if (first.kind !== 'unknown') return first;
    const stored = await session.deps.storage.findReservation(id);
    if (stored?.customerId !== customerId || stored.meterId !== meter.id) return null;
    const { reservation } = stored;
    const second = await decide(session, { customerId, meter, id, act, stored: reservation });
    return second.kind === 'unknown' ? null : second;
  });
}

type Known = Exclude<ResolveOutcome, { readonly kind: 'unknown' }>;

/**
 * `owing`: subscriptions that have an invoice by it, which is to be carried out; absent for none.
 */
export type Resolved =
  | Exclude<Known, { readonly kind: 'done' }>
  | (Extract<Known, { readonly kind: 'done' }> & { readonly owing?: readonly string[] });

type Resolving = {
  readonly customerId: string;
  readonly meter: Meter;
  readonly id: string;
  readonly act: Resolution;
  readonly stored: Reservation | null;
};

type Unknown = Extract<ResolveOutcome, { readonly kind: 'unknown' }>;

/**
 * What an ended subscription has sold is billed with it. Nothing else may be decided about that one
 * meanwhile: memory has let go of it, so what is stored is what the decision is on.
 */
async function decide(
  session: OwnershipSession,
  of: Resolving,
  ended: Ended = new Map(),
): Promise<Resolved | Unknown> {
  const outcome = await decideOn(session, of, ended);
  if (outcome.kind !== 'lacks') return outcome;
  return session.mutex.alone(outcome.ids, async () => {
    const found = new Map(ended);
    for (const id of outcome.ids) {
      found.set(id, await session.deps.storage.findSubscription(id));
    }
    return decide(session, of, found);
  });
}

type Lacks = { readonly kind: 'lacks'; readonly ids: readonly string[] };

async function decideOn(
  session: OwnershipSession,
  of: Resolving,
  ended: Ended,
): Promise<Resolved | Unknown | Lacks> {
  const { contexts } = session;
  const decided = await session.executor.decideOn<Actor, Resolved | Unknown | Lacks>(
    'resolve',
    () => session.store.actorOf(of.customerId, of.meter.organisationId),
    [],
    (actor, memory) => {
      const meter = contexts.meter(of.meter);
      const context = contexts.ofMeter(actor, meter);
      const before = contexts.stateOf(actor, meter);
      const missing =
        contexts.asleepBefore(actor, context, before) ?? missingForHolds(context, before);
      if (missing !== null) return new Lacking([{ actor, missing }]);
      const { outcome, effects } = decideResolution(context, before, of);
      const sellers = effects === null ? [] : endedSellers(actor, effects);
      const unknown = sellers.filter((id) => !ended.has(id));
      if (unknown.length > 0) return { kind: 'lacks', ids: unknown };
      const sold = new Map(sellers.map((id) => [id, soldSoFar(actor, id)]));
      if (effects !== null) memory.apply(actor, effects);
      if (outcome.kind !== 'done') return outcome;
      const committed = { holdId: of.id, before: sold, ended };
      const owing = billEnded({ session, actor, memory }, committed);
      tell(session, memory, { actor, meter, context, before }, outcome.used);
      return owing.length === 0 ? outcome : { ...outcome, owing };
    },
  );
  assert(decided !== DUPLICATE, 'without keys it is no duplicate');
  return decided;
}

/** What was committed is usage: its event, and what it comes to under a spend cap. */
function tell(
  session: OwnershipSession,
  memory: Memory,
  { actor, meter, context, before }: Of,
  used: readonly UsageAnswer[],
): void {
  const last = used.at(-1);
  if (last === undefined) return;
  const outcome = { kind: 'recorded', record: last } as const;
  announceSpendCap(session, memory, { actor, meter }, { context, before, outcome });
  if (!session.deps.wants(actor.customer, 'usage.recorded')) return;
  const recorded = used.map((record) => ({ request: WITHOUT_KEY, record }));
  publishUsage(session, memory, { actor, meter, recorded });
}

type Of = {
  readonly actor: Actor;
  readonly meter: Meter;
  readonly context: MeterContext;
  readonly before: MeterState;
};

const WITHOUT_KEY = { idempotencyKey: null, externalId: null, metadata: null } as const;
