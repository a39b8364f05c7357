import { assert } from '../kernel/assert.ts';
import type { MeterContext } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import { type Aggregation, type MeterState, balance } from './meter.ts';
import type { UsageRequest } from '../outcome.ts';
import { inRange, quantityNumber } from '../kernel/quantity.ts';
import type { UsageAnswer } from './usage-answer.ts';

/** One usage of a call: what was asked, and what was recorded of it. */
export type Recorded = {
  readonly request: Pick<UsageRequest, 'idempotencyKey' | 'externalId' | 'metadata'>;
  readonly record: UsageAnswer;
};

/**
 * `usage.recorded`: what one call recorded on one meter of a customer, in the order of the
 * decisions. It has effects of its own, so usage without a subscriber to this event costs nothing.
 *
 * The object of the event is the last of those usages. It is the only event of that object, unless
 * retention has let go of a key and it counts anew. So there is no counter: the flush numbers it
 * after those of before (`flush-sql.ts`).
 */
export function usageEvent(
  { customer, meter, now, ids }: MeterContext,
  state: MeterState,
  recorded: readonly Recorded[],
): MeterEffects {
  const last = recorded.at(-1);
  assert(last !== undefined, 'an event is about something');
  const { record, request } = last;
  const rest = balance(record.snapshot);
  const value = together(meter.aggregation, recorded);
  return {
    kind: 'meter',
    customer,
    meter,
    state,
    transfers: [],
    periods: [],
    grants: [],
    members: [],
    spans: [],
    marks: [],
    reservations: [],
    pooled: [],
    beside: [],
    topUpChanged: false,
    topUpOrders: [],
    stateChanged: false,
    events: [
      {
        id: ids.next(),
        type: 'usage.recorded',
        objectType: 'USAGE',
        objectId: record.id,
        accountId: customer.id,
        timestamp: now,
        sequence: 1n,
        data: {
          customerId: customer.id,
          externalCustomerId: record.externalId,
          featureKey: meter.slug,
          meterId: meter.id,
          count: recorded.length,
          // Each value is in range; their sum need not be, and a number that is not exact may not
          // leave.
          value: inRange(value) ? quantityNumber(value, meter.scale) : null,
          consumed: quantityNumber(record.snapshot.consumed, meter.scale),
          balance: rest === null ? null : quantityNumber(rest, meter.scale),
          usageEventId: record.id,
          idempotencyKey: request.idempotencyKey,
          externalId: request.externalId,
          metadata: request.metadata,
          occurredAt: new Date(record.eventAt).toISOString(),
        },
      },
    ],
  };
}

/**
 * What they reported, as the meter looks at many values: the greatest, the latest, or their sum.
 */
function together(aggregation: Aggregation, recorded: readonly Recorded[]): bigint {
  const records = recorded.map(({ record }) => record);
  if (aggregation === 'max') {
    return records.reduce((most, { value }) => (value > most ? value : most), 0n);
  }
  if (aggregation === 'last') {
    const [latest] = records.toSorted((a, b) => b.eventAt - a.eventAt || (a.id < b.id ? 1 : -1));
    return latest?.value ?? 0n;
  }
  return records.reduce((sum, { value }) => sum + value, 0n);
}
