import { ASKED_WORK_MAX } from '../limits.ts';
import { advanced } from '../metering/advance.ts';
import { askCovered } from '../metering/cover.ts';
import {
  type GrantOutcome,
  type VoidOutcome,
  decideGrant,
  decideVoid,
} from '../metering/grant-decisions.ts';
import type { Grant } from '../metering/grants.ts';
import { type CheckAnswer, type Meter, type RenderedCheck, isLower } from '../metering/meter.ts';
import type { Actor } from './actor.ts';
import { Lacking } from './loader.ts';
import type { OwnershipSession } from './ownership-session.ts';

// Operations on a customer's meters, except recording usage. Each throws NotOwner where another
// node owns the customer.

/**
 * Whether `units` may be used now, from memory, rendered for the caller. Without a promise, unless
 * too much is due of the customer.
 */
export function checkHere(
  session: OwnershipSession,
  actor: Actor,
  meter: Meter,
  units: bigint,
): RenderedCheck | Promise<RenderedCheck> {
  const answer = rendered(session, actor, meter, units);
  return answer instanceof Lacking ? checkLater(session, actor.id, meter, units) : answer;
}

/** The same, of a customer who may not be in memory. */
export function checkLater(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  units: bigint,
): Promise<RenderedCheck> {
  return session.executor.read(
    () => session.store.actorOf(customerId, meter.organisationId),
    (actor) => rendered(session, actor, session.contexts.meter(meter), units),
  );
}

function rendered(
  session: OwnershipSession,
  actor: Actor,
  meter: Meter,
  units: bigint,
): RenderedCheck | Lacking {
  const answer = answerOf(session, actor, meter, units);
  if (answer instanceof Lacking) return answer;
  const { allowed } = answer;
  answer.rendered ??= { allowed, text: session.deps.render(answer, meter) };
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
): CheckAnswer | Lacking {
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
  const sleeper = session.contexts.sleeperBehind(actor, context, {
    state: tentative,
    max: ASKED_WORK_MAX,
  });
  if (sleeper !== null) return new Lacking([{ actor, missing: sleeper }]);
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
  const ofBefore = session.contexts.sleeperBehind(actor, before, {
    state: durable,
    max: ASKED_WORK_MAX,
  });
  if (ofBefore !== null) return new Lacking([{ actor, missing: ofBefore }]);
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
      (context, state, actor) => {
        const refused = refuseGrant(session.contexts, actor, meter);
        return refused === null
          ? decideGrant(context, state, grant)
          : { outcome: { kind: refused }, effects: null };
      },
      // Another node may have used the key for another customer.
      { once: { id: grant.id, used: { kind: 'duplicate' } } },
    );
  });
}

function refuseGrant(
  contexts: OwnershipSession['contexts'],
  actor: Actor,
  meter: Meter,
): 'too_many_meters' | 'too_many_grants_in_all' | null {
  if (!contexts.hasRoom(actor, meter)) return 'too_many_meters';
  return contexts.hasRoomForGrant(actor) ? null : 'too_many_grants_in_all';
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
