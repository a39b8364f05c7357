// The bodies of /check, /track and /events/ingest (docs/spec/usage.md).
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { CHECK_BATCH_MAX, INGEST_EVENTS_MAX, TRACK_BATCH_MAX } from '../../../ledger/limits.ts';
import {
  type CheckAnswer,
  type Meter,
  type Snapshot,
  balance,
} from '../../../ledger/metering/meter.ts';
import type { UsageAnswer } from '../../../ledger/outcome.ts';
import { iso } from '../../../ledger/kernel/iso.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { issuesOf, rule, ruled, validator } from '../edge/validate.ts';
import { UsageMetadata } from './metadata.ts';
import { ErrorDetail, Issues } from './errors.ts';
import { EXPIRES_IN_DEFAULT, ExpiresIn, Reservation } from './reservations.ts';
import { PaidBy, paidByOf } from './paid-by.ts';
import { EventKey, FeatureKey, Quantity, WHO } from './usage-fields.ts';
import { Body, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

const QUESTION = { feature_key: FeatureKey, ...WHO, value: Type.Optional(Quantity) };

export const CheckBody = Body(
  {
    ...QUESTION,
    consume: Type.Optional(
      Type.Boolean({ description: 'Also record the value if it is allowed, in the same step.' }),
    ),
    reserve: Type.Optional(
      Type.Boolean({
        description: 'Hold the value if it is allowed, in the same step: see `POST /reservations`.',
      }),
    ),
    expires_in: Type.Optional({ ...ExpiresIn, default: EXPIRES_IN_DEFAULT }),
    idempotency_key: Type.Optional(EventKey),
  },
  { feature_key: 'api-calls', external_customer_id: 'user-1', value: 1 },
);

/** A body of /check that records nothing. */
export const Question = Body(QUESTION);

const CHECKS = Body(
  { checks: Type.Array(CheckBody, { maxItems: CHECK_BATCH_MAX }) },
  {
    checks: [
      { feature_key: 'api-calls', external_customer_id: 'user-1' },
      { feature_key: 'seats', external_customer_id: 'user-1' },
      { feature_key: 'api-calls', external_customer_id: 'user-2', value: 2, consume: true },
    ],
  },
);

export const TrackBody = Body(
  {
    ...QUESTION,
    idempotency_key: Type.Optional(EventKey),
    metadata: Type.Optional(UsageMetadata),
    overage: Type.Optional(
      Type.Literal('reject', {
        description: 'Refuse usage over the limit with 402. Without it usage is recorded in full.',
        error: 'must be "reject", or left out',
      }),
    ),
  },
  {
    feature_key: 'api-calls',
    external_customer_id: 'user-1',
    value: 2,
    idempotency_key: 'order-17',
  },
);

const TRACKS = Body(
  { tracks: Type.Array(TrackBody, { maxItems: TRACK_BATCH_MAX }) },
  {
    tracks: [
      {
        feature_key: 'api-calls',
        external_customer_id: 'user-1',
        value: 2,
        idempotency_key: 'order-18',
      },
      { feature_key: 'api-calls', external_customer_id: 'user-2' },
    ],
  },
);

const TRACK_ENVELOPE = Body({ tracks: Type.Array(Type.Unknown(), { maxItems: TRACK_BATCH_MAX }) });
const CHECK_ENVELOPE = Body({ checks: Type.Array(Type.Unknown(), { maxItems: CHECK_BATCH_MAX }) });

export const CheckBatchBody = batchOf('CheckBatchBody', CHECK_ENVELOPE, CHECKS);
export const TrackBatchBody = batchOf('TrackBatchBody', TRACK_ENVELOPE, TRACKS);

/** Its items are validated one by one: one that does not fit leaves the others as they are. */
function batchOf<T extends TSchema>(name: string, envelope: T, shown: TSchema) {
  const check = validator(envelope);
  const issues = (value: unknown) => issuesOf(check, value);
  return ruled<Static<T>>(
    rule(name, issues, (value) => check.Check(value)),
    shown,
  );
}

export const IngestEvent = Body({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  ...WHO,
  value: Type.Optional(Quantity),
  metadata: Type.Optional(UsageMetadata),
  timestamp: Type.Optional(Type.String({ description: 'ISO 8601, with Z or an offset.' })),
  external_id: Type.Optional(EventKey),
});

export type IngestEvent = Static<typeof IngestEvent>;

const Partial = Type.Boolean({
  description:
    'Record the valid events and list the others in `rejected`. Default: all or nothing.',
});

const WHOLE = Body(
  {
    events: Type.Array(IngestEvent, { maxItems: INGEST_EVENTS_MAX }),
    partial: Type.Optional(Partial),
  },
  {
    events: [
      { name: 'api-calls', external_customer_id: 'user-1', value: 2, external_id: 'log-17' },
    ],
  },
);

/** The envelope of a partial call: its events are validated one by one. */
const ENVELOPE = Body({
  events: Type.Array(Type.Unknown(), { maxItems: INGEST_EVENTS_MAX }),
  partial: Type.Literal(true),
});

const whole = validator(WHOLE);
const envelope = validator(ENVELOPE);

const isPartial = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'partial' in value && value.partial === true;

export const IngestBody = ruled<Static<typeof WHOLE> | Static<typeof ENVELOPE>>(
  rule(
    'IngestBody',
    (value) => issuesOf(isPartial(value) ? envelope : whole, value),
    (value) => whole.Check(value) || envelope.Check(value),
  ),
  WHOLE,
);

const OutQuantity = Nullable(Type.Number());

export const CheckReason = oneOf([
  'ok',
  'unlimited',
  'overage_allowed',
  'boolean',
  'insufficient_balance',
  'not_entitled',
  'subscription_paused',
  'blocked',
  'expired',
  'spend_cap',
]);

/** docs/spec/balance.md#stretches. */
export const Billed = Type.Optional(
  Type.Number({
    description:
      'The part of `consumed` that money has paid for: usage that was billed within the ' +
      'period, for example by a change of plan. `balance` is `limit` + `billed` - `consumed` ' +
      '- `reserved`. Absent if it is 0.',
  }),
);

/** Where there is something. */
export const billedOf = ({ billed }: Snapshot, scale: number) =>
  billed > 0n && { billed: quantityNumber(billed, scale) };

export const CheckResult = Type.Object({
  allowed: Type.Boolean(),
  balance: OutQuantity,
  limit: OutQuantity,
  consumed: Type.Number(),
  remaining: OutQuantity,
  reason: CheckReason,
  feature_key: Type.String(),
  requested: Type.Number(),
  unlimited: Type.Boolean(),
  overage_allowed: Type.Boolean(),
  billed: Billed,
  reserved: Type.Number(),
  paid_by: PaidBy,
  period_start: Nullable(Timestamp),
  period_end: Nullable(Timestamp),
  resets_at: Nullable(Timestamp),
  reservation: Type.Optional({
    ...Nullable(Reservation),
    description: 'With `reserve`: the reservation; null if it is denied.',
  }),
});

/** Of one item of a call, where it has no answer. */
export const ItemError = Type.Object({
  error: { ...ErrorDetail, description: 'Paths of its issues begin at the item.' },
});

const resultsOf = <T extends TSchema>(result: T) =>
  Type.Object({
    results: Type.Array(Type.Union([result, ItemError]), {
      description: 'In the order of the call: an answer or an error for each item.',
    }),
  });

export const CheckBatchResult = resultsOf(CheckResult);

export const TrackResult = Type.Object({
  id: Uuid,
  feature_key: Type.String(),
  customer_id: Uuid,
  external_customer_id: Nullable(Type.String()),
  value: Type.Number(),
  timestamp: Timestamp,
  balance: OutQuantity,
  limit: OutQuantity,
  consumed: Type.Number(),
  remaining: OutQuantity,
  overage: Type.Number(),
  duplicate: Type.Boolean(),
  billed: Billed,
});

export const TrackBatchResult = resultsOf(TrackResult);

export const IngestedEvent = Type.Object({
  index: Type.Integer(),
  id: Uuid,
  external_id: Nullable(Type.String()),
  status: oneOf(['inserted', 'duplicate']),
});

export const RejectedEvent = Type.Object({ index: Type.Integer(), issues: Issues });

export const IngestResult = Type.Object({
  inserted: Type.Integer(),
  duplicates: Type.Integer(),
  events: Type.Array(IngestedEvent),
  rejected: Type.Optional(
    Type.Array(RejectedEvent, {
      description:
        'With `partial`: each event that was not recorded, and why. A path begins at the event.',
    }),
  ),
});

const number = (value: bigint | null, scale: number): number | null =>
  value === null ? null : quantityNumber(value, scale);

/** The numbers of every answer about a balance. `null` is unlimited. */
export function fromSnapshot(snapshot: Snapshot, scale: number) {
  const rest = balance(snapshot);
  return {
    balance: number(rest, scale),
    limit: number(snapshot.limit, scale),
    consumed: quantityNumber(snapshot.consumed, scale),
    remaining: rest === null ? null : rest > 0n ? quantityNumber(rest, scale) : 0,
  };
}

/** The answer about one usage. */
export function fromUsage(
  { id, value, eventAt, externalId, snapshot }: UsageAnswer,
  about: { readonly customerId: string; readonly meter: Meter; readonly duplicate: boolean },
) {
  const { slug, scale } = about.meter;
  const { balance: rest, limit, consumed, remaining } = fromSnapshot(snapshot, scale);
  return {
    id,
    feature_key: slug,
    customer_id: about.customerId,
    external_customer_id: externalId,
    value: quantityNumber(value, scale),
    timestamp: iso(eventAt),
    balance: rest,
    limit,
    consumed,
    remaining,
    overage: quantityNumber(overageOf(snapshot), scale),
    duplicate: about.duplicate,
    ...billedOf(snapshot, scale),
  };
}

/** How far consumption is over the limit and what money has paid. */
export function overageOf(snapshot: Snapshot): bigint {
  const { limit, billed, consumed } = snapshot;
  return limit === null || consumed <= limit + billed ? 0n : consumed - limit - billed;
}

export function fromCheck(
  { units, allowed, reason, snapshot, paidBy }: Omit<CheckAnswer, 'rendered'>,
  { slug, scale }: { readonly slug: string; readonly scale: number },
) {
  const { balance: rest, limit, consumed, remaining } = fromSnapshot(snapshot, scale);
  const periodEnd = iso(snapshot.periodEnd);
  return {
    allowed,
    balance: rest,
    limit,
    consumed,
    remaining,
    reason,
    feature_key: slug,
    requested: quantityNumber(units, scale),
    unlimited: limit === null,
    overage_allowed: snapshot.overageAllowed,
    ...billedOf(snapshot, scale),
    reserved: quantityNumber(snapshot.reserved, scale),
    period_start: iso(snapshot.periodStart),
    period_end: periodEnd,
    resets_at: periodEnd,
    ...paidByOf(paidBy, { slug, scale }),
  };
}

/** The same as JSON text. */
export function renderCheck(answer: CheckAnswer, meter: Meter): string {
  return JSON.stringify(fromCheck(answer, meter));
}
