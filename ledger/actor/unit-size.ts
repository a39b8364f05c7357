import { assert } from '../kernel/assert.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Wants } from '../event.ts';
import { UNIT_BYTES_MAX, UNIT_ROWS_MAX } from '../limits.ts';
import type { Meter } from '../metering/meter.ts';
import type { PoolOf } from '../metering/pool.ts';
import type { UsageRequest } from '../outcome.ts';
import type { Scalar } from '../kernel/transfers.ts';

/** What a unit writes, as far as that is known before it is decided. */
export type UnitSize = {
  /** Transfers and events. */
  readonly rows: number;
  /** Of the metadata that callers sent, as often as it is written. */
  readonly bytes: number;
};

type Metadata = UsageRequest['metadata'];

type Recordable = { readonly request: { readonly metadata: Metadata } };

type Item = {
  readonly customer: { readonly id: string };
  readonly meter: { readonly id: string };
  readonly request: { readonly metadata: Metadata };
  readonly follows: boolean;
};

/** Whether `usage.recorded` is written for a call. All items of a call are one tenant's. */
export function isPublished(
  { wants }: { readonly wants: Wants },
  firstItem: { readonly customer: Tenant } | undefined,
): boolean {
  return firstItem !== undefined && wants(firstItem.customer, 'usage.recorded');
}

/**
 * Of usage that is recorded together. An event's metadata is written with its first meter alone;
 * where it is published (`isPublished`), once more with the event of each customer and meter.
 */
export function sizeOfBatch(items: readonly Item[], withEvents: boolean): UnitSize {
  let bytes = 0;
  let own = 0;
  const published = new Map<string, number>();
  for (const { customer, meter, request, follows } of items) {
    if (!follows) {
      own = bytesOf(request.metadata);
      bytes += own;
    }
    if (!withEvents) continue;
    const about = `${customer.id}${meter.id}`;
    published.set(about, Math.max(published.get(about) ?? 0, own));
  }
  for (const most of published.values()) bytes += most;
  return { rows: items.length + published.size, bytes };
}

/**
 * What usage of a pool, or of a member of one, adds to a unit: the pool's transfer, and as much
 * again, as both are decided. Measured: it takes the time of three others.
 */
const DRAW_ROWS = 2;

/** With what pools draw for usage of their members. */
export function withDraws(
  { poolOf }: { readonly poolOf: PoolOf },
  items: readonly { readonly meter: Meter }[],
  { rows, bytes }: UnitSize,
): UnitSize {
  const pooled = items.filter(({ meter }) => poolOf(meter) !== null).length;
  return { rows: rows + DRAW_ROWS * pooled, bytes };
}

/** Of usages that are recorded each by itself, each with an event of its own if at all. */
export function sizeOfEach(items: readonly Recordable[], withEvents: boolean): UnitSize {
  const times = withEvents ? 2 : 1;
  let bytes = 0;
  for (const { request } of items) bytes += bytesOf(request.metadata);
  return { rows: times * items.length, bytes: times * bytes };
}

/**
 * The same items in order, in parts that may be written at once each. No item is too large by
 * itself.
 */
export function partsOfEach<I extends Recordable>(
  items: readonly I[],
  withEvents: boolean,
): readonly (readonly I[])[] {
  const whole = sizeOfEach(items, withEvents);
  if (tooLarge(whole) === null) return [items];
  const parts: I[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    const own = sizeOfEach([item], withEvents).bytes;
    if (bytes + own > UNIT_BYTES_MAX) {
      parts.push([]);
      bytes = 0;
    }
    bytes += own;
    parts.at(-1)?.push(item);
  }
  return parts;
}

/** The reason why it is too large for one flush, as text for the caller; null where it is not. */
export function tooLarge({ rows, bytes }: UnitSize): string | null {
  if (bytes > UNIT_BYTES_MAX)
    return `metadata of ${bytes} bytes would be written at once: at most ${UNIT_BYTES_MAX} may be`;
  if (rows > UNIT_ROWS_MAX)
    return `${rows} rows would be written at once: at most ${UNIT_ROWS_MAX} may be`;
  return null;
}

/** As JSON in UTF-8, but for what is escaped in it. */
export function bytesOf(metadata: Metadata): number {
  if (metadata === null) return 0;
  let bytes = 2;
  for (const key in metadata) {
    bytes += Buffer.byteLength(key) + scalarBytes(metadata[key] ?? '') + PUNCTUATION;
  }
  return bytes;
}

/** PostgreSQL writes a number out, without an exponent: 1e300 has 301 digits. */
function scalarBytes(value: Scalar): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + QUOTES;
  assert(typeof value === 'boolean' || Number.isFinite(value), 'JSON has no other number');
  const text = String(value);
  const exponent = typeof value === 'number' ? text.indexOf('e') : -1;
  if (exponent === -1) return text.length;
  return ZERO_POINT + exponent + Math.abs(Number(text.slice(exponent + 1)));
}

const ZERO_POINT = 2;
const QUOTES = 2;

/** The quotes of the key, a colon and a comma. */
const PUNCTUATION = QUOTES + 2;
