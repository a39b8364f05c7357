// The lines of an invoice, made, upcoming or previewed. A line of usage says what makes up its
// amount.
import { parseMoney } from '../../../ledger/kernel/money.ts';
import type { Invoice, SubscriptionPreview, UpcomingInvoice } from '../../client/types.ts';
import { showExact } from '../../pages/amount.ts';
import { type Html, html } from '../../pages/html.ts';
import { partsOf } from '../../pages/usage-parts.ts';
import { table } from './tables.ts';
import { day, money, quantity } from './values.ts';
import type { Place } from './place.ts';

type Billed = Invoice | UpcomingInvoice | SubscriptionPreview;
type Line = Billed['lines'][number];

export function lineTable(
  place: Place,
  { lines, currency }: Pick<Billed, 'lines' | 'currency'>,
): Html {
  return table({
    caption: 'Lines',
    columns: [
      'Description',
      { label: 'Quantity', isNumber: true },
      { label: 'Unit price', isNumber: true },
      { label: 'Amount', isNumber: true },
    ],
    rows: lines.map((line) => [
      html`${line.description} ${periodOf(place, line)} ${madeOf(line, currency)}`,
      quantity(line.quantity),
      'unitAmount' in line ? money(line.unitAmount, currency) : null,
      money(line.amount, currency),
    ]),
    empty: 'No lines.',
  });
}

function periodOf(place: Place, { period }: Line): Html | null {
  if (period === null) return null;
  return html`<small>${day(place, period.start)} to ${day(place, period.end)}</small>`;
}

/** An adjustment depends on what was billed before, which the printed invoice shows. */
function madeOf(line: Line, currency: string): Html | null {
  if (!('tiers' in line) || line.type !== 'usage') return null;
  const amount = parseMoney(line.amount, currency);
  if (typeof amount !== 'bigint') return null;
  const tiers = line.tiers.map((tier) => ({ ...tier, quantity: String(tier.quantity) }));
  const { type, description, period } = line;
  const parts = partsOf(
    {
      type,
      description,
      quantity: String(line.quantity),
      amount,
      billed: 0n,
      tiers,
      period: { start: new Date(period.start), end: new Date(period.end) },
    },
    currency,
  );
  if (parts.length === 0) return null;
  return html`<ul class="parts" aria-label="What this amount is made of">
    ${parts.map((part) => html`<li>${part.what}: ${showExact(part.amount, currency)}</li>`)}
  </ul>`;
}
