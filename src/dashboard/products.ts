// The catalogue: products, and what one of them costs and gives.
import type { Tollhouse } from '../client/index.ts';
import type { Entitlement, Price, Product, UsagePrice } from '../client/types.ts';
import { catalogueHead } from './parts/catalogue.ts';
import { confirmPage } from './parts/confirm.ts';
import { type Cell, button, facts, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { type Plan, pricePreview, soldOf } from './parts/pricing.ts';
import { filters, pager, table } from './parts/tables.ts';
import { badge, code, instant, money, quantity } from './parts/values.ts';
import { words } from './parts/words.ts';
import { metersOf, poolOf } from './pools.ts';
import { filterOf, firstOf, ledBy, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { orNone } from './serve/refusals.ts';
import { choice, lines, numberField, textField } from './form/field.ts';
import { drawFields, drawFilters, drawForm, read, readFilters } from './form/form.ts';
import { given } from './form/typed.ts';
import { per } from '../pages/checkout/summary.ts';
import { type Html, html } from '../pages/html.ts';
import { soldUsage } from '../pages/sold-usage.ts';
import { isUuid } from '../records/uuid.ts';

/** As many as a page of a product shows of what it gives and sells. A price may have 50 tiers. */
const ENTITLEMENTS_MAX = 50;
const USAGE_PRICES_MAX = 10;
/** As many as are looked through for those that are sold: a product has no more. */
const SOLD_MAX = 500;

export const PRODUCT_PAGES: readonly DashboardPage[] = [
  {
    path: '/products',
    title: 'Products',
    section: 'products',
    needs: ['listProducts', 'getProduct'],
    show: showProducts,
  },
  {
    path: '/products/new',
    title: 'New product',
    section: 'products',
    needs: ['createProduct'],
    show: ({ place }) => Promise.resolve(productForm(place, null)),
    act: { needs: ['createProduct'], run: create },
  },
  {
    path: '/products/:id',
    title: 'Product',
    section: 'products',
    needs: ['getProduct', 'listFeatures', 'listUsagePrices', 'getMeter', 'listMeters'],
    show: showProduct,
  },
  {
    path: '/products/:id/edit',
    title: 'Change a product',
    section: 'products',
    needs: ['getProduct', 'updateProduct'],
    show: async ({ api, place, params: { id = '' } }) =>
      productForm(place, await api.products.retrieve(id)),
    act: { needs: ['updateProduct'], run: change },
  },
  {
    path: '/products/:id/archive',
    title: 'Archive a product',
    section: 'products',
    needs: ['getProduct', 'archiveProduct'],
    show: async ({ api, place, params: { id = '' } }) => {
      const { name } = await api.products.retrieve(id);
      return confirmPage(place, {
        title: `Archive ${name}`,
        text: 'It can no longer be bought. Customers who have it keep it and are billed as before.',
        submit: 'Archive',
        back: `/products/${id}`,
      });
    },
    act: {
      needs: ['archiveProduct'],
      run: ({ api, params: { id = '' }, key }) =>
        changed(id, api.products.archive(id, given({ idempotencyKey: key }))),
    },
  },
  {
    path: '/products/:id/publish',
    title: 'Publish a product',
    section: 'products',
    needs: ['getProduct', 'publishProduct'],
    show: async ({ api, place, params: { id = '' } }) => {
      const { name } = await api.products.retrieve(id);
      return confirmPage(place, {
        title: `Publish ${name}`,
        text: 'Everyone with its link can buy it.',
        submit: 'Publish',
        back: `/products/${id}`,
      });
    },
    act: {
      needs: ['publishProduct'],
      run: ({ api, params: { id = '' }, key }) =>
        changed(id, api.products.publish(id, given({ idempotencyKey: key }))),
    },
  },
];

async function showProducts(visit: Visit) {
  const { api, query } = visit;
  const { search, ...asked } = readFilters(visit, PRODUCT_FILTERS);
  const { place, rows } = await searched(visit.place, () =>
    api.products.list({ ...pageOf(query), ...asked, ...given({ namePrefix: search }) }),
  );
  const isId = search !== undefined && isUuid(search);
  const named = isId ? await orNone(api.products.retrieve(search)) : null;
  return productsPage(place, ledBy(rows, named));
}

async function showProduct({ api, place, query, params: { id = '' } }: Visit) {
  const view = await viewOf(api, id, query);
  const { entitlements, usagePrices, hasMore } = view;
  const isWhole = !hasMore.usagePrices && !query.has(PARTS.usagePrices);
  const [meters, prices] = await Promise.all([
    entitlements.length === 0 ? [] : metersOf(api),
    isWhole ? usagePrices : firstOf(api.products.listUsagePrices(id), SOLD_MAX),
  ]);
  const beyond = entitlements.map(({ featureKey }) => ({
    featureKey,
    pool: poolOf(featureKey, meters),
    currencies: prices
      .filter((price) => price.status === 'active' && price.featureKey === featureKey)
      .map(({ currency }) => currency),
  }));
  return productPage(place, { ...view, beyond });
}

/** A product with what it gives and sells, as far as a page has room for it. */
export async function viewOf(
  api: Tollhouse,
  id: string,
  query = new URLSearchParams(),
): Promise<ProductView> {
  const behind = (part: keyof typeof PARTS) => given({ after: filterOf(query, PARTS[part]) });
  const [product, entitlements, usagePrices] = await Promise.all([
    api.products.retrieve(id),
    api.products.listFeatures(id, { limit: ENTITLEMENTS_MAX, ...behind('entitlements') }),
    api.products.listUsagePrices(id, { limit: USAGE_PRICES_MAX, ...behind('usagePrices') }),
  ]);
  const ids = new Set(usagePrices.data.map(({ meterId }) => meterId));
  const meters = await Promise.all([...ids].map((meterId) => api.meters.retrieve(meterId)));
  return {
    product,
    entitlements: entitlements.data,
    usagePrices: usagePrices.data,
    meters,
    hasMore: { entitlements: entitlements.hasMore, usagePrices: usagePrices.hasMore },
  };
}

async function create(visit: Visit): Promise<Done> {
  const { api, key } = visit;
  const { amount, ...price } = read(visit, NEW_PRICE, FIRST_PRICE);
  const product = given({
    ...read(visit, NEW_PRODUCT),
    prices: amount === undefined ? undefined : [{ amount, ...price }],
  });
  const { id } = await api.products.create(product, given({ idempotencyKey: key }));
  return { to: `/products/${id}`, notice: 'created' };
}

function change(visit: Visit): Promise<Done> {
  const { api, params } = visit;
  const { id = '' } = params;
  const { description, ...fields } = read(visit, PRODUCT);
  const product = { ...fields, description: description ?? '' };
  return changed(id, api.products.update(id, product));
}

/** Back to the product, once it is done. */
export async function changed(id: string, task: Promise<unknown>): Promise<Done> {
  await task;
  return { to: `/products/${id}`, notice: 'changed' };
}

export const PRODUCT_STATUSES: readonly Product['status'][] = ['active', 'unpublished', 'archived'];

const PRODUCT_FILTERS = {
  search: textField({ label: 'Name (or its beginning) or id', type: 'search' }),
  status: choice({ label: 'State', values: PRODUCT_STATUSES, none: 'All' }),
};

const INTERVALS: readonly NonNullable<Price['interval']>[] = ['month', 'year', 'week', 'day'];

const PRODUCT = {
  name: textField({ label: 'Name', isRequired: true }),
  description: lines({
    label: 'Description',
    hint: 'Shown to the buyer.',
    maxlength: 5000,
  }),
  slug: textField({
    label: 'Slug',
    hint: 'Used in the buy link. Leave empty to make one from the name.',
    maxlength: 64,
  }),
};

const NEW_PRODUCT = {
  ...PRODUCT,
  status: choice({ label: 'State', values: PRODUCT_STATUSES.slice(0, 2) }),
};

/** Where the price stands in the form of a new product. */
const FIRST_PRICE = 'prices.0.';

export const PRICE = {
  amount: textField({ label: 'Amount', hint: 'Such as 30.00', maxlength: 20 }),
  currency: textField({ label: 'Currency', value: 'USD', maxlength: 3, isRequired: true }),
  interval: choice({
    label: 'Billing',
    values: INTERVALS,
    called: (interval) => `every ${interval}`,
    none: 'once',
  }),
  intervalCount: numberField({
    label: 'Interval count',
    hint: 'For a recurring price: 3 = every 3 months. Leave empty for 1.',
    maxlength: 3,
  }),
  trialDays: numberField({
    label: 'Trial days',
    hint: 'For a recurring price. Leave empty for none.',
    maxlength: 3,
  }),
};

const NEW_PRICE = {
  ...PRICE,
  amount: textField({
    label: 'Amount',
    hint: 'Such as 30.00. Leave empty for no price yet.',
    maxlength: 20,
  }),
};

function productForm(place: Place, product: Product | null): Html {
  if (product !== null) {
    return formPage(place, `Change ${product.name}`, {
      back: `/products/${product.id}`,
      form: drawForm(place, PRODUCT, { submit: 'Save', values: product }),
    });
  }
  const price = html`<fieldset class="stack">
    <legend>First price</legend>
    ${drawFields(place, NEW_PRICE, { prefix: FIRST_PRICE })}
  </fieldset>`;
  return formPage(place, 'New product', {
    back: '/products',
    form: drawForm(place, NEW_PRODUCT, { submit: 'Create', more: [price] }),
  });
}

/** A form of the catalogue, and the way back. */
export function formPage(
  place: Place,
  title: string,
  of: { readonly back: string; readonly form: Html; readonly preview?: Html | null },
): Html {
  return html`${heading(title)} ${of.preview ?? null}
    <div class="part">${of.form}</div>
    <p>${button(place, of.back, 'Cancel')}</p>`;
}

/** The permanent address to buy it at. */
const buyLink = ({ slug }: Product): string => `/buy-links/${slug}`;

function productsPage(
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
  ${filters(drawFilters(place, PRODUCT_FILTERS))}
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
const PARTS = { prices: 'prices', entitlements: 'features', usagePrices: 'usage' } as const;

/**
 * Prices that a list of products shows of each, that its own page shows, and as the buyer sees
 * them.
 */
const COSTS_MAX = 5;
const PRICES_MAX = 50;
const PREVIEWS_MAX = 3;

type ProductView = Omit<Plan, 'usagePrices'> & {
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

function productPage(place: Place, view: ProductPage): Html {
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
