import type { AnswerRest } from '../kernel/transfers.ts';
import { advanced } from '../metering/advance.ts';
import { type Meter, snapshotOf } from '../metering/meter.ts';
import type { PaidBy } from '../metering/paid-by.ts';
import type { RecordOutcome, UsageRequest } from '../outcome.ts';
import type { StoredUsage } from '../storage.ts';
import type { Actor } from './actor.ts';
import type { OwnershipSession } from './ownership-session.ts';

/** One usage to record. */
export type UsageItem = {
  readonly actor: Actor;
  readonly meter: Meter;
  readonly request: UsageRequest;
};

/** The items that were recorded under their keys' former ids. */
export async function formerUsage<I extends UsageItem>(
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

function payersOf({ own, credits, pool }: NonNullable<AnswerRest['paidBy']>): PaidBy {
  return { own: BigInt(own), credits: BigInt(credits), pool };
}

/**
 * The answer of the first call with this key. Fields that the first call did not store are current.
 */
export function replay(
  { contexts }: OwnershipSession,
  { actor, meter, request }: UsageItem,
  stored: StoredUsage,
): RecordOutcome {
  if (stored.fingerprint !== request.fingerprint) return { kind: 'key_reused' };
  const { answer } = stored;
  const paid = answer?.paidBy;
  const now = () =>
    snapshotOf(advanced(contexts.ofMeter(actor, meter), contexts.stateOf(actor, meter)));
  const { overageAllowed, periodStart, periodEnd, ...rest } = answer ?? now();
  const isPooled = 'pooled' in rest && rest.pooled;
  return {
    kind: stored.refused ? 'refused' : 'recorded',
    replayed: true,
    record: {
      id: stored.id,
      value: stored.value,
      eventAt: stored.eventAt,
      reason: stored.reason,
      paidBy: paid === undefined ? null : payersOf(paid),
      externalId: answer === null ? actor.customer.externalId : answer.externalId,
      snapshot: {
        limit: stored.limitAfter,
        consumed: stored.consumedAfter,
        billed: BigInt(answer?.billed ?? 0),
        reserved: BigInt(answer?.reserved ?? 0),
        pooled: paid?.pooled ?? isPooled,
        overageAllowed,
        periodStart,
        periodEnd,
      },
    },
  };
}
