// The columns that most flushes write: transfers, and the accounts that they touch. They come as
// arrays (`columns.ts`).
//
// Reading a value out of an array costs more than storing it. So a value that all rows often share
// comes once, with the fence.
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

/** `m` has the row's `at` and `value`, from the array or from the fence: see `flush-sql.ts`. */
export const TRANSFER_COLUMNS: ArrayColumns<Transfer> = {
  id: column('uuid', ({ id }) => id),
  debit: column('uuid', ({ debit }) => debit),
  credit: shared('uuid', ({ credit }) => credit),
  amount: shared('bigint', ({ amount }) => amount),
  at: shared('time', ({ at }) => at, 'm.at'),
  value: shared('bigint', ({ usage }) => usage?.value ?? null, 'm.value'),
  event_at: column(
    'time',
    ({ usage, at }) => (usage === null || usage.eventAt === at ? null : usage.eventAt),
    'CASE WHEN m.value IS NOT NULL THEN coalesce(to_timestamp(t.event_at / 1000.0::float8), m.at) END',
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
  answer: column('jsonb', (transfer) => json(transfer.usage?.answer ?? refusalOf(transfer))),
  guarded: column(
    'boolean',
    ({ usage }) => (usage?.guarded === true ? 't' : null),
    'coalesce(t.guarded, false)',
  ),
};

/** An account that changes, with the time of the last change of the actor that it belongs to. */
export type TouchedRow = { readonly change: AccountChange; readonly updatedAt: number | null };

/**
 * `sql` is the account's new value. A column without it is only compared: the key, and the expected
 * totals.
 */
export const TOUCHED_COLUMNS: ArrayColumns<TouchedRow> = {
  slot: column('smallint', ({ change }) => change.slot),
  id: column('uuid', ({ change }) => change.id),
  debits_posted: delta('debits_posted', ({ change }) => change.delta.debitsPosted),
  credits_posted: delta('credits_posted', ({ change }) => change.delta.creditsPosted),
  debits_pending: delta('debits_pending', ({ change }) => change.delta.debitsPending),
  credits_pending: delta('credits_pending', ({ change }) => change.delta.creditsPending),
  expected_debits: column('bigint', ({ change }) => change.expected?.debitsPosted ?? null),
  expected_credits: column('bigint', ({ change }) => change.expected?.creditsPosted ?? null),
  aggregate: column(
    'bigint',
    ({ change }) => change.period?.aggregate ?? null,
    'coalesce(t.aggregate, a.aggregate)',
  ),
  latest_at: column(
    'time',
    ({ change }) => change.period?.latest?.at ?? null,
    'coalesce(to_timestamp(t.latest_at / 1000.0::float8), a.latest_at)',
  ),
  latest_id: column(
    'uuid',
    ({ change }) => change.period?.latest?.id ?? null,
    'coalesce(t.latest_id, a.latest_id)',
  ),
  period_end: column(
    'time',
    ({ change }) => change.period?.end ?? null,
    'coalesce(to_timestamp(t.period_end / 1000.0::float8), a.period_end)',
  ),
  updated_at: shared(
    'time',
    ({ updatedAt }) => updatedAt,
    'coalesce(to_timestamp(t.updated_at / 1000.0::float8), fence.updated_at, a.updated_at)',
  ),
};

/** What the flush adds to a total. Most are 0, and come as null. */
function delta(name: string, of: (row: TouchedRow) => bigint): ArrayColumn<TouchedRow> {
  const someOf = (row: TouchedRow): bigint | null => {
    const amount = of(row);
    return amount === 0n ? null : amount;
  };
  return column('bigint', someOf, `a.${name} + coalesce(t.${name}, 0)`);
}

/** A JSON document as an element of an array literal. */
function json(value: object | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  const text = JSON.stringify(value);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function refusalOf({ refund }: Transfer): object | null {
  return typeof refund?.refusal === 'string' ? { refusal: refund.refusal } : null;
}
