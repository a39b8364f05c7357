// The columns of spans and of what a customer's subscriptions share. They come as rows
// (`columns.ts`).
import type { BillingAccountRow, SpanRow } from '../storage.ts';
import { kept, replaced, type RowColumns } from './columns.ts';

export const SPAN_COLUMNS = {
  slot: kept('smallint', ({ customer }) => customer.slot),
  id: kept('uuid', ({ span }) => span.id),
  organisation_id: kept('uuid', ({ customer }) => customer.organisationId),
  mode: kept('enum', ({ customer }) => customer.mode),
  customer_id: kept('uuid', ({ customer }) => customer.id),
  meter_id: kept('uuid', ({ meterId }) => meterId),
  subscription_id: kept('uuid', ({ span }) => span.subscriptionId),
  usage_price_id: replaced('uuid', ({ span }) => span.price.id),
  account_id: kept('uuid', ({ span }) => span.accountId),
  period_start: replaced('time', ({ span }) => span.period?.start ?? null),
  period_end: replaced('time', ({ span }) => span.period?.end ?? null),
  started_at: replaced('time', ({ span }) => span.start),
  place: replaced('smallint', ({ span }) => span.place),
  ended_at: replaced('time', ({ span }) => span.end),
  ended_in: replaced('smallint', ({ span }) => span.endedIn),
  quantity_limit: replaced('bigint', ({ span }) => span.limit),
  opening_aggregate: replaced('bigint', ({ span }) => span.opening.aggregate),
  opening_latest_at: replaced('time', ({ span }) => span.opening.latest?.at ?? null),
  opening_latest_id: replaced('uuid', ({ span }) => span.opening.latest?.id ?? null),
  closing_aggregate: replaced('bigint', ({ span }) => span.closing?.aggregate ?? null),
  closing_latest_at: replaced('time', ({ span }) => span.closing?.latest?.at ?? null),
  closing_latest_id: replaced('uuid', ({ span }) => span.closing?.latest?.id ?? null),
  billed_as: replaced('uuid', ({ span }) => span.billedAs),
  live: replaced('boolean', ({ isLive }) => isLive),
} as const satisfies RowColumns<SpanRow>;

export const BILLING_ACCOUNT_COLUMNS = {
  slot: kept('smallint', ({ customer }) => customer.slot),
  customer_id: kept('uuid', ({ customer }) => customer.id),
  organisation_id: kept('uuid', ({ customer }) => customer.organisationId),
  mode: kept('enum', ({ customer }) => customer.mode),
  credit: replaced('exact_json', ({ account }) => account.credit),
  spend_cap: replaced('exact_json', ({ account }) => account.spendCap),
} as const satisfies RowColumns<BillingAccountRow>;
