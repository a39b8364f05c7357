import type { AutoTopUp, TopUpRefusal } from '../topups/auto-topup.ts';
import { fromJson, type JsonOf } from './json.ts';

/** A row of `auto_topups` as JSON. */
export type TopUpJson = {
  readonly settings: JsonOf<AutoTopUp['settings']>;
  readonly zone: string;
  readonly ordered: number;
  readonly captures: number;
  readonly charge: JsonOf<AutoTopUp['charge']>;
  readonly declines: number;
  readonly retry_at: string | null;
  readonly again: boolean;
  readonly refused: TopUpRefusal | null;
  readonly limited_until: string | null;
  readonly method_id: string | null;
  readonly last_payment_id: string | null;
  readonly captured: JsonOf<AutoTopUp['captured']>;
  readonly updated_at: string;
};

export function topUpOf(row: TopUpJson): AutoTopUp {
  return {
    settings: fromJson<AutoTopUp['settings']>(row.settings),
    zone: row.zone,
    ordered: row.ordered,
    captures: row.captures,
    charge: fromJson<AutoTopUp['charge']>(row.charge),
    declines: row.declines,
    retryAt: timeOf(row.retry_at),
    again: row.again,
    refused: row.refused,
    limitedUntil: timeOf(row.limited_until),
    methodId: row.method_id,
    lastPaymentId: row.last_payment_id,
    captured: fromJson<AutoTopUp['captured']>(row.captured),
    updatedAt: Date.parse(row.updated_at),
  };
}

function timeOf(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}
