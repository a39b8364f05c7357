import { advanced } from '../metering/advance.ts';
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
  balance,
  breakdown,
  check,
  snapshotOf,
} from '../metering/meter.ts';
import type { Actor } from './actor.ts';
import type { Term } from './ownership-session.ts';

// What is asked of a customer's meters, but for recording usage. Each throws NotHere where the customer is another node's.

/** Whether `units` may be used now, from memory: as whoever asked is told. */
export function checkHere(term: Term, actor: Actor, meter: Meter, units: bigint): string {
  const answer = answerOf(term, actor, meter, units);
  answer.rendered ??= term.deps.render(answer, meter);
  return answer.rendered;
}

/**
 * Of the tentative and the durable state it reads the one with the lower balance: it never allows on what may still be rolled back,
 * and never forgets what was acknowledged.
 */
function answerOf(term: Term, actor: Actor, meter: Meter, units: bigint): CheckAnswer {
  const holding = actor.holding(meter);
  const isSettled = actor.pending === 0 || holding?.durable === holding?.tentative;
  if (holding !== undefined && isSettled) {
    const kept = holding.kept;
    // Asked the same while nothing has changed, it says the same.
    if (
      kept !== null &&
      kept.state === holding.tentative &&
      kept.answer.units === units &&
      term.deps.orgClock.now(actor.customer) < kept.until
    ) {
      return kept.answer;
    }
  }
  const context = term.context(actor, meter);
  const tentative = holding?.tentative ?? term.emptyState(actor, meter);
  const answer = check(advanced(context, tentative), units);
  if (holding !== undefined && context.now < tentative.nextDue) {
    holding.kept = { answer, state: tentative, until: tentative.nextDue };
  }
  if (isSettled) return answer;
  const durable = holding?.durable ?? term.emptyState(actor, meter);
  const other = check(advanced(context, durable), units);
  return isLower(other, answer) ? other : answer;
}

/** Adds a grant, once for each id. */
export function addGrant(
  term: Term,
  customerId: string,
  meter: Meter,
  grant: Grant,
): Promise<GrantOutcome | { readonly kind: 'duplicate' }> {
  return term.inTurn.alone([grant.id], async () => {
    if (await term.deps.storage.grantExists(grant.id)) return { kind: 'duplicate' };
    return term.decide<GrantOutcome | { readonly kind: 'duplicate' }>(
      customerId,
      meter,
      (context, state, actor) =>
        term.hasRoom(actor, meter)
          ? decideGrant(context, state, grant)
          : { outcome: { kind: 'too_many_meters' }, effects: null },
      // Its key may be in use for another customer by now, on another node.
      { id: grant.id, used: { kind: 'duplicate' } },
    );
  });
}

/** null where the customer has nothing on that meter. */
export async function voidGrant(
  term: Term,
  customerId: string,
  { meterId, grantId }: { readonly meterId: string; readonly grantId: string },
): Promise<VoidOutcome | null> {
  const actor = await term.actorOf(customerId);
  const meter = actor.holdings.get(meterId)?.meter;
  if (meter === undefined) return null;
  return term.decide(customerId, meter, (context, state) => decideVoid(context, state, grantId));
}

export type MeterBalance = {
  readonly meter: Meter;
  readonly snapshot: Snapshot;
  readonly breakdown: ReturnType<typeof breakdown>;
  readonly state: MeterState;
};

/** What the customer has of each meter, as it is durable now. */
export function balancesOf(term: Term, customerId: string): Promise<readonly MeterBalance[]> {
  return term.read(
    () => term.actorOf(customerId),
    (actor) =>
      [...actor.holdings.values()].flatMap(({ meter, durable }) => {
        if (durable === undefined) return [];
        const state = advanced(term.context(actor, meter), durable);
        return [{ meter, snapshot: snapshotOf(state), breakdown: breakdown(state), state }];
      }),
  );
}

function isLower(a: CheckAnswer, b: CheckAnswer): boolean {
  const [left, right] = [balance(a.snapshot), balance(b.snapshot)];
  if (left === null) return false;
  if (right === null) return true;
  // At the same balance the one that denies.
  return left < right || (left === right && !a.allowed);
}
