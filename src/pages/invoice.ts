// An invoice to read and to print on A4. What it says depends on the record alone; what it looks
// like, on the seller's brand of now. The same of both gives the same bytes.
import type { Mode } from '../../ledger/kernel/tenant.ts';
import { type Brand, BRAND_STYLE, brandLogo, NO_BRAND, supportLine } from './brand.ts';
import { type Html, html } from './html.ts';
import { day, money, span } from './invoice-parts.ts';
import { type InvoiceLine, invoiceLines, LINES_STYLE } from './invoice-lines.ts';
import { layout, type Page } from './layout.ts';
import { stylesheet } from './styles.ts';

type Status = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';

type Address = {
  readonly [part in 'line1' | 'line2' | 'city' | 'state' | 'postalCode' | 'country']?:
    | string
    | null
    | undefined;
};

type Seller = {
  readonly [
    detail in
      | 'addressLine1'
      | 'addressLine2'
      | 'city'
      | 'state'
      | 'postalCode'
      | 'country'
      | 'taxId'
      | 'email'
      | 'phone'
  ]?: string | null | undefined;
} & { readonly name: string };

type Buyer = {
  readonly name: string | null;
  readonly email: string | null;
  readonly address: Address | null;
};

export type InvoiceSheet = {
  readonly mode: Mode;
  readonly number: string | null;
  readonly status: Status;
  readonly currency: string;
  readonly subtotal: bigint;
  readonly discountTotal: bigint;
  readonly taxTotal: bigint;
  readonly total: bigint;
  readonly amountPaid: bigint;
  readonly amountRefunded: bigint;
  readonly amountChargedBack: bigint;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  readonly issuedAt: Date | null;
  readonly dueAt: Date | null;
  readonly paidAt: Date | null;
  readonly lines: readonly InvoiceLine[];
  /** What is shown of them, where that is made already. */
  readonly shown?: readonly Html[];
  /** Where its lines are on several sheets: which one this is. */
  readonly part?: { readonly sheet: number; readonly sheets: number };
  readonly seller: Seller;
  readonly buyer: Buyer;
};

const STYLE = stylesheet(`
  .sheet { position: relative; flex: 1; width: 100%; max-width: 52rem; margin: 2rem auto; padding: clamp(1.25rem, 6vw, 4rem);
    background: var(--card); border-radius: .75rem; box-shadow: var(--shadow); }
  /* Behind the words, on every page that is printed. */
  .sheet[data-mark]::before { content: attr(data-mark); position: absolute; inset: 0; display: grid; place-content: center;
    overflow: hidden; pointer-events: none; font-size: clamp(5rem, 22vw, 11rem); font-weight: 800; letter-spacing: .05em;
    text-transform: uppercase; color: var(--muted); opacity: .13; rotate: -30deg; }
  .head { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: start; justify-content: space-between; }
  .head h1 { font-size: 2rem; }
  .state { margin-top: .3rem; padding: .15rem .7rem; border: 1px solid; border-radius: 2rem; font-size: .9rem; font-weight: 600;
    color: var(--accent); }
  .state.late { color: var(--warn); }
  .state.dead { color: var(--danger); }
  .head .code { margin-top: .25rem; font-size: .95rem; color: var(--muted); }
  time { white-space: nowrap; }
  .about { display: grid; grid-template-columns: 1fr 1fr fit-content(17rem); gap: 1.5rem 2rem; margin-top: 2.5rem; }
  .about h2 { color: var(--muted); font-size: .8rem; font-weight: 600; letter-spacing: .04em; text-transform: uppercase; }
  .about strong { display: block; font-size: 1.05rem; margin-top: .25rem; }
  /* A name runs in its own direction, but stands where its neighbours do. */
  .about strong { text-align: left; }
  .about p { margin-top: .15rem; white-space: pre-line; }
  .about .facts { gap: .1rem 1.25rem; align-content: start; }
  .about .facts dd { text-align: start; }
  ${LINES_STYLE}
  .sums { display: grid; grid-template-columns: 1fr auto; row-gap: .4rem; width: min(100%, 22rem); margin: 1.25rem 0 0 auto; }
  .sums dd { padding-inline-start: 2rem; text-align: end; }
  .sums .strong { padding-top: .5rem; border-top: 1px solid var(--line); font-weight: 650; font-size: 1.15rem; }
  .raw { margin-top: 1.5rem; font-size: .9rem; }
  .part { display: flex; gap: 1rem; margin-top: .75rem; font-size: .9rem; }
  ${BRAND_STYLE}
  .sheet .support { margin-top: 2rem; color: var(--muted); font-size: .9rem; }
  @media screen and (max-width: 44rem) {
    .about { grid-template-columns: 1fr; }
    .sheet { margin: 0; border-radius: 0; box-shadow: none; }
  }
  @page { size: A4; margin: 16mm 16mm 18mm; @bottom-right { content: counter(page) " / " counter(pages); font: 9pt sans-serif; } }
  @media print {
    :root { color-scheme: light; --paper: #fff; --card: #fff; --ink: #000; --muted: #444; --line: #bbb; --accent: #000;
      --danger: #000; --warn: #000; --warn-soft: #fff; --warn-line: #000; font-size: 10.5pt; }
    body { display: block; min-height: 0; }
    .sheet { max-width: none; margin: 0; padding: 0; border-radius: 0; box-shadow: none; }
    .sheet[data-mark]::before { position: fixed; }
    .banner { border: 1px solid; margin-bottom: 8mm; }
    .raw, .part a { display: none; }
    .sums, .about > * { break-inside: avoid; }
  }
`);

const BADGES: Readonly<Record<Status, { readonly text: string; readonly tone: string }>> = {
  draft: { text: 'Draft', tone: 'late' },
  open: { text: 'Open', tone: 'late' },
  paid: { text: 'Paid', tone: 'good' },
  void: { text: 'Void', tone: 'dead' },
  uncollectible: { text: 'Uncollectible', tone: 'dead' },
};

/** A watermark across the sheet: no part of it can pass for an invoice that is due. */
const MARKS: Readonly<Partial<Record<Status, string>>> = { draft: 'Draft', void: 'Void' };

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' });

/** `usageHref`: where a reader who may gets the events behind the lines of usage. */
export function invoicePage(
  invoice: InvoiceSheet,
  of: { readonly brand?: Brand; readonly usageHref?: string | null } = {},
): Page {
  const { brand = NO_BRAND, usageHref = null } = of;
  const { number, seller } = invoice;
  const mark = MARKS[invoice.status];
  const title = `${number === null ? 'Draft invoice' : `Invoice ${number}`} · ${seller.name}`;
  const body = html`${invoice.mode === 'test' ? TEST_BANNER : null}
    <main class="sheet" ${mark === undefined ? null : html`data-mark="${mark}"`}>
      <header class="head">
        <div>
          ${brandLogo(brand)}
          <h1>Invoice</h1>
          <p class="code">${number ?? 'not issued yet'}</p>
        </div>
        ${badge(invoice)}
      </header>
      <div class="about">${parties(invoice)} ${facts(invoice)}</div>
      ${invoiceLines(invoice)} ${sheets(invoice)} ${sums(invoice)} ${usageLink(invoice, usageHref)}
      ${supportLine(brand)}
    </main>`;
  return layout({ title, body, stylesheet: STYLE, brand });
}

/** On paper the number alone: each sheet is printed by itself. */
function sheets({ part }: InvoiceSheet): Html | null {
  if (part === undefined || part.sheets === 1) return null;
  const { sheet, sheets: all } = part;
  const to = (number: number, text: string) =>
    number < 1 || number > all ? null : html`<a href="?sheet=${number}">${text}</a>`;
  return html`<nav class="part" aria-label="Sheets">
    <span>Lines: sheet ${sheet} of ${all}</span> ${to(sheet - 1, 'Previous')}
    ${to(sheet + 1, 'Next')}
  </nav>`;
}

function usageLink({ lines }: InvoiceSheet, href: string | null): Html | null {
  if (href === null || !lines.some((line) => 'tiers' in line)) return null;
  return html`<p class="raw"><a href="${href}" download>All recorded usage (CSV)</a></p>`;
}

const TEST_BANNER = html`<aside class="banner">
  <p><strong>Test mode.</strong> No money was moved: this is not a tax document.</p>
</aside>`;

/** A dispute that the buyer has won goes before refunds. */
function badge({ status, amountPaid, amountRefunded, amountChargedBack }: InvoiceSheet): Html {
  const { text, tone } = BADGES[status];
  const back = amountRefunded + amountChargedBack;
  if (back === 0n) return html`<p class="state ${tone}">${text}</p>`;
  const how = amountChargedBack > 0n ? 'charged back' : 'refunded';
  const shown = back < amountPaid ? `Partly ${how}` : `${how[0]?.toUpperCase()}${how.slice(1)}`;
  return html`<p class="state late">${shown}</p>`;
}

function parties({ seller, buyer }: InvoiceSheet): Html {
  const { addressLine1: line1, addressLine2: line2, taxId } = seller;
  return html`<section>
      <h2>From</h2>
      ${party(seller.name, { ...seller, line1, line2 })} ${detail(taxId && `Tax ID: ${taxId}`)}
      ${detail(seller.email)} ${detail(seller.phone)}
    </section>
    <section>
      <h2>Billed to</h2>
      ${party(buyer.name, buyer.address ?? {})} ${detail(buyer.email)}
    </section>`;
}

/** Names run in the direction of their own script. */
function party(name: string | null, address: Address): Html {
  const { line1, line2, city, state, postalCode, country } = address;
  const place = [postalCode, city, state].filter(Boolean).join(' ');
  const text = [line1, line2, place, country && countryName(country)].filter(Boolean).join('\n');
  return html`${name === null ? null : html`<strong dir="auto">${name}</strong>`}
  ${text === '' ? null : html`<p dir="auto">${text}</p>`}`;
}

function detail(text: string | null | undefined): Html | null {
  return text ? html`<p class="muted" dir="ltr">${text}</p>` : null;
}

function countryName(country: string): string {
  return /^[A-Z]{2}$/.test(country) ? (COUNTRIES.of(country) ?? country) : country;
}

function facts(invoice: InvoiceSheet): Html {
  const { status, issuedAt, dueAt, paidAt, periodStart: start, periodEnd: end } = invoice;
  const isOwed = paidAt === null && status !== 'void';
  const period =
    start === null || end === null
      ? null
      : html`<dt>Period</dt>
          <dd>${span({ start, end })}</dd>`;
  return html`<dl class="facts">
    ${dated('Issued', issuedAt)} ${period} ${isOwed ? dated('Due', dueAt) : null}
    ${dated('Paid', paidAt)}
  </dl>`;
}

function dated(name: string, at: Date | null): Html | null {
  if (at === null) return null;
  return html`<dt>${name}</dt>
    <dd>${day(at)}</dd>`;
}

/** Sums of zero are left out, but for the total, and the amount due of an open invoice. */
function sums(invoice: InvoiceSheet): Html {
  const { currency, discountTotal, taxTotal, total, amountPaid } = invoice;
  const { amountRefunded, amountChargedBack } = invoice;
  const row = (name: string, amount: bigint, tone = '') =>
    html`<dt class="${tone}">${name}</dt>
      <dd class="${tone}">${money(amount, currency)}</dd>`;
  const due = total - amountPaid;
  return html`<dl class="sums">
    ${discountTotal + taxTotal === 0n ? null : row('Subtotal', invoice.subtotal)}
    ${discountTotal === 0n ? null : row('Discount', -discountTotal)}
    ${taxTotal === 0n ? null : row('Tax', taxTotal)} ${row(`Total ${currency}`, total, 'strong')}
    ${amountPaid === 0n ? null : row('Paid', amountPaid)}
    ${amountRefunded === 0n ? null : row('Refunded', -amountRefunded)}
    ${amountChargedBack === 0n ? null : row('Charged back', -amountChargedBack)}
    ${invoice.status === 'open' || invoice.status === 'uncollectible' ? row('Due', due, 'strong') : null}
  </dl>`;
}
