import { advanced } from '../metering/advance.ts';
import { askCovered } from '../metering/cover.ts';
import {
  type GrantOutcome,
  type VoidOutcome,
  decideGrant,
  decideVoid,
} from '../metering/grant-decisions.ts';
import type { Grant } from '../metering/grants.ts';
import {
  type CheckAnswer,
  type Meter,
  type MeterState,
  type Snapshot,
  breakdown,
  isLower,
  snapshotOf,
} from '../metering/meter.ts';
import type { Actor } from './actor.ts';
import type { OwnershipSession } from './ownership-session.ts';

// Operations on a customer's meters, except recording usage. Each throws NotOwner where another
// node owns the customer.

/** Whether `units` may be used now, from memory, rendered for the caller. */
export function checkHere(
  session: OwnershipSession,
  actor: Actor,
  meter: Meter,
  units: bigint,
): string {
  const answer = answerOf(session, actor, meter, units);
  answer.rendered ??= session.deps.render(answer, meter);
  return answer.rendered;
}

/**
 * Reads the tentative and the durable state and uses the one that leaves less. So it never allows
 * usage of what may be rolled back, and never forgets what was acknowledged. With a spend cap, what
 * is left of one meter depends on the others; with a pool, on the pool.
 */
function answerOf(
  session: OwnershipSession,
  actor: Actor,
  meter: Meter,
  units: bigint,
): CheckAnswer {
  const customerMeter = actor.customerMeter(meter);
  const pool = session.deps.poolOf(meter);
  const paying = pool === null ? undefined : actor.customerMeters.get(pool.meter.id);
  const isSettled =
    actor.pending === 0 ||
    (customerMeter?.durable === customerMeter?.tentative &&
      paying?.durable === paying?.tentative &&
      !actor.isCapped);
  if (customerMeter !== undefined && isSettled) {
    const { lastCheck } = customerMeter;
    // The same question on the same state has the same answer.
    if (
      lastCheck !== null &&
      lastCheck.state === customerMeter.tentative &&
      lastCheck.pool === pool &&
      lastCheck.paying === paying?.tentative &&
      lastCheck.answer.units === units &&
      session.deps.orgClock.now(actor.customer) < lastCheck.until
    ) {
      return lastCheck.answer;
    }
  }
  const context = session.contexts.ofMeter(actor, meter);
  const tentative = customerMeter?.tentative ?? session.contexts.emptyState(actor, meter);
  const answer = askCovered(context, advanced(context, tentative), units);
  const isOwn = context.affords === null || answer.reason === 'ok';
  const until = Math.min(tentative.nextDue, paying?.tentative?.nextDue ?? Infinity);
  if (customerMeter !== undefined && context.now < until && isOwn) {
    const [state, its] = [tentative, paying?.tentative];
    customerMeter.lastCheck = { answer, state, pool, paying: its, until };
  }
  if (isSettled) return answer;
  const durable = customerMeter?.durable ?? session.contexts.emptyState(actor, meter);
  const before = session.contexts.ofMeter(actor, meter, 'durable');
  const other = askCovered(before, advanced(before, durable), units);
  return isLower(other, answer) ? other : answer;
}

/** Adds a grant, once for each id. */
export function addGrant(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  grant: Grant,
): Promise<GrantOutcome | { readonly kind: 'duplicate' }> {
  return session.mutex.alone([grant.id], async () => {
    if (await session.deps.storage.grantExists(grant.id)) return { kind: 'duplicate' };
    return session.executor.decideOnMeter<GrantOutcome | { readonly kind: 'duplicate' }>(
      customerId,
      meter,
      (context, state, actor) =>
        session.contexts.hasRoom(actor, meter)
          ? decideGrant(context, state, grant)
          : { outcome: { kind: 'too_many_meters' }, effects: null },
      // Another node may have used the key for another customer.
      { id: grant.id, used: { kind: 'duplicate' } },
    );
  });
}

/** null where the customer has nothing on that meter. */
export async function voidGrant(
  session: OwnershipSession,
  customerId: string,
  { meterId, grantId }: { readonly meterId: string; readonly grantId: string },
): Promise<VoidOutcome | null> {
  const actor = await session.store.actorOf(customerId);
  const meter = actor.customerMeters.get(meterId)?.meter;
  if (meter === undefined) return null;
  return session.executor.decideOnMeter(customerId, meter, (context, state) =>
    decideVoid(context, state, grantId),
  );
}

export type MeterBalance = {
  readonly meter: Meter;
  readonly snapshot: Snapshot;
  readonly breakdown: ReturnType<typeof breakdown>;
  readonly state: MeterState;
};

/** The customer's meters as they are durable, at the current time. */
export function balancesOf(
  session: OwnershipSession,
  customerId: string,
): Promise<readonly MeterBalance[]> {
  return session.executor.read(
    () => session.store.actorOf(customerId),
    (actor) =>
      [...actor.customerMeters.values()].flatMap(({ meter, durable }) => {
        if (durable === undefined) return [];
        const state = advanced(session.contexts.ofMeter(actor, meter, 'durable'), durable);
        return [{ meter, snapshot: snapshotOf(state), breakdown: breakdown(state), state }];
      }),
  );
}
