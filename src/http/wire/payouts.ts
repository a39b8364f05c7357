import { type Static, Type } from '@sinclair/typebox';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import type { PayoutRecord } from '../../records/payouts.ts';
import { PAGE } from '../list.ts';
import { Currency } from './money.ts';
import { Body, Nullable, Timestamp, Uuid } from './values.ts';

export const PayoutQuery = Body({
  ...PAGE,
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Payouts that were made from then on.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Payouts that were made before then.' }),
  ),
});

/** What corrections come to may be less than nothing. */
const Sum = Type.String({
  pattern: '^-?\\d{1,18}(\\.\\d{1,4})?$',
  description: 'A decimal, with exactly the decimals of its currency.',
  examples: ['12.50'],
});

const of = (description: string) => Nullable({ ...Sum, description });

export const Payout = Type.Object({
  id: Uuid,
  payout_id: Type.String({ description: 'As the processor names it.' }),
  account: Type.String({ description: 'The connected account that was paid out.' }),
  amount: { ...Sum, description: 'Gross, less fees, refunds and disputes, and other.' },
  currency: Currency,
  status: Type.String({
    description: 'As the processor says: pending, in_transit, paid, failed, canceled.',
  }),
  arrival_date: Type.String({
    format: 'date',
    description: 'When it reaches the bank, or should.',
  }),
  gross: of('What its charges brought. Null, like the others, while that is not read.'),
  fees: of('What the processor kept.'),
  refunds: of('What went back to buyers.'),
  disputes: of('What the banks of buyers took back.'),
  other: of('All else in it: top-ups, reserves, corrections.'),
  count: Nullable(Type.Integer({ minimum: 0, description: 'How many transactions are in it.' })),
  created_at: Timestamp,
});

export function fromPayout(payout: PayoutRecord): Static<typeof Payout> {
  const { currency, isSummed } = payout;
  const sum = (amount: bigint) => (isSummed ? formatMoney(amount, currency) : null);
  return {
    id: payout.id,
    payout_id: payout.payout,
    account: payout.account,
    amount: formatMoney(payout.amount, currency),
    currency,
    status: payout.status,
    arrival_date: payout.arrivalOn,
    gross: sum(payout.gross),
    fees: sum(payout.fees),
    refunds: sum(payout.refunds),
    disputes: sum(payout.disputes),
    other: sum(payout.other),
    count: isSummed ? Number(payout.count) : null,
    created_at: payout.createdAt.toISOString(),
  };
}
