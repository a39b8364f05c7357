// Converts what a caller reports into what the ledger records: quantities, properties, keys, times.
import { EVENT_EARLY_MS_MAX, EVENT_LATE_MS_MAX } from '../../../ledger/limits.ts';
import type { UsageRequest } from '../../../ledger/outcome.ts';
import type { Ids } from '../../../ledger/ports.ts';
import { one, parseQuantity, type QuantityError } from '../../../ledger/kernel/quantity.ts';
import type { Scalar, UsageMetadata } from '../../../ledger/kernel/transfers.ts';
import type { UsageMeter } from '../../records/meters.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Issue } from '../edge/errors.ts';

export type Reported = {
  readonly value?: number | string;
  readonly metadata?: UsageMetadata;
};

export type Measured = { readonly value: bigint; readonly member: bigint | null };

const MESSAGES: Record<QuantityError, string> = {
  not_a_decimal: 'must be a decimal number',
  too_many_decimals: 'has more decimals than the meter',
  out_of_range: 'is out of range',
};

/** Parses a quantity of a meter; the issue's path is `path`. */
export function quantityOf(
  input: number | string,
  scale: number,
  path: readonly string[],
): bigint | Issue {
  const parsed = parseQuantity(input, scale);
  return typeof parsed === 'bigint' ? parsed : { path, message: MESSAGES[parsed] };
}

/**
 * The quantity of an event for one meter. Its own `value` wins over the meter's `value_property`;
 * without either it is 1. Where the meter names a property and the event lacks it, the event is
 * refused, not counted as 1.
 */
export function measure(meter: UsageMeter, reported: Reported, ids: Ids): Measured | Issue {
  const { metadata } = reported;
  const { uniqueProperty, valueProperty, aggregation } = meter;
  let member: bigint | null = null;
  if (aggregation === 'unique' && uniqueProperty !== null) {
    const property = own(metadata, uniqueProperty);
    if (property === undefined) return lacking(uniqueProperty);
    // Members are compared as text: 7 and "7" are the same.
    member = ids.fingerprint(String(property));
  }
  let value: bigint | Issue;
  if (reported.value !== undefined) {
    value = quantityOf(reported.value, meter.scale, ['value']);
  } else if (valueProperty !== null && aggregation !== 'unique' && aggregation !== 'count') {
    const property = own(metadata, valueProperty);
    if (property === undefined) return lacking(valueProperty);
    const said = typeof property === 'number' ? property : String(property);
    value = quantityOf(said, meter.scale, ['metadata', valueProperty]);
  } else {
    value = one(meter.scale);
  }
  if (typeof value !== 'bigint') return value;
  if (value < 0n && aggregation !== 'sum' && aggregation !== 'count') {
    return {
      path: ['value'],
      message: `must not be negative: a ${aggregation} takes no corrections`,
    };
  }
  return { value, member };
}

function own(metadata: UsageMetadata | undefined, property: string): Scalar | undefined {
  return metadata !== undefined && Object.hasOwn(metadata, property)
    ? metadata[property]
    : undefined;
}

function lacking(property: string): Issue {
  return { path: ['metadata', property], message: 'is required by the meter' };
}

/** The keys that a caller sent so that an event counts once. */
export type CallerKey = {
  readonly body: string | undefined;
  readonly header: string | null;
  readonly operation: string;
};

/** The ids of an event that has a key; null without one. */
type KeyedIds = Pick<UsageRequest, 'keyId' | 'formerKeyId'>;

const NO_KEY: KeyedIds = { keyId: null, formerKeyId: null };

/**
 * The ids that a caller's key gives, in the scope of the customer, whichever of its two ids names
 * it. A key in the body identifies the event: it is the same for /track, /check and /events/ingest,
 * and wins. A key in the header identifies the request, and belongs to its operation.
 */
export function keyedIds(
  { ids, hasFormerKeys }: { readonly ids: Ids; readonly hasFormerKeys: boolean },
  { organisationId, mode }: Tenant,
  { customerId, key }: { readonly customerId: string; readonly key: CallerKey },
): KeyedIds {
  const { body, header, operation } = key;
  if (body !== undefined) {
    return {
      keyId: ids.derive('event', organisationId, mode, customerId, body),
      formerKeyId: hasFormerKeys ? ids.derive('event', organisationId, mode, body) : null,
    };
  }
  if (header === null) return NO_KEY;
  return {
    keyId: ids.derive('request', organisationId, mode, customerId, operation, header),
    formerKeyId: hasFormerKeys
      ? ids.derive('request', organisationId, mode, operation, header)
      : null,
  };
}

/**
 * A fingerprint of a keyed request, to detect another request under the same key. `metadata` is the
 * result of `metadataText`.
 */
export function fingerprintOf(
  ids: Ids,
  event: {
    readonly customerId: string;
    readonly meterId: string;
    readonly value: bigint;
    readonly metadata: string;
    readonly variant: '' | 'reject' | 'consume';
  },
): bigint {
  const { customerId, meterId, value, metadata, variant } = event;
  return ids.fingerprint(`${customerId}${meterId}${value}${variant}${metadata}`);
}

/** Canonical text: independent of the order of pairs. 1 and "1" differ, 1 and 1.0 do not. */
export function metadataText(metadata: UsageMetadata | undefined): string {
  if (metadata === undefined) return '';
  return JSON.stringify(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const ISO_TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** PostgreSQL does not read a year of five digits, which an offset can lead to. */
const YEARS_END = Date.UTC(10_000, 0);

/**
 * Milliseconds of an ISO 8601 time with a zone, or null. A day that the month does not have, and a
 * year before 1970, are invalid.
 */
export function timeOf(text: string): number | null {
  const match = ISO_TIME.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match.map(Number);
  const at = Date.parse(text);
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day));
  return at >= 0 && at < YEARS_END && date.getUTCDate() === day ? at : null;
}

/** The time of an event: at most 5 minutes ahead and 35 days back (docs/spec/usage.md#ingest). */
export function eventTime(text: string, now: number): number | Issue {
  const at = timeOf(text);
  const path = ['timestamp'];
  if (at === null) return { path, message: 'must be an ISO 8601 time with a zone' };
  if (at > now + EVENT_EARLY_MS_MAX) return { path, message: 'is more than 5 minutes ahead' };
  if (at < now - EVENT_LATE_MS_MAX) return { path, message: 'is more than 35 days back' };
  return at;
}
