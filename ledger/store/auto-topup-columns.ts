// The columns of automatic top-ups. They come as rows (`columns.ts`).
import type { TopUpRow } from '../storage.ts';
import { kept, replaced, type RowColumns } from './columns.ts';

export const AUTO_TOPUP_COLUMNS = {
  slot: kept('smallint', ({ customer }) => customer.slot),
  customer_id: kept('uuid', ({ customer }) => customer.id),
  meter_id: kept('uuid', ({ meterId }) => meterId),
  organisation_id: kept('uuid', ({ customer }) => customer.organisationId),
  mode: kept('enum', ({ customer }) => customer.mode),
  settings: replaced('exact_json', ({ topUp }) => topUp.settings),
  zone: replaced('text', ({ topUp }) => topUp.zone),
  ordered: replaced('integer', ({ topUp }) => topUp.ordered),
  captures: replaced('integer', ({ topUp }) => topUp.captures),
  charge: replaced('exact_json', ({ topUp }) => topUp.charge),
  declines: replaced('integer', ({ topUp }) => topUp.declines),
  retry_at: replaced('time', ({ topUp }) => topUp.retryAt),
  again: replaced('boolean', ({ topUp }) => topUp.again),
  refused: replaced('text', ({ topUp }) => topUp.refused),
  limited_until: replaced('time', ({ topUp }) => topUp.limitedUntil),
  method_id: replaced('uuid', ({ topUp }) => topUp.methodId),
  last_payment_id: replaced('uuid', ({ topUp }) => topUp.lastPaymentId),
  captured: replaced('exact_json', ({ topUp }) => topUp.captured),
  updated_at: replaced('time', ({ topUp }) => topUp.updatedAt),
} as const satisfies RowColumns<TopUpRow>;
