// The columns of followups: what a commit owes to others. They come as rows (`columns.ts`).
import type { FlushRows } from '../storage.ts';
import { kept, type RowColumns } from './columns.ts';

/**
 * A followup of a payment, or of a subscription: then `customerId` is its customer; or of a
 * customer.
 */
type Row = {
  readonly slot: number;
  readonly id: string;
  readonly kind: string;
  readonly paymentId: string | null;
  readonly subscriptionId: string | null;
  readonly customerId: string | null;
  readonly data: unknown;
  readonly at: number;
};

export const FOLLOWUP_COLUMNS = {
  slot: kept('smallint', ({ slot }) => slot),
  id: kept('uuid', ({ id }) => id),
  kind: kept('text', ({ kind }) => kind),
  payment_id: kept('uuid', ({ paymentId }) => paymentId),
  subscription_id: kept('uuid', ({ subscriptionId }) => subscriptionId),
  customer_id: kept('uuid', ({ customerId }) => customerId),
  data: kept('exact_json', ({ data }) => data),
  at: kept('time', ({ at }) => at),
} as const satisfies RowColumns<Row>;

export function followupRows({
  followups,
  subscriptionFollowups,
  topUpOrders,
}: Pick<FlushRows, 'followups' | 'subscriptionFollowups' | 'topUpOrders'>): Row[] {
  const ofPayments = followups.map(({ slot, at, followup: { id, kind, paymentId, data } }) => {
    return { slot, id, kind, paymentId, subscriptionId: null, customerId: null, data, at };
  });
  const ofSubscriptions = subscriptionFollowups.map(({ customer, followup }) => {
    const { id, kind, at, subscriptionId, ...rest } = followup;
    const { slot, id: customerId } = customer;
    return { slot, id, kind, paymentId: null, subscriptionId, customerId, data: rest, at };
  });
  const ofCustomers = topUpOrders.map(({ customer, order }) => {
    const { id, kind, at, ...data } = order;
    const { slot, id: customerId } = customer;
    return { slot, id, kind, paymentId: null, subscriptionId: null, customerId, data, at };
  });
  return [...ofPayments, ...ofSubscriptions, ...ofCustomers];
}
