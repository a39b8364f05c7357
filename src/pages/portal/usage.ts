// The usage of each feature, as text and a bar.
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { type Html, html } from '../html.ts';
import { day, more, written } from './parts.ts';
import type { PortalView, UsageView } from './view.ts';

/** Per cent from which a bar warns. */
const NEAR = 80;

export function usage(view: PortalView): Html | null {
  const { usage: all, timeZone } = view;
  if (all.length === 0) return null;
  return html`<section aria-labelledby="usage">
    <h2 id="usage">Usage</h2>
    <div class="card">${all.map((row) => gauge(row, timeZone))}</div>
    ${more(view, 'usage')}
  </section>`;
}

function gauge(row: UsageView, timeZone: string): Html {
  const { name, resetsAt, limit, isBoolean } = row;
  const resets =
    resetsAt === null || isBoolean
      ? null
      : html`<small>Resets on ${day(resetsAt, timeZone)}</small>`;
  return html`<div class="gauge">
    <p class="lead"><span>${written(name)}</span><span>${said(row)}</span></p>
    ${limit === null || isBoolean || isPaidFor(row) ? null : bar(row, limit)} ${resets}
  </div>`;
}

/** Nothing is included, and what is used is paid for. */
const isPaidFor = ({ limit, beyond }: UsageView): boolean => limit === 0n && beyond !== null;

function said(row: UsageView): Html {
  const { consumed, limit, scale, unit, isBoolean, beyond } = row;
  if (isBoolean) return html`Included`;
  const number = (value: bigint) => NUMBER.format(quantityNumber(value, scale));
  const units = unit === null ? null : html` ${written(unit)}`;
  if (isPaidFor(row)) {
    const payer = beyond?.kind === 'pool' ? html`, paid by ${written(beyond.name)}` : null;
    return html`${number(consumed)}${units} used${payer}`;
  }
  if (limit === null) return html`${number(consumed)}${units} used, no limit`;
  const over = consumed > limit ? html` (${number(consumed - limit)} ${overWords(beyond)})` : null;
  return html`${number(consumed)} of ${number(limit)}${units} used${over}`;
}

function overWords(beyond: UsageView['beyond']): Html {
  if (beyond === null) return html`over`;
  return beyond.kind === 'pool' ? html`paid by ${written(beyond.name)}` : html`billed`;
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 9 });

function bar({ consumed, beyond }: UsageView, limit: bigint): Html {
  const share = limit <= 0n ? 100 : Math.min(100, Number((consumed * 100n) / limit));
  // What is paid for beyond the limit is nothing to be warned of.
  const warning = share >= 100 ? 'full' : share >= NEAR ? 'near' : '';
  const tone = beyond === null ? warning : '';
  // Width is an attribute: the content security policy forbids inline styles.
  return html`<svg class="bar ${tone}" aria-hidden="true" focusable="false">
    <rect width="${share}%" height="100%" />
  </svg>`;
}
