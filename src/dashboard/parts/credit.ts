// A customer's credit: what later invoices use, and where it came from.
import type { CreditBalance } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { facts, link, section } from './parts.ts';
import { table } from './tables.ts';
import { code, instant, money } from './values.ts';
import { words } from './words.ts';
import type { Place } from './place.ts';

/** Of a currency: the API has them all. */
const ENTRIES = 10;

/** Where there has been some. */
export function creditSection(place: Place, credit: readonly CreditBalance[]): Html | null {
  if (credit.length === 0) return null;
  return section(
    'Credit',
    credit.map(
      ({ currency, balance, entries }) =>
        html`${facts([[`Balance in ${currency}`, money(balance, currency)]])}
        ${table({
          caption: `Latest credit entries in ${currency}`,
          columns: ['Reason', { label: 'Amount', isNumber: true }, 'Invoice', 'When'],
          rows: entries
            .slice(0, ENTRIES)
            .map(({ reason, note, amount, invoiceId, createdAt }) => [
              note ?? words(reason),
              money(amount, currency),
              invoiceId === null ? null : link(place, `/invoices/${invoiceId}`, code(invoiceId)),
              instant(place, createdAt),
            ]),
          empty: '',
        })}`,
    ),
  );
}
