import { type Static, Type } from '@sinclair/typebox';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import type { PreviewRecord } from '../../subscriptions/subscriptions.ts';
import { BILLED, fromBilled } from './invoices.ts';
import { Total } from './money.ts';
import { fromSubscription, Subscription } from './subscriptions.ts';
import { Timestamp } from './values.ts';

export const SubscriptionPreview = Type.Object({
  ...BILLED,
  amount_due: Type.String({ ...Total, description: 'The amount that is charged at once.' }),
  credited: Type.String({
    ...Total,
    description: 'The amount that becomes credit for later invoices.',
  }),
  waits_for_payment: Type.Boolean({
    description: 'Whether it takes effect only when `amount_due` is paid.',
  }),
  subscription: Subscription,
  as_of: Type.String({
    ...Timestamp,
    description: 'The time of the calculation, to the millisecond.',
  }),
});

export function fromPreview(preview: PreviewRecord): Static<typeof SubscriptionPreview> {
  const { currency, amountDue, credited, waits, record, asOf } = preview;
  return {
    ...fromBilled(preview),
    amount_due: formatMoney(amountDue, currency),
    credited: formatMoney(credited, currency),
    waits_for_payment: waits,
    subscription: fromSubscription(record),
    as_of: asOf.toISOString(),
  };
}
