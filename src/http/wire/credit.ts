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
    description: 'With the decimals of the currency; negative where it was used.',
  }),
  reason: oneOf(CREDIT_REASONS, {
    description:
      '`change`: what a change of plan left over. `adjustment`: what another invoice did, or what there was before entries were kept. ' +
      '`applied`: an invoice used it. `void`: it is back, as that invoice is void or its change was taken back.',
  }),
  invoice_id: Nullable(Uuid),
  note: Nullable(Type.String()),
  created_at: Timestamp,
});

export const CreditBalance = Type.Object({
  currency: Currency,
  balance: Type.String({ ...Total, description: 'What later invoices in the currency may use.' }),
  entries: Type.Array(CreditEntry, {
    description: `The newest ${CREDIT_ENTRIES_MAX}: \`GET /customers/{id}/credit/entries\` lists all. All of them come to the balance.`,
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
