// The usage of each feature, as text and a bar.
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { type Html, html } from '../html.ts';
import { day, written } from './parts.ts';
import type { PortalView, UsageView } from './view.ts';

/** Per cent from which a bar warns. */
const NEAR = 80;

export function usage({ usage: all, timeZone }: PortalView): Html | null {
  if (all.length === 0) return null;
  return html`<section aria-labelledby="usage">
    <h2 id="usage">Usage</h2>
    <div class="card">${all.map((row) => gauge(row, timeZone))}</div>
  </section>`;
}

function gauge(row: UsageView, timeZone: string): Html {
  const { name, resetsAt, limit, isBoolean, isPaidFor } = row;
  const resets =
    resetsAt === null || isBoolean
      ? null
      : html`<small>Starts afresh on ${day(resetsAt, timeZone)}</small>`;
  return html`<div class="gauge">
    <p class="lead"><span>${written(name)}</span><span>${said(row)}</span></p>
    ${limit === null || isBoolean || isPaidFor ? null : bar(row.consumed, limit)} ${resets}
  </div>`;
}

function said({ consumed, limit, scale, unit, isBoolean, isPaidFor }: UsageView): Html {
  if (isBoolean) return html`Included`;
  const number = (value: bigint) => NUMBER.format(quantityNumber(value, scale));
  const units = unit === null ? null : html` ${written(unit)}`;
  if (isPaidFor) return html`${number(consumed)}${units} used`;
  if (limit === null) return html`${number(consumed)}${units} used, without a limit`;
  const over = consumed > limit ? html` (${number(consumed - limit)} over)` : null;
  return html`${number(consumed)} of ${number(limit)}${units} used${over}`;
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 9 });

function bar(consumed: bigint, limit: bigint): Html {
  const share = limit <= 0n ? 100 : Math.min(100, Number((consumed * 100n) / limit));
  const tone = share >= 100 ? 'full' : share >= NEAR ? 'near' : '';
  // Width is an attribute: the content security policy forbids inline styles.
  return html`<svg class="bar ${tone}" aria-hidden="true" focusable="false">
    <rect width="${share}%" height="100%" />
  </svg>`;
}
