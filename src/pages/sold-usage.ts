// What usage costs beyond what is included, as a buyer reads it before it is used.
import type { Interval } from '../../ledger/kernel/calendar.ts';
import { decimal } from '../../ledger/kernel/decimal.ts';
import { exponentOf } from '../../ledger/kernel/money.ts';
import {
  UNIT_AMOUNT_DECIMALS,
  type UsagePrice,
  type UsageTier,
} from '../../ledger/metering/usage-price.ts';
import { unreachable } from '../../ledger/kernel/assert.ts';
import { showAmount, showDecimal, showExact } from './amount.ts';
import { type Html, html } from './html.ts';

export type SoldUsage = {
  /** Of the meter, as the merchant wrote it. */
  readonly name: string;
  readonly unit: string | null;
  readonly scale: number;
  /** What is included, scaled, and how often it is given: the price is for that long, too. */
  readonly limit: bigint;
  readonly interval: Interval;
  readonly count: number;
  readonly price: UsagePrice;
};

export const SOLD_STYLE = `
  .sold { margin-top: .75rem; color: var(--muted); font-size: .92rem; }
  .sold li + li { margin-top: .6rem; }
  .sold strong { color: var(--ink); font-weight: 600; }
  .sold dl { display: grid; grid-template-columns: 1fr auto; gap: .1rem 1rem; margin-top: .15rem; padding-inline-start: .8rem;
    border-inline-start: 2px solid var(--line); }
  .sold dd { text-align: end; }
`;

/** null where nothing is sold. */
export function soldUsage(all: readonly SoldUsage[]): Html | null {
  if (all.length === 0) return null;
  return html`<ul class="sold" aria-label="What usage costs">
    ${all.map(one)}
  </ul>`;
}

function one(sold: SoldUsage): Html {
  const { name, unit, scale, limit, price } = sold;
  const units = unit === null ? null : html` <bdi>${unit}</bdi>`;
  const included =
    limit === 0n ? null : html`${quantity(limit, scale)}${units} included ${every(sold)}, then `;
  return html`<li>
    <p>
      <strong><bdi>${name}</bdi></strong
      >: ${included}${costOf(sold)}
    </p>
    ${'tiers' in price ? tiers(price.tiers, sold) : null} ${bounds(sold)}
  </li>`;
}

function costOf({ price, scale }: SoldUsage): string {
  switch (price.model) {
    case 'per_unit':
      return `${unitAmount(price.unitAmount, price.currency)} each.`;
    case 'package': {
      const amount = showAmount(price.packageAmount, price.currency);
      return `${amount} for each ${quantity(price.packageSize, scale)} or part of it.`;
    }
    case 'graduated':
      return 'each at the price of its tier:';
    case 'volume':
      return 'all at the price of the tier that they reach:';
    default:
      return unreachable(price);
  }
}

function tiers(all: readonly UsageTier[], { scale, price: { currency } }: SoldUsage): Html {
  const rows = all.map(
    (tier) =>
      html`<dt>${tier.upTo === null ? 'beyond' : `up to ${quantity(tier.upTo, scale)}`}</dt>
        <dd>${tierCost(tier, currency)}</dd>`,
  );
  return html`<dl>${rows}</dl>`;
}

function tierCost({ unitAmount: unit, flatAmount: flat }: UsageTier, currency: string): string {
  const each = unit === null ? null : `${unitAmount(unit, currency)} each`;
  if (flat === null) return each ?? '';
  const fixed = showAmount(flat, currency);
  return each === null ? fixed : `${fixed} plus ${each}`;
}

function bounds(sold: SoldUsage): Html | null {
  const { currency, minimum, maximum } = sold.price;
  const least = minimum === null ? null : `at least ${showAmount(minimum, currency)}`;
  const most = maximum === null ? null : `at most ${showAmount(maximum, currency)}`;
  const both = [least, most].filter((bound) => bound !== null).join(' and ');
  return both === '' ? null : html`<p>${both.replace('a', 'A')} ${every(sold)}.</p>`;
}

function every({ interval, count }: SoldUsage): string {
  return count === 1 ? `each ${interval}` : `every ${count} ${interval}s`;
}

function quantity(value: bigint, scale: number): string {
  return showDecimal(decimal(value, scale));
}

function unitAmount(value: bigint, currency: string): string {
  return showExact(decimal(value, UNIT_AMOUNT_DECIMALS, exponentOf(currency)), currency);
}
