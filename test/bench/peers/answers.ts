// Answers of the same shape as the service's (spec: POST /check, POST /track, POST /events/ingest).
export interface Usage {
  readonly customerId: string;
  readonly limit: number;
  readonly consumed: number;
}

const PERIOD_START = '2026-01-01T00:00:00.000Z';

export function checkAnswer(featureKey: string, { limit, consumed }: Usage) {
  const balance = limit - consumed;
  return {
    allowed: balance >= 1,
    balance,
    limit,
    consumed,
    remaining: Math.max(balance, 0),
    reason: balance >= 1 ? 'ok' : 'insufficient_balance',
    feature_key: featureKey,
    requested: 1,
    unlimited: false,
    overage_allowed: false,
    reserved: 0,
    period_start: PERIOD_START,
    period_end: null,
    resets_at: null,
  };
}

export function trackAnswer(
  event: { id: string; featureKey: string; externalId: string; value: number; duplicate: boolean },
  { customerId, limit, consumed }: Usage,
) {
  const balance = limit - consumed;
  return {
    id: event.id,
    feature_key: event.featureKey,
    customer_id: customerId,
    external_customer_id: event.externalId,
    value: event.value,
    timestamp: new Date().toISOString(),
    balance,
    limit,
    consumed,
    remaining: Math.max(balance, 0),
    overage: Math.max(-balance, 0),
    duplicate: event.duplicate,
  };
}

export interface Ingested {
  readonly id: string;
  readonly externalId: string;
  readonly isNew: boolean;
}

export function ingestAnswer(events: readonly Ingested[]) {
  let inserted = 0;
  for (const event of events) if (event.isNew) inserted += 1;
  return {
    inserted,
    duplicates: events.length - inserted,
    events: events.map(({ id, externalId, isNew }, index) => ({
      index,
      id,
      external_id: externalId,
      status: isNew ? 'inserted' : 'duplicate',
    })),
  };
}
