// The columns of what periods had counted before their boundaries. They come as rows
// (`columns.ts`).
import type { MarkRow } from '../storage.ts';
import { indexOf, timeOf } from '../metering/stretch.ts';
import { kept, replaced, type RowColumns } from './columns.ts';

export const MARK_COLUMNS = {
  slot: kept('smallint', ({ customer }) => customer.slot),
  customer_id: kept('uuid', ({ customer }) => customer.id),
  meter_id: kept('uuid', ({ meterId }) => meterId),
  started_at: kept('time', ({ mark }) => timeOf(mark.start)),
  place: kept('integer', ({ mark }) => indexOf(mark.start)),
  account_id: kept('uuid', ({ mark }) => mark.accountId),
  aggregate: replaced('bigint', ({ mark }) => mark.aggregate),
  carried: replaced('exact_json', ({ mark }) => (mark.carried.length === 0 ? null : mark.carried)),
} as const satisfies RowColumns<MarkRow>;
