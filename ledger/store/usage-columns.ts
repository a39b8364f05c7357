// The columns that most flushes write: transfers, and the balances that they change. They come as
// arrays (`columns.ts`).
//
// Reading a value out of an array costs more than storing it. So a value that all rows often share
// comes once, with the fence, and one that follows from another column is null.
import type { Transfer } from '../kernel/transfers.ts';
import type { AccountChange } from '../storage.ts';
import type { ArrayColumn, ArrayColumns, Cell } from './columns.ts';

type Type = ArrayColumn<never>['type'];

function column<Row>(type: Type, of: (row: Row) => Cell, sql?: string): ArrayColumn<Row> {
  return { type, of, shared: false, ...(sql === undefined ? {} : { sql }) };
}

function shared<Row>(type: Type, of: (row: Row) => Cell, sql?: string): ArrayColumn<Row> {
  return { ...column(type, of, sql), shared: true };
}

export const TRANSFER_COLUMNS: ArrayColumns<Transfer> = {
  id: column('uuid', ({ id }) => id),
  debit: column('uuid', ({ debit }) => debit),
  credit: shared('uuid', ({ credit }) => credit),
  // Null: the value.
  amount: shared('bigint', ({ amount, usage }) => (amount === usage?.value ? null : amount)),
  at: shared('time', ({ at }) => at),
  value: shared('bigint', ({ usage }) => usage?.value ?? null),
  events: column('bigint', ({ usage }) => usage?.events ?? null),
  // Null: when it was recorded.
  event_at: column('time', ({ usage, at }) =>
    usage === null || usage.eventAt === at ? null : usage.eventAt,
  ),
  consumed_after: column('bigint', ({ usage }) => usage?.consumedAfter ?? null),
  limit_after: shared('bigint', ({ usage }) => usage?.limitAfter ?? null),
  fingerprint: column(
    'bigint',
    ({ usage, refund }) => usage?.fingerprint ?? refund?.fingerprint ?? null,
  ),
  hold: column('uuid', ({ hold }) => hold?.id ?? null),
  kind: column(
    'transfer_kind',
    ({ kind }) => (kind === 'single' ? null : kind),
    `coalesce(t.kind, 'single')`,
  ),
  reason: shared('reason', ({ usage }) => usage?.reason ?? null),
  slot: column('smallint', ({ slot }) => slot),
  metadata: column('jsonb', ({ usage }) => json(usage?.metadata)),
  answer: column('jsonb', (transfer) => json(transfer.usage?.answer ?? recordOf(transfer))),
  guarded: column(
    'boolean',
    ({ usage }) => (usage?.guarded === true ? 't' : null),
    'coalesce(t.guarded, false)',
  ),
  sold: column('boolean', ({ usage }) => (usage?.sold === true ? 't' : null)),
};

/** What the flush adds to the totals of a balance. Most are 0, and come as null. */
const DELTA_COLUMNS: ArrayColumns<AccountChange> = {
  debits_posted: delta('debits_posted', ({ debitsPosted }) => debitsPosted),
  credits_posted: delta('credits_posted', ({ creditsPosted }) => creditsPosted),
  debits_pending: delta('debits_pending', ({ debitsPending }) => debitsPending),
  credits_pending: delta('credits_pending', ({ creditsPending }) => creditsPending),
};

/**
 * Of the balances of actors. `sql` is the new value. A column without it is only compared: the key,
 * and the expected totals.
 */
export const BALANCE_CHANGES: ArrayColumns<AccountChange> = {
  slot: column('smallint', ({ slot }) => slot),
  id: column('uuid', ({ id }) => id),
  ...DELTA_COLUMNS,
  expected_debits: column('bigint', ({ expected }) => expected?.debitsPosted ?? null),
  expected_credits: column('bigint', ({ expected }) => expected?.creditsPosted ?? null),
  aggregate: column(
    'bigint',
    ({ period }) => period?.aggregate ?? null,
    'coalesce(t.aggregate, b.aggregate)',
  ),
  latest_at: column(
    'time',
    ({ period }) => period?.latest?.at ?? null,
    'coalesce(to_timestamp(t.latest_at / 1000.0::float8), b.latest_at)',
  ),
  latest_id: column(
    'uuid',
    ({ period }) => period?.latest?.id ?? null,
    'coalesce(t.latest_id, b.latest_id)',
  ),
  period_end: column(
    'time',
    ({ period }) => period?.end ?? null,
    'coalesce(to_timestamp(t.period_end / 1000.0::float8), b.period_end)',
  ),
  updated_at: shared(
    'time',
    ({ period }) => period?.updatedAt ?? null,
    'coalesce(to_timestamp(t.updated_at / 1000.0::float8), fence.updated_at, b.updated_at)',
  ),
};

/** Of the balances of the other sides, which nobody has beliefs about. */
export const SIDE_CHANGES: ArrayColumns<AccountChange> = {
  id: column('uuid', ({ id }) => id),
  ...DELTA_COLUMNS,
};

function delta(
  name: string,
  of: (delta: AccountChange['delta']) => bigint,
): ArrayColumn<AccountChange> {
  const someOf = (row: AccountChange): bigint | null => {
    const amount = of(row.delta);
    return amount === 0n ? null : amount;
  };
  return column('bigint', someOf, `b.${name} + coalesce(t.${name}, 0)`);
}

function json(value: object | null | undefined): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function recordOf({ refund, dispute, drawnFor, carried }: Transfer): object | null {
  if (drawnFor !== undefined) return { drawnFor };
  if (carried !== undefined) return { carried };
  if (typeof dispute === 'string') return { dispute };
  return typeof refund?.refusal === 'string' ? { refusal: refund.refusal } : null;
}
