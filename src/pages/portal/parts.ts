// Parts that several pages of the portal share.
import { showAmount } from '../amount.ts';
import { BRAND_STYLE, brandLogo, supportLine } from '../brand.ts';
import { type Html, html } from '../html.ts';
import { layout, type Page } from '../layout.ts';
import { FORM_STYLE } from '../form-style.ts';
import { SOLD_STYLE } from '../sold-usage.ts';
import { stylesheet } from '../styles.ts';
import { STYLE } from './style.ts';
import type { Frame, List, MethodView, Notice, PortalView, PriceView } from './view.ts';

const STYLESHEET = stylesheet(FORM_STYLE + STYLE + SOLD_STYLE + BRAND_STYLE);

export function frame(
  { merchant, brand, isTest }: Pick<Frame, 'merchant' | 'brand' | 'isTest'>,
  { title, content }: { readonly title: string; readonly content: Html },
): Page {
  const body = html`${isTest ? TEST_BANNER : null}
    <main class="page portal stack">${content}</main>
    <footer class="foot">${supportLine(brand)} Portal by Tollhouse</footer>`;
  const of = merchant === '' ? '' : ` · ${merchant}`;
  return layout({ title: `${title}${of}`, body, stylesheet: STYLESHEET, brand });
}

const TEST_BANNER = html`<aside class="banner">
  <p>
    <strong>Test mode.</strong> No money moves. <span class="code">4242 4242 4242 4242</span> is a
    card that pays.
  </p>
</aside>`;

/** Text of a merchant or a customer: its own characters decide its direction. */
export function written(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

export function money(amount: bigint, currency: string): Html {
  return html`<span class="money">${showAmount(amount, currency)}</span>`;
}

export function day(at: Date, timeZone: string): Html {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone });
  return html`<time datetime="${at.toISOString()}">${format.format(at)}</time>`;
}

/** "€12.00 a month", "€30.00 every 3 months". */
export function priceOf({ amount, currency, interval, intervalCount }: PriceView): Html {
  const every = intervalCount === 1 ? `a ${interval}` : `every ${intervalCount} ${interval}s`;
  return html`${money(amount, currency)} ${every}`;
}

export function methodName({ type, brand, last4 }: MethodView): Html {
  const name = type === 'bank_debit' ? 'Bank debit' : named(brand ?? 'card');
  return html`${name} <span class="code">•••• ${last4}</span>`;
}

function named(brand: string): string {
  return brand.charAt(0).toUpperCase() + brand.slice(1);
}

const TOLD: Readonly<Record<Notice, string>> = {
  canceled: 'The subscription has ended.',
  cancel_scheduled: 'The subscription ends with its period. You can undo this until then.',
  uncanceled: 'The subscription continues as before.',
  unscheduled: 'The change is undone. If the bank still pays for it, the payment is refunded.',
  paused: 'The subscription is paused.',
  resumed: 'The subscription is active again.',
  resuming: 'Your payment is under way. Access returns as soon as it arrives.',
  method_replaced: 'The payment method was replaced. Overdue invoices are charged again now.',
  topup_on: 'Automatic top-up is on.',
  topup_off: 'Automatic top-up is off.',
  method_pending:
    'Your bank is checking the payment method. It is used as soon as the bank confirms it.',
};

/** What was just done. */
export function told(notice: Notice): Html {
  return html`<div class="notice" role="status" tabindex="-1" autofocus>
    <p>${TOLD[notice]}</p>
  </div>`;
}

/** The reason of a refusal; it takes the focus, and a screen reader announces it. */
export function refusalOf(refusal: string | null): Html | null {
  if (refusal === null) return null;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
    <p dir="auto">${refusal}</p>
  </div>`;
}

export function head(
  title: Html,
  { merchant, brand, home }: Pick<Frame, 'merchant' | 'brand' | 'home'>,
): Html {
  const name = written(merchant);
  return html`<header>
    ${brandLogo(brand)}
    <p class="merchant">${home === null ? name : html`<a href="${home}">${name}</a>`}</p>
    <h1>${title}</h1>
  </header>`;
}

const MORE: Readonly<Record<List, string>> = {
  subscriptions: 'More subscriptions',
  usage: 'More usage',
  topups: 'More top-ups',
  invoices: 'More invoices',
};

/** Leads to the rows behind the last one of a list. */
export function more({ base, next }: Pick<PortalView, 'base' | 'next'>, list: List): Html | null {
  const after = next[list];
  if (after === null) return null;
  const query = new URLSearchParams({ [list]: after });
  return html`<p class="actions">
    <a class="button quiet" rel="next" href="${base}?${query.toString()}#${list}">${MORE[list]}</a>
  </p>`;
}
