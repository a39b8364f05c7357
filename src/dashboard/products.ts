import type { Tollhouse } from '../client/index.ts';
import { confirmPage } from './parts/confirm.ts';
import { buyForm, INTERVALS, productForm } from './views/product-forms.ts';
import {
  PARTS,
  PRODUCT_STATUSES,
  productPage,
  productsPage,
  type ProductView,
} from './views/products.ts';
import { isUuid } from '../records/uuid.ts';
import { choiceOf, filterOf, firstOf, ledBy, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { metersOf, poolOf } from './pools.ts';
import { orNone } from './serve/refusals.ts';
import { given, Typed } from './serve/typed.ts';

const section = 'products';
/** As many as a page of a product shows of what it gives and sells. A price may have 50 tiers. */
const ENTITLEMENTS_MAX = 50;
const USAGE_PRICES_MAX = 10;
/** As many as are looked through for those that are sold: a product has no more. */
const SOLD_MAX = 500;

export const PRODUCT_PAGES: readonly DashboardPage[] = [
  {
    path: '/products',
    title: 'Products',
    section,
    needs: ['listProducts', 'getProduct'],
    show: showProducts,
  },
  {
    path: '/products/new',
    title: 'New product',
    section,
    needs: ['createProduct'],
    show: ({ place }) => Promise.resolve(productForm(place, null)),
    act: { needs: ['createProduct'], run: create },
  },
  {
    path: '/products/:id',
    title: 'Product',
    section,
    needs: ['getProduct', 'listFeatures', 'listUsagePrices', 'getMeter', 'listMeters'],
    show: showProduct,
  },
  {
    path: '/products/:id/edit',
    title: 'Change a product',
    section,
    needs: ['getProduct', 'updateProduct'],
    show: async ({ api, place, params: { id = '' } }) =>
      productForm(place, await api.products.retrieve(id)),
    act: { needs: ['updateProduct'], run: change },
  },
  {
    path: '/products/:id/archive',
    title: 'Archive a product',
    section,
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
    section,
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
  {
    path: '/products/:id/buy',
    title: 'Sell a product',
    section,
    needs: ['getProduct', 'createCheckout'],
    show: async ({ api, place, params: { id = '' } }) =>
      buyForm(place, await api.products.retrieve(id)),
    act: { needs: ['createCheckout'], run: sell },
  },
];

async function showProducts(visit: Visit) {
  const { api, query } = visit;
  const status = choiceOf(query, 'status', PRODUCT_STATUSES);
  const search = filterOf(query, 'search');
  const { place, rows } = await searched(visit.place, () =>
    api.products.list({ ...pageOf(query), ...given({ status, namePrefix: search }) }),
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
  const typed = new Typed(visit);
  const amount = typed.text('prices.0.amount');
  const product = given({
    name: typed.required('name'),
    description: typed.text('description'),
    slug: typed.text('slug'),
    status: typed.choice('status', PRODUCT_STATUSES),
    prices: amount === undefined ? undefined : [priceOf(typed, 'prices.0.')],
  });
  const { id } = await api.products.create(product, given({ idempotencyKey: key }));
  return { to: `/products/${id}`, notice: 'created' };
}

/** The price that a form asks for. */
export function priceOf(typed: Typed, prefix = '') {
  return given({
    amount: typed.required(`${prefix}amount`),
    currency: typed.required(`${prefix}currency`),
    interval: typed.choice(`${prefix}interval`, INTERVALS),
    intervalCount: typed.number(`${prefix}interval_count`),
    trialDays: typed.number(`${prefix}trial_days`),
  });
}

function change(visit: Visit): Promise<Done> {
  const { api, params } = visit;
  const { id = '' } = params;
  const typed = new Typed(visit);
  const fields = given({
    name: typed.required('name'),
    description: typed.text('description') ?? '',
    slug: typed.text('slug'),
  });
  return changed(id, api.products.update(id, fields));
}

/** Back to the product, once it is done. */
export async function changed(id: string, task: Promise<unknown>): Promise<Done> {
  await task;
  return { to: `/products/${id}`, notice: 'changed' };
}

async function sell(visit: Visit): Promise<Done> {
  const { api, params, key } = visit;
  const { id: productId = '' } = params;
  const typed = new Typed(visit);
  const asked = given({
    productId,
    customerEmail: typed.required('customer_email'),
    customerName: typed.text('customer_name'),
    externalCustomerId: typed.text('external_customer_id'),
    currency: typed.text('currency'),
    discountCode: typed.text('discount_code'),
  });
  const { id } = await api.checkouts.create(asked, given({ idempotencyKey: key }));
  return { to: `/checkouts/${id}`, notice: 'created' };
}
