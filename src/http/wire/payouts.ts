import { type Static, Type } from '@sinclair/typebox';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import type { PayoutRecord } from '../../records/payouts.ts';
import { PAGE } from '../list.ts';
import { Currency } from './money.ts';
import { Body, Nullable, Timestamp, Uuid } from './values.ts';

export const PayoutQuery = Body({
  ...PAGE,
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only payouts at or after this time.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only payouts before this time.' }),
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
  payout_id: Type.String({ description: "The processor's id of the payout." }),
  account: Type.String({ description: 'The connected account that was paid out.' }),
  amount: { ...Sum, description: '`gross` less `fees`, `refunds` and `disputes`, plus `other`.' },
  currency: Currency,
  status: Type.String({
    description: "The processor's status: pending, in_transit, paid, failed, canceled.",
  }),
  arrival_date: Type.String({
    format: 'date',
    description: 'When it arrives at the bank, or is expected to.',
  }),
  gross: of('The sum of its charges. null, as the others, until it is read.'),
  fees: of('The fees of the processor.'),
  refunds: of('The sum of its refunds.'),
  disputes: of('The sum that disputes took.'),
  other: of('Everything else: top-ups, reserves, corrections.'),
  count: Nullable(Type.Integer({ minimum: 0, description: 'The number of transactions in it.' })),
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
