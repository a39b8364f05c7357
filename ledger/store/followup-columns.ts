// The columns of followups: what a commit owes to others. They come as JSON (`columns.ts`).
import type { FlushRows } from '../storage.ts';
import { type JsonColumns, kept, time } from './columns.ts';
import { toJson } from './json.ts';

/** A followup of a payment, or of a subscription: then `customerId` is its customer. */
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
  slot: kept(({ slot }) => slot),
  id: kept(({ id }) => id),
  kind: kept(({ kind }) => kind),
  payment_id: kept(({ paymentId }) => paymentId),
  subscription_id: kept(({ subscriptionId }) => subscriptionId),
  customer_id: kept(({ customerId }) => customerId),
  data: kept(({ data }) => data),
  at: kept(({ at }) => time(at)),
} as const satisfies JsonColumns<Row>;

export function followupRows({
  followups,
  subscriptionFollowups,
}: Pick<FlushRows, 'followups' | 'subscriptionFollowups'>): Row[] {
  const ofPayments = followups.map(({ slot, at, followup: { id, kind, paymentId, data } }) => {
    return { slot, id, kind, paymentId, subscriptionId: null, customerId: null, data, at };
  });
  const ofSubscriptions = subscriptionFollowups.map(({ customer, followup }) => {
    const { id, kind, at, subscriptionId, ...rest } = followup;
    const { slot, id: customerId } = customer;
    return { slot, id, kind, paymentId: null, subscriptionId, customerId, data: toJson(rest), at };
  });
  return [...ofPayments, ...ofSubscriptions];
}
