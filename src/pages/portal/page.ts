import { type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';
import { day, frame, head, methodName, money, more, told, written } from './parts.ts';
import { subscriptions } from './subscriptions.ts';
import { topUps } from './topups.ts';
import { upcoming } from './upcoming.ts';
import { usage } from './usage.ts';
import type { InvoiceView, MethodView, PortalView } from './view.ts';

export function portalPage(view: PortalView): Page {
  const { notice } = view;
  const content = html`${head(html`Your account`, view)} ${who(view)}
  ${notice === null ? null : told(notice)} ${subscriptions(view)} ${usage(view)} ${topUps(view)}
  ${upcoming(view)} ${method(view)} ${invoices(view)}`;
  return frame(view, { title: 'Your account', content });
}

function who({ customer: { name, email } }: PortalView): Html | null {
  const both = [name, email].filter((text) => text !== null).map(written);
  if (both.length === 0) return null;
  return html`<p class="muted">
    ${both[0] ?? null}${both.length > 1 ? html` · ${both[1] ?? null}` : null}
  </p>`;
}

function method({ method: on, canReplaceMethod, base }: PortalView): Html {
  const label = on === null ? 'Add a payment method' : 'Replace';
  return html`<section aria-labelledby="method">
    <h2 id="method">Payment method</h2>
    <div class="card">
      ${on === null ? html`<p class="muted">No payment method on file.</p>` : filed(on)}
      ${
        canReplaceMethod
          ? html`<p class="actions">
              <a class="button quiet" href="${base}/payment-method">${label}</a>
            </p>`
          : null
      }
    </div>
  </section>`;
}

function filed(on: MethodView): Html {
  const { expiry } = on;
  const good =
    expiry === null
      ? null
      : html` <span class="muted"
          >expires ${String(expiry.month).padStart(2, '0')}/${expiry.year}</span
        >`;
  return html`<p>${methodName(on)}${good}</p>`;
}

const STATES: Readonly<Record<InvoiceView['status'], readonly [text: string, tone: string]>> = {
  open: ['Open', 'wait'],
  paid: ['Paid', ''],
  void: ['Void', 'dead'],
  uncollectible: ['Not collected', 'bad'],
};

function invoices(view: PortalView): Html {
  const { invoices: all } = view;
  return html`<section aria-labelledby="invoices">
    <h2 id="invoices">Invoices</h2>
    ${
      all.length === 0
        ? html`<p class="muted">No invoices yet.</p>`
        : html`<ul class="card invoices">
            ${all.map((invoice) => line(invoice, view))}
          </ul>`
    }
    ${more(view, 'invoices')}
  </section>`;
}

function line(invoice: InvoiceView, { base, timeZone }: PortalView): Html {
  const { id, number, status, total, currency, issuedAt } = invoice;
  const [text, tone] = STATES[status];
  return html`<li>
    <a href="${base}/invoices/${id}">${number}</a>
    <span class="when">${issuedAt === null ? null : day(issuedAt, timeZone)}</span>
    ${money(total, currency)}
    <span class="badge ${tone}">${text}</span>
  </li>`;
}
