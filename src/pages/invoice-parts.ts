// What several parts of an invoice's page show alike.
import { formatMoney } from '../../ledger/kernel/money.ts';
import { showAmount, showExact } from './amount.ts';
import { type Html, html } from './html.ts';

export type Period = { readonly start: Date; readonly end: Date };

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** The amount for people, and the exact decimal for programs. */
export function money(amount: bigint, currency: string): Html {
  return html`<data class="money" value="${formatMoney(amount, currency)}"
    >${showAmount(amount, currency)}</data
  >`;
}

/** The same of an amount that is not rounded. */
export function exactMoney(decimal: string, currency: string): Html {
  return html`<data class="money" value="${decimal}">${showExact(decimal, currency)}</data>`;
}

export function day(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${DATE.format(at)}</time>`;
}

export function span({ start, end }: Period): Html {
  return html`${day(start)} to ${day(end)}`;
}
