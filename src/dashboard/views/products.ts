// The catalogue: products, and what one of them costs and gives.
import type { Entitlement, Price, Product, UsagePrice } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { per } from '../../pages/checkout/summary.ts';
import { soldUsage } from '../../pages/sold-usage.ts';
import { button, type Cell, facts, heading, link, section } from '../parts/parts.ts';
import { filterField, filters, filterSelect, pager, table } from '../parts/tables.ts';
import { badge, code, instant, money, quantity } from '../parts/values.ts';
import { catalogueHead } from '../parts/catalogue.ts';
import type { Place } from '../parts/place.ts';
import { type Plan, pricePreview, soldOf } from '../parts/pricing.ts';
import { optionsOf, words } from '../parts/words.ts';

export const PRODUCT_STATUSES: readonly Product['status'][] = ['active', 'unpublished', 'archived'];

/** The permanent address to buy it at. */
const buyLink = ({ slug }: Product): string => `/buy-links/${slug}`;

export function productsPage(
  place: Place,
  of: {
    readonly data: readonly Product[];
    readonly hasMore: boolean;
    /** Behind which it goes on. */
    readonly last: string | undefined;
  },
): Html {
  const { data, hasMore, last } = of;
  const make = { operation: 'createProduct', to: '/products/new', label: 'New product' } as const;
  return html`${catalogueHead(place, 'Products', make)}
  ${filters([
    filterField(place, {
      name: 'search',
      label: 'Name (or its beginning) or id',
      type: 'search',
    }),
    filterSelect(place, {
      name: 'status',
      label: 'State',
      options: optionsOf(PRODUCT_STATUSES, 'All'),
    }),
  ])}
  ${table({
    caption: 'Products, newest first',
    columns: ['Name', 'State', 'Prices', 'Slug', 'Created'],
    rows: data.map((product) => [
      link(place, `/products/${product.id}`, product.name),
      badge(product.status),
      pricesOf(product),
      code(product.slug),
      instant(place, product.createdAt),
    ]),
    empty: 'No products match these filters.',
  })}
  ${pager(place, { hasMore, last })}`;
}

/** Those that can be bought. */
function pricesOf({ prices }: Product): Cell {
  const active = prices.filter(({ status }) => status === 'active');
  const more = active.length - COSTS_MAX;
  return html`${active
    .slice(0, COSTS_MAX)
    .map((price, at) => html`${at === 0 ? null : ', '}${costOf(price)}`)}
  ${more > 0 ? `and ${more} more` : null}`;
}

/** "$30.00 per month, 14 trial days". */
function costOf({ amount, currency, interval, intervalCount, trialDays = 0 }: Price): Html {
  const every = interval === undefined ? null : ` ${per({ interval, count: intervalCount ?? 1 })}`;
  const free = trialDays === 0 ? null : `, ${trialDays} trial days`;
  return html`${money(amount, currency)}${every}${free}`;
}

/** A page of each of its lists: in the address, what each goes on behind. */
export const PARTS = { prices: 'prices', entitlements: 'features', usagePrices: 'usage' } as const;

/**
 * Prices that a list of products shows of each, that its own page shows, and as the buyer sees
 * them.
 */
const COSTS_MAX = 5;
const PRICES_MAX = 50;
const PREVIEWS_MAX = 3;

export type ProductView = Omit<Plan, 'usagePrices'> & {
  readonly product: Product;
  readonly usagePrices: readonly UsagePrice[];
  readonly hasMore: { readonly entitlements: boolean; readonly usagePrices: boolean };
};

/**
 * What pays for a feature beyond its limit: a pool of credits, and usage prices by their currency.
 */
type Beyond = {
  readonly featureKey: string;
  /** A slug. */
  readonly pool: string | null;
  readonly currencies: readonly string[];
};
type ProductPage = ProductView & { readonly beyond: readonly Beyond[] };

export function productPage(place: Place, view: ProductPage): Html {
  const { product } = view;
  const at = `/products/${product.id}`;
  const isSold = product.status === 'active';
  return html`${heading(product.name, {
    under: html`${badge(product.status)} ${code(product.id)}`,
    actions: [
      isSold && place.may('createCheckout') ? button(place, `${at}/buy`, 'Sell', false) : null,
      place.may('updateProduct') ? button(place, `${at}/edit`, 'Change') : null,
      !isSold && place.may('publishProduct') ? button(place, `${at}/publish`, 'Publish') : null,
      product.status !== 'archived' && place.may('archiveProduct')
        ? button(place, `${at}/archive`, 'Archive')
        : null,
    ],
  })}
  ${facts([
    ['Description', product.description === '' ? null : product.description],
    ['Slug', code(product.slug)],
    ['Buy link', isSold ? html`<a href="${buyLink(product)}">${code(buyLink(product))}</a>` : null],
    ['Created', instant(place, product.createdAt)],
    ...Object.entries(product.metadata).map(([name, text]) => [name, text] as const),
  ])}
  ${section('Prices', priceTable(place, product), [
    place.may('createPrice') ? button(place, `${at}/prices/new`, 'Add a price') : null,
  ])}
  ${section('Entitlements', entitlementTable(place, view), [
    place.may('attachFeature') ? button(place, `${at}/entitlements/new`, 'Add a feature') : null,
  ])}
  ${section('Usage prices', usagePriceTable(place, view), [
    place.may('createUsagePrice')
      ? button(place, `${at}/usage-prices/new`, 'Add a usage price')
      : null,
  ])}
  ${previews(place, view)}`;
}

function priceTable(place: Place, { id, prices: all }: Product): Html {
  const at = all.findIndex((price) => price.id === place.query.get(PARTS.prices)) + 1;
  const prices = all.slice(at, at + PRICES_MAX);
  const hasMore = all.length > at + prices.length;
  return html`${table({
    caption: 'Prices, active ones first',
    columns: ['Price', 'Type', 'State', 'Created', 'Id', ''],
    rows: prices.map((price) => [
      costOf(price),
      words(price.type),
      badge(price.status),
      instant(place, price.createdAt),
      code(price.id),
      price.status === 'active' && place.may('archivePrice')
        ? link(place, `/products/${id}/prices/${price.id}/archive`, 'Archive')
        : null,
    ]),
    empty: 'No prices yet, so it cannot be bought.',
  })}
  ${pager(place, { hasMore, last: prices.at(-1)?.id }, PARTS.prices)}`;
}

function entitlementTable(place: Place, view: ProductPage): Html {
  const { product, entitlements, hasMore } = view;
  const last = entitlements.at(-1)?.id;
  return html`${table({
    caption: 'Entitlements',
    columns: ['Feature', 'Type', { label: 'Limit', isNumber: true }, 'Resets', 'Overage', ''],
    rows: entitlements.map((each) => [
      link(place, `/meters/${each.meterId}`, code(each.featureKey)),
      each.type,
      each.type === 'boolean' ? null : quantity(each.limit),
      each.resetInterval === 'never' ? 'once' : `each ${each.resetInterval}`,
      beyondOf(each, view),
      place.may('detachFeature')
        ? link(place, `/products/${product.id}/entitlements/${each.id}/detach`, 'Detach')
        : null,
    ]),
    empty: 'No entitlements yet.',
  })}
  ${pager(place, { hasMore: hasMore.entitlements, last }, PARTS.entitlements)}`;
}

/** What becomes of usage beyond the limit. */
function beyondOf(of: Entitlement, { product, beyond }: ProductPage): string | null {
  const { featureKey, type, limit, overageAllowed } = of;
  if (type === 'boolean' || limit === null) return null;
  const found = beyond.find((one) => one.featureKey === featureKey);
  const unpaid = overageAllowed ? 'allowed' : 'denied';
  if (found === undefined) return unpaid;
  const { pool, currencies } = found;
  if (pool !== null) return `paid by ${pool}`;
  if (currencies.length === 0) return unpaid;
  const isSoldInAll = product.prices.every(
    ({ status, currency }) => status !== 'active' || currencies.includes(currency),
  );
  return `billed in ${currencies.join(', ')}${isSoldInAll ? '' : `, otherwise ${unpaid}`}`;
}

function usagePriceTable(place: Place, view: ProductView): Html {
  const { product, usagePrices, hasMore } = view;
  const last = usagePrices.at(-1)?.id;
  return html`${table({
    caption: 'Usage prices, newest first',
    columns: ['Feature', 'Model', 'What it costs', 'Currency', 'State', ''],
    rows: usagePrices.map((price) => {
      const sold = soldOf(price, view, { interval: 'month', count: 1 });
      return [
        code(price.featureKey),
        words(price.model),
        sold === null ? null : soldUsage([sold]),
        price.currency,
        badge(price.status),
        price.status === 'active' && place.may('archiveUsagePrice')
          ? link(place, `/products/${product.id}/usage-prices/${price.id}/archive`, 'Archive')
          : null,
      ];
    }),
    empty: 'No usage prices yet.',
  })}
  ${pager(place, { hasMore: hasMore.usagePrices, last }, PARTS.usagePrices)}`;
}

function previews(place: Place, view: ProductView): Html | null {
  const usagePrices = view.usagePrices.filter(({ status }) => status === 'active');
  const active = view.product.prices.filter(({ status }) => status === 'active');
  if (active.length === 0) return null;
  const isWhole = active.length <= PREVIEWS_MAX && !view.hasMore.usagePrices;
  return section(
    'Preview',
    html`<div class="previews">
        ${active
          .slice(0, PREVIEWS_MAX)
          .map((price) => pricePreview(place, price, { ...view, usagePrices }))}
      </div>
      ${isWhole ? null : html`<p class="muted">The first prices, with the usage prices listed above.</p>`}`,
  );
}
