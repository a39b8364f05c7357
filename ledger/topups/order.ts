import type { Ids } from '../ports.ts';
import type { AutoTopUp, TopUpCharge } from './auto-topup.ts';

/** A charge that a decision orders: a task of the same flush, which makes the payment. */
export type TopUpOrder = {
  readonly id: string;
  readonly kind: 'top_up';
  readonly at: number;
  readonly meterId: string;
  readonly paymentId: string;
  readonly priceId: string;
  /** 1 for the first try to be paid for the same thing. */
  readonly attempt: number;
};

export function orderOf(
  {
    ids,
    now,
    meter,
  }: { readonly ids: Ids; readonly now: number; readonly meter: { readonly id: string } },
  { declines }: AutoTopUp,
  { paymentId, priceId }: TopUpCharge,
): TopUpOrder {
  const id = ids.derive('top_up', paymentId);
  const attempt = declines + 1;
  return { id, kind: 'top_up', at: now, meterId: meter.id, paymentId, priceId, attempt };
}
