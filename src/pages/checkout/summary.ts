// The summary: what is bought and what it costs. Every state of the page shows it.
import { showAmount } from '../amount.ts';
import { type Html, html } from '../html.ts';
import { soldUsage } from '../sold-usage.ts';
import type { Recurrence, Sale } from './view.ts';

/** Text of a merchant or a buyer: its own characters decide its direction. */
export function written(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

export function money(amount: bigint, currency: string): Html {
  return html`<span class="money">${showAmount(amount, currency)}</span>`;
}

/** A reduction, with a minus sign and not a hyphen. */
export function off(amount: bigint, currency: string): Html {
  return html`<span class="money">−${showAmount(amount, currency)}</span>`;
}

export type Ticket = {
  /** Whether the product is the subject of the page, and not a status. */
  readonly leads: boolean;
  /** Content under the total, such as the fields that change it. */
  readonly below: Html | null;
};

export function ticket(sale: Sale, { leads, below }: Ticket): Html {
  const { merchant, product, total, currency, recurs } = sale;
  const label = recurs === null ? 'Total' : 'Due today';
  const name = html`<span dir="auto">${product.name}</span>`;
  return html`<section class="ticket" aria-labelledby="product">
    <div class="goods">
      <p class="merchant" dir="auto">${merchant}</p>
      ${leads ? html`<h1 id="product">${name}</h1>` : html`<h2 id="product">${name}</h2>`}
      ${
        product.description === ''
          ? null
          : html`<p class="description" dir="auto">${product.description}</p>`
      }
    </div>
    <div class="price">
      ${breakdown(sale)}
      <p class="total"><span>${label}</span><strong>${money(total, currency)}</strong></p>
      ${recurs === null ? null : then(recurs, currency)} ${below}
    </div>
  </section>`;
}

function breakdown({ subtotal, reduction, currency }: Sale): Html | null {
  if (reduction === 0n) return null;
  return html`<dl class="lines">
    <dt>Price</dt>
    <dd>${money(subtotal, currency)}</dd>
    <dt>Discount</dt>
    <dd>${off(reduction, currency)}</dd>
  </dl>`;
}

/** The later charges, and when they begin. */
function then({ amount, trialEnd, sold, ...every }: Recurrence, currency: string): Html {
  const from =
    trialEnd === null
      ? null
      : html` from <time datetime="${trialEnd.toISOString()}">${DATE.format(trialEnd)}</time>`;
  return html`<p class="then">
      Then ${money(amount, currency)} ${per(every)}${from}, until it is canceled.
    </p>
    ${soldUsage(sold)}`;
}

/** `per month`, `every 3 months`. */
export function per({ interval, count }: Pick<Recurrence, 'interval' | 'count'>): string {
  return count === 1 ? `per ${interval}` : `every ${count} ${interval}s`;
}

const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
