// What `GET /usage/events` takes and answers (docs/spec/usage.md#usage-over-time).
import { type Static, Type } from '@sinclair/typebox';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import type { UsageEventRecord, UsagePlace } from '../../records/usage-events.ts';
import { isUuid } from '../../records/uuid.ts';
import type { Issue } from '../edge/errors.ts';
import { PAGE } from '../list.ts';
import { UsageMetadata } from './metadata.ts';
import { timeOf } from './usage.ts';
import { Body, ExternalCustomerId, Nullable, Timestamp, Uuid } from './values.ts';

export const UsageEventQuery = Body({
  customer_id: Type.Optional(Uuid),
  external_customer_id: Type.Optional(ExternalCustomerId),
  feature_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The slug of the meter.' }),
  ),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only events at or after this time.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only events before this time.' }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 100, description: '`next_cursor` of the page before.' }),
  ),
  limit: Type.Optional({
    ...PAGE.limit,
    description: 'Events of a page. It has fewer if the next one would exceed 1 MiB.',
  }),
});

export const UsageEvent = Type.Object({
  id: Uuid,
  feature_key: Type.String(),
  customer_id: Uuid,
  external_customer_id: Nullable(Type.String()),
  value: Type.Number({ description: 'As reported: negative for a correction.' }),
  timestamp: { ...Timestamp, description: 'When the usage happened.' },
  recorded_at: Timestamp,
  metadata: Nullable(UsageMetadata),
});

export const UsageEvents = Type.Object({
  data: Type.Array(UsageEvent, {
    description: 'A page may have fewer rows than `limit`, or none, while there are more.',
  }),
  next_cursor: Nullable(
    Type.String({ description: 'Where the next page begins. null: there are no more.' }),
  ),
});

export type AskedEvents = {
  readonly from: number;
  readonly to: number;
  readonly after: UsagePlace | null;
};

/** The range of a query and its place in it, or what is wrong with them. */
export function usageEventsAsked(query: Static<typeof UsageEventQuery>): AskedEvents | Issue[] {
  const issues: Issue[] = [];
  const read = (name: 'from' | 'to', without: number): number => {
    const text = query[name];
    const at = text === undefined ? without : timeOf(text);
    if (at === null) issues.push({ path: [name], message: 'must be an ISO 8601 time with a zone' });
    return at ?? without;
  };
  const range = { from: read('from', 0), to: read('to', Infinity) };
  const after = query.cursor === undefined ? null : placeOf(query.cursor);
  if (after === 'none') {
    issues.push({ path: ['cursor'], message: 'must be the next_cursor of a page' });
    return issues;
  }
  return issues.length > 0 ? issues : { ...range, after };
}

export function fromUsageEvent(event: UsageEventRecord): Static<typeof UsageEvent> {
  return {
    id: event.id,
    feature_key: event.featureKey,
    customer_id: event.customerId,
    external_customer_id: event.externalCustomerId,
    value: quantityNumber(event.value, event.scale),
    timestamp: event.eventAt.toISOString(),
    recorded_at: event.recordedAt.toISOString(),
    metadata: event.metadata,
  };
}

export const cursorOf = (place: UsagePlace): string =>
  Buffer.from(`${place.at} ${place.id}`).toString('base64url');

function placeOf(cursor: string): UsagePlace | 'none' {
  const [, at = '', id = ''] =
    /^(\d{1,15}) (.{36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const place = { at: Number(at), id };
  // What is no alphabet of it would be passed over.
  return isUuid(id) && cursorOf(place) === cursor ? place : 'none';
}
