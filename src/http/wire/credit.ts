// The credit of a customer.
import { type Static, Type } from '@sinclair/typebox';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import {
  CREDIT_REASONS,
  type CreditEntry as Entry,
  type CreditOfCurrency,
} from '../../invoices/credit.ts';
import { CREDIT_ENTRIES_MAX } from '../../platform/answer-bounds.ts';
import { CUSTOMER_PAGE, NextCursor } from './customer-page.ts';
import { Currency, Total } from './money.ts';
import { Body, Nullable, oneOf, Timestamp, Uuid } from './values.ts';

export const CreditEntry = Type.Object({
  id: Uuid,
  amount: Type.String({
    pattern: '^-?\\d{1,18}(\\.\\d{1,4})?$',
    description: 'With the decimals of the currency; negative if credit was used.',
  }),
  reason: oneOf(CREDIT_REASONS, {
    description:
      '`change`: left over by a change of plan. `adjustment`: left over by another invoice, ' +
      'or present before entries were stored. `applied`: used by an invoice. `void`: ' +
      'returned, because that invoice is void or its change was undone.',
  }),
  invoice_id: Nullable(Uuid),
  note: Nullable(Type.String()),
  created_at: Timestamp,
});

export const CreditBalance = Type.Object({
  currency: Currency,
  balance: Type.String({
    ...Total,
    description: 'The credit that later invoices in this currency use.',
  }),
  entries: Type.Array(CreditEntry, {
    description: `The newest ${CREDIT_ENTRIES_MAX}: \`GET /customers/{id}/credit/entries\` lists all. They add up to the balance.`,
  }),
});

export const Credit = Type.Object({ data: Type.Array(CreditBalance) });

export const CreditEntriesQuery = Body({
  currency: Currency,
  limit: CUSTOMER_PAGE.limit,
  cursor: CUSTOMER_PAGE.cursor,
});

export const CreditEntries = Type.Object({
  data: Type.Array(CreditEntry),
  next_cursor: NextCursor,
});

export function fromCredit({
  currency,
  balance,
  entries,
}: CreditOfCurrency): Static<typeof CreditBalance> {
  return {
    currency,
    balance: formatMoney(balance, currency),
    entries: entries.map((entry) => fromEntry(entry, currency)),
  };
}

export function fromEntry(
  { id, amount, reason, invoiceId, note, at }: Entry,
  currency: string,
): Static<typeof CreditEntry> {
  return {
    id,
    amount: formatMoney(amount, currency),
    reason,
    invoice_id: invoiceId,
    note,
    created_at: at.toISOString(),
  };
}
