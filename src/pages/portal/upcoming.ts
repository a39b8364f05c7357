// The next invoice of each subscription, as it stands now.
import { showDecimal } from '../amount.ts';
import { type Html, html } from '../html.ts';
import { day, money, written } from './parts.ts';
import type { PortalView, UpcomingView } from './view.ts';

export function upcoming({ upcoming: all, timeZone }: PortalView): Html | null {
  if (all.length === 0) return null;
  return html`<section aria-labelledby="upcoming">
    <h2 id="upcoming">${all.length === 1 ? 'Next invoice' : 'Next invoices'}</h2>
    ${all.map((invoice) => card(invoice, timeZone))}
  </section>`;
}

function card({ plan, at, lines, total, currency }: UpcomingView, timeZone: string): Html {
  return html`<article class="card">
    <div class="lead">
      <h3>${written(plan)}</h3>
      <strong>${money(total, currency)}</strong>
    </div>
    <p class="cost">On ${day(at, timeZone)}, with the usage so far.</p>
    <dl class="facts">
      ${lines.map(
        (line) =>
          html`<dt>${whatOf(line)}</dt>
            <dd>${money(line.amount, currency)}</dd>`,
      )}
    </dl>
  </article>`;
}

function whatOf({ name, kind, quantity }: UpcomingView['lines'][number]): Html {
  if (kind === 'correction') return html`${written(name)}, correction`;
  if (kind === 'other' && quantity === '1') return written(name);
  return html`${written(name)} · ${showDecimal(quantity)}`;
}
