// The lines of an invoice. A line of usage is followed by what makes up its amount.
import { type Html, html } from './html.ts';
import { showDecimal } from './amount.ts';
import { exactMoney, money, type Period, span } from './invoice-parts.ts';
import { type Part, partsOf, unitAmountOf, type UsageLine } from './usage-parts.ts';

type PlainLine = {
  readonly type: 'fixed' | 'recurring' | 'proration' | 'credit' | 'adjustment';
  readonly description: string;
  readonly quantity: number;
  readonly unitAmount: bigint;
  readonly amount: bigint;
  readonly period: Period | null;
};

export type InvoiceLine = PlainLine | UsageLine;

/** The kind of a line, where its description does not say it. */
const KINDS: Readonly<Partial<Record<InvoiceLine['type'], string>>> = {
  proration: 'Proration',
  credit: 'Credit',
  adjustment: 'Adjustment',
  usage_adjustment: 'Correction of usage that was billed before',
};

/** Characters of a quantity that stand on one line. */
const COUNT_MAX = 12;

export const LINES_STYLE = `
  table { width: 100%; margin-top: 2.5rem; border-collapse: collapse; }
  th { color: var(--muted); font-size: .8rem; font-weight: 600; letter-spacing: .04em; text-transform: uppercase; }
  th, td { padding: .65rem 0 .65rem 1.5rem; text-align: end; vertical-align: baseline; border-bottom: 1px solid var(--line); }
  /* A name runs in its own direction, but stands where its neighbours do. */
  th:first-child, td:first-child { padding-left: 0; width: 99%; text-align: left; }
  thead th { border-bottom: 2px solid var(--ink); white-space: nowrap; }
  td small { display: block; }
  .parted td { border-bottom: 0; padding-bottom: .2rem; }
  td.parts { padding: 0 0 .65rem; }
  .parts dl { display: grid; grid-template-columns: 1fr auto; gap: .1rem 1rem; width: min(100%, 26rem); padding-inline-start: .8rem;
    border-inline-start: 2px solid var(--line); color: var(--muted); font-size: .9rem; }
  .parts dd { text-align: end; }
  .count { font-variant-numeric: tabular-nums; white-space: nowrap; }
  @media screen and (max-width: 44rem) {
    .unit { display: none; }
    th, td { padding-left: .75rem; }
    th { font-size: .7rem; letter-spacing: 0; }
    td time { white-space: normal; }
  }
  @media print {
    thead { display: table-header-group; }
    tr:not(.with-parts), .parts dd, .parts dt { break-inside: avoid; }
    .parted { break-after: avoid; }
  }
`;

/** `shown`: what `shownLine` made of each of them already. */
export function invoiceLines({
  lines,
  currency,
  shown = lines.map((line) => shownLine(line, currency)),
}: {
  readonly lines: readonly InvoiceLine[];
  readonly currency: string;
  readonly shown?: readonly Html[] | undefined;
}): Html {
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Description</th>
        <th scope="col">Quantity</th>
        <th scope="col" class="unit">Unit price</th>
        <th scope="col">Amount</th>
      </tr>
    </thead>
    <tbody>
      ${shown}
    </tbody>
  </table>`;
}

/** A tier of it takes some 50 us: who shows many lets others have a turn. */
export function shownLine(line: InvoiceLine, currency: string): Html {
  const parts = 'tiers' in line ? partsOf(line, currency) : [];
  const sign = line.type === 'usage_adjustment' && !/^-|^0$/.test(line.quantity) ? '+' : '';
  return html`<tr ${parts.length > 0 ? html`class="parted"` : null}>
      <td dir="auto">${line.description} ${about(line)}</td>
      <td>${count(sign + showDecimal(String(line.quantity)))}</td>
      <td class="unit">${unit(line, currency)}</td>
      <td>${money(line.amount, currency)}</td>
    </tr>
    ${parts.length > 0 ? partRow(parts, currency) : null}`;
}

/** On one line, unless it is longer than a phone has room for: then it breaks between thousands. */
function count(text: string): Html {
  if (text.length <= COUNT_MAX) return html`<span class="count">${text}</span>`;
  return html`${text.split(/(?<=,)/).map((group) => html`<span class="count">${group}</span><wbr />`)}`;
}

function unit(line: InvoiceLine, currency: string): Html | null {
  if ('unitAmount' in line) return money(line.unitAmount, currency);
  const amount = unitAmountOf(line);
  return amount === null ? null : exactMoney(amount, currency);
}

function partRow(parts: readonly Part[], currency: string): Html {
  const list = parts.map(
    ({ what, amount }) =>
      html`<dt>${what}</dt>
        <dd>${exactMoney(amount, currency)}</dd>`,
  );
  return html`<tr class="with-parts">
    <td class="parts" colspan="4">
      <dl aria-label="What this amount is made of">${list}</dl>
    </td>
  </tr>`;
}

function about({ type, period }: InvoiceLine): Html | null {
  const kind = KINDS[type];
  if (kind === undefined && period === null) return null;
  const parts = [
    kind ?? null,
    kind === undefined || period === null ? null : ', ',
    period && span(period),
  ];
  return html`<small dir="ltr">${parts}</small>`;
}
