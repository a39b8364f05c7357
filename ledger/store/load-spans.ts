import type { Span } from '../metering/span.ts';
import { type UsagePriceRow, usagePriceOf } from './usage-price-row.ts';

/** A row of `usage_spans` with its price, as JSON: int8 as a number, which is exact below 2^53. */
export type SpanJson = {
  readonly id: string;
  readonly subscription_id: string;
  readonly account_id: string;
  readonly period_start: string | null;
  readonly period_end: string | null;
  readonly started_at: string;
  readonly place: number;
  readonly ended_at: string | null;
  readonly ended_in: number | null;
  readonly quantity_limit: number | null;
  readonly opening_aggregate: number;
  readonly opening_latest_at: string | null;
  readonly opening_latest_id: string | null;
  readonly closing_aggregate: number | null;
  readonly closing_latest_at: string | null;
  readonly closing_latest_id: string | null;
  readonly billed_as: string | null;
  readonly price: UsagePriceRow;
};

export function spanOf(row: SpanJson): Span {
  return {
    id: row.id,
    subscriptionId: row.subscription_id,
    price: usagePriceOf(row.price),
    accountId: row.account_id,
    period: periodOf(row),
    start: Date.parse(row.started_at),
    place: row.place,
    end: row.ended_at === null ? null : Date.parse(row.ended_at),
    endedIn: row.ended_in,
    limit: row.quantity_limit === null ? null : BigInt(row.quantity_limit),
    opening: {
      aggregate: BigInt(row.opening_aggregate),
      latest: latestOf(row.opening_latest_at, row.opening_latest_id),
    },
    closing:
      row.closing_aggregate === null
        ? null
        : {
            aggregate: BigInt(row.closing_aggregate),
            latest: latestOf(row.closing_latest_at, row.closing_latest_id),
          },
    billedAs: row.billed_as,
  };
}

function periodOf({ period_start: start, period_end: end }: SpanJson): Span['period'] {
  return start === null || end === null ? null : { start: Date.parse(start), end: Date.parse(end) };
}

function latestOf(at: string | null, id: string | null): Span['opening']['latest'] {
  return at === null || id === null ? null : { at: Date.parse(at), id };
}
