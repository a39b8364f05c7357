// The record of denials: each no of /check and /track, as src/decisions/ hands them over.
import type { Reason } from '../../ledger/kernel/transfers.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

/** What was asked. `consume`: a check that records what it allows. */
export type DenialKind = 'check' | 'consume' | 'track' | 'reserve';

/** The question and its answer. Quantities are scaled; a limit of null is unlimited. */
export type DenialAnswer = {
  readonly customerId: string;
  readonly kind: DenialKind;
  readonly reason: Reason;
  readonly value: bigint;
  readonly limit: bigint | null;
  readonly consumed: bigint;
  readonly reserved: bigint;
  readonly periodStart: string | null;
  readonly periodEnd: string | null;
  /** Of a refusal with a key: its transfer. */
  readonly transferId: string | null;
  /** Whether it was decided before, by another call with that key. */
  readonly replayed: boolean;
  readonly requestIds: readonly string[];
};

/** `count` times the same answer to the same question. Times are milliseconds. */
export type NewDenial = Tenant & {
  readonly id: string;
  readonly meterId: string;
  /** The first and the last, by the organisation's clock. */
  readonly at: number;
  readonly lastAt: number;
  /** The first, by the wall clock. */
  readonly recordedAt: number;
  readonly count: number;
  readonly node: number | null;
  /** null: only counted. */
  readonly answer: DenialAnswer | null;
};

/** Once for each id, whatever is tried again. */
export async function insertDenials(sql: Executor, denials: readonly NewDenial[]): Promise<void> {
  await sql`
    with written as (
      insert into denials (id, organisation_id, mode, meter_id, customer_id, at, last_at, recorded_at, count, kind, reason,
        value, "limit", consumed, reserved, period_start, period_end, transfer_id, replayed, request_ids, node)
      select id, organisation_id, mode, meter_id, customer_id, at, last_at, recorded_at, count, kind, reason,
        value, "limit", consumed, reserved, period_start, period_end, transfer_id, replayed, request_ids, node
      from jsonb_populate_recordset(null::denials, ${sql.json(denials.map(rowOf))})
      on conflict do nothing returning id, organisation_id, mode, meter_id, at, count, request_ids
    ), requests as (
      insert into denial_requests (organisation_id, mode, request_id, denial_id)
      select organisation_id, mode, unnest(request_ids), id from written on conflict do nothing
    )
    insert into denial_counts as c (organisation_id, mode, quarter, meter_id, count)
    select organisation_id, mode, date_bin('15 minutes', at, 'epoch'), meter_id, sum(count) from written
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (organisation_id, mode, quarter, meter_id) do update set count = c.count + excluded.count`;
}

const time = (ms: number): string => new Date(ms).toISOString();

function rowOf({ answer, organisationId, mode, meterId, ...denial }: NewDenial) {
  const { id, count, node } = denial;
  return {
    id,
    organisation_id: organisationId,
    mode,
    meter_id: meterId,
    at: time(denial.at),
    last_at: time(denial.lastAt),
    recorded_at: time(denial.recordedAt),
    count,
    node,
    customer_id: answer?.customerId ?? null,
    kind: answer?.kind ?? null,
    reason: answer?.reason ?? null,
    value: text(answer?.value),
    limit: text(answer?.limit),
    consumed: text(answer?.consumed),
    reserved: text(answer?.reserved),
    period_start: answer?.periodStart ?? null,
    period_end: answer?.periodEnd ?? null,
    transfer_id: answer?.transferId ?? null,
    replayed: answer?.replayed ?? false,
    request_ids: [...(answer?.requestIds ?? [])],
  };
}

const text = (value: bigint | null | undefined): string | null => value?.toString() ?? null;

export type DenialCount = {
  /** The start of the hour. */
  readonly at: Date;
  readonly featureKey: string;
  /** All denials in it, those that have no row of their own too. */
  readonly count: number;
};

/**
 * Denials by hour and feature, in order of time, by the organisation's clock. Hours begin as the
 * zone's do; `from` (inclusive) and `to` (exclusive) are quarters of an hour. Hours without a
 * denial are left out.
 */
export async function countDenials(
  sql: Executor,
  { organisationId, mode }: Tenant,
  { from, to, zone = 'UTC' }: { readonly from: Date; readonly to: Date; readonly zone?: string },
): Promise<DenialCount[]> {
  return sql<DenialCount[]>`
    select date_trunc('hour', c.quarter, ${zone}) as at, m.slug as "featureKey", sum(c.count)::float8 as count
    from denial_counts c join meters m on m.id = c.meter_id
    where c.organisation_id = ${organisationId} and c.mode = ${mode} and c.quarter >= ${from} and c.quarter < ${to}
    group by 1, 2 order by 1, 2`;
}
