// What belongs to a product: its prices, its features, its usage prices.
import type { UsagePriceCreate, UsageTierCreate } from '../client/types.ts';
import { confirmPage, type Question } from './parts/confirm.ts';
import {
  entitlementForm,
  FEATURE_TYPES,
  MODELS,
  priceForm,
  RESETS,
  TIER_ROWS,
  usagePriceForm,
} from './views/product-forms.ts';
import { pricePreview, soldOf } from './parts/pricing.ts';
import { type Html, html } from '../pages/html.ts';
import { soldUsage } from '../pages/sold-usage.ts';
import { PAGE_ROWS_MAX, rowOf } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { changed, priceOf, viewOf } from './products.ts';
import { given, Typed } from './serve/typed.ts';

const section = 'products';
/** As many meters as a form offers. */
const METERS_MAX = 200;
const UNREADABLE = html`<p class="muted">
  There is nothing to preview yet: an amount is missing or wrong.
</p>`;

export const PRODUCT_PART_PAGES: readonly DashboardPage[] = [
  {
    path: '/products/:id/prices/new',
    title: 'New price',
    section,
    needs: ['getProduct', 'createPrice'],
    show: async ({ api, place, params: { id = '' } }) =>
      priceForm(place, await api.products.retrieve(id), null),
    act: { needs: ['createPrice'], run: addPrice },
  },
  {
    path: '/products/:id/prices/:price/archive',
    title: 'Archive a price',
    section,
    needs: ['getProduct', 'archivePrice'],
    show: async (visit) => {
      const { name, prices } = await productOf(visit);
      await rowOf(prices, visit.params['price'], 'price');
      return confirmPart(visit, {
        title: `Archive a price of ${name}`,
        text: 'It can no longer be bought. Customers who pay it keep paying it.',
        submit: 'Archive',
      });
    },
    act: {
      needs: ['archivePrice'],
      run: ({ api, params: { id = '', price = '' }, key }) =>
        changed(id, api.products.archivePrice(id, price, given({ idempotencyKey: key }))),
    },
  },
  {
    path: '/products/:id/entitlements/new',
    title: 'New feature',
    section,
    needs: ['getProduct', 'listMeters', 'attachFeature'],
    show: async ({ api, place, params: { id = '' } }) => {
      const [product, meters] = await Promise.all([
        api.products.retrieve(id),
        api.meters.list({ limit: METERS_MAX }),
      ]);
      return entitlementForm(place, { product, meters: meters.data });
    },
    act: { needs: ['attachFeature'], run: addFeature },
  },
  {
    path: '/products/:id/entitlements/:entitlement/detach',
    title: 'Detach a feature',
    section,
    needs: ['getProduct', 'listFeatures', 'detachFeature'],
    show: async (visit) => {
      const { id, name } = await productOf(visit);
      const all = visit.api.products.listFeatures(id, { limit: PAGE_ROWS_MAX });
      const { featureKey } = await rowOf(all, visit.params['entitlement'], 'feature');
      return confirmPart(visit, {
        title: `Detach a feature of ${name}`,
        under: featureKey,
        text: 'Customers keep what they were given until their period ends.',
        submit: 'Detach',
      });
    },
    act: {
      needs: ['detachFeature'],
      run: ({ api, params: { id = '', entitlement = '' } }) =>
        changed(id, api.products.deleteFeature(id, entitlement)),
    },
  },
  {
    path: '/products/:id/usage-prices/new',
    title: 'New usage price',
    section,
    needs: ['getProduct', 'listMeters', 'createUsagePrice'],
    show: async ({ api, place, params: { id = '' } }) => {
      const [product, meters] = await Promise.all([
        api.products.retrieve(id),
        api.meters.list({ limit: METERS_MAX }),
      ]);
      return usagePriceForm(place, { product, meters: meters.data, preview: null });
    },
    act: { needs: ['createUsagePrice'], run: addUsagePrice },
  },
  {
    path: '/products/:id/usage-prices/:price/archive',
    title: 'Archive a usage price',
    section,
    needs: ['getProduct', 'listUsagePrices', 'archiveUsagePrice'],
    show: async (visit) => {
      const { id, name } = await productOf(visit);
      const all = visit.api.products.listUsagePrices(id, { limit: PAGE_ROWS_MAX });
      const { featureKey } = await rowOf(all, visit.params['price'], 'usage price');
      return confirmPart(visit, {
        title: `Archive a usage price of ${name}`,
        under: featureKey,
        text: 'Subscriptions that have it keep it until their period ends.',
        submit: 'Archive',
      });
    },
    act: {
      needs: ['archiveUsagePrice'],
      run: ({ api, params: { id = '', price = '' }, key }) =>
        changed(id, api.products.archiveUsagePrice(id, price, given({ idempotencyKey: key }))),
    },
  },
];

const productOf = ({ api, params: { id = '' } }: Visit) => api.products.retrieve(id);

const confirmPart = ({ place, params: { id = '' } }: Visit, question: Omit<Question, 'back'>) =>
  confirmPage(place, { ...question, back: `/products/${id}` });

async function addPrice(visit: Visit): Promise<Done | Html> {
  const { api, form, place, params, key } = visit;
  const { id = '' } = params;
  const price = priceOf(new Typed(visit));
  if (form.has('preview')) {
    const view = await viewOf(api, id);
    const usagePrices = view.usagePrices.filter(({ status }) => status === 'active');
    const preview = pricePreview(place, price, { ...view, usagePrices }) ?? UNREADABLE;
    return priceForm({ ...place, typed: form }, view.product, preview);
  }
  return changed(id, api.products.createPrice(id, price, given({ idempotencyKey: key })));
}

async function addFeature(visit: Visit): Promise<Done> {
  const { api, params, key } = visit;
  const { id = '' } = params;
  const typed = new Typed(visit);
  const isMetered = typed.choice('type', FEATURE_TYPES) !== 'boolean';
  const max = typed.text('rollover.max');
  const expiresAfterPeriods = typed.number('rollover.expires_after_periods');
  const hasRollover = max !== undefined || expiresAfterPeriods !== undefined;
  const feature = given({
    featureKey: typed.required('feature_key'),
    type: typed.choice('type', FEATURE_TYPES),
    limit: isMetered ? (typed.text('limit') ?? null) : undefined,
    resetInterval: typed.choice('reset_interval', RESETS),
    overageAllowed: isMetered ? typed.isTicked('overage_allowed') : undefined,
    rollover: hasRollover
      ? { max: max ?? '', expiresAfterPeriods: expiresAfterPeriods ?? Number.NaN }
      : undefined,
    priority: typed.number('priority'),
  });
  return changed(id, api.products.createFeature(id, feature, given({ idempotencyKey: key })));
}

async function addUsagePrice(visit: Visit): Promise<Done | Html> {
  const { api, form, place, params, key } = visit;
  const { id = '' } = params;
  const price = usagePriceOf(new Typed(visit));
  if (form.has('preview')) {
    const [view, { data: meters }] = await Promise.all([
      viewOf(api, id),
      api.meters.list({ limit: METERS_MAX }),
    ]);
    const { product, entitlements } = view;
    const sold = soldOf(price, { entitlements, meters }, { interval: 'month', count: 1 });
    const preview = sold === null ? UNREADABLE : soldUsage([sold]);
    return usagePriceForm({ ...place, typed: form }, { product, meters, preview });
  }
  return changed(id, api.products.createUsagePrice(id, price, given({ idempotencyKey: key })));
}

/** What does not go with its model is sent, too, where it was filled in: the API says so. */
function usagePriceOf(typed: Typed): UsagePriceCreate {
  const tiers = tiersOf(typed);
  return given({
    featureKey: typed.required('feature_key'),
    currency: typed.required('currency'),
    model: typed.choice('model', MODELS) ?? 'per_unit',
    unitAmount: typed.text('unit_amount'),
    packageSize: typed.text('package_size'),
    packageAmount: typed.text('package_amount'),
    tiers: tiers.length === 0 ? undefined : tiers,
    minimumAmount: typed.text('minimum_amount'),
    maximumAmount: typed.text('maximum_amount'),
  });
}

function tiersOf(typed: Typed): UsageTierCreate[] {
  return Array.from({ length: TIER_ROWS }, (_, at) => `tiers.${at}.`).flatMap((prefix) => {
    const upTo = typed.text(`${prefix}up_to`) ?? null;
    const unitAmount = typed.text(`${prefix}unit_amount`);
    const flatAmount = typed.text(`${prefix}flat_amount`);
    const isEmpty = upTo === null && unitAmount === undefined && flatAmount === undefined;
    return isEmpty ? [] : [{ upTo, ...given({ unitAmount, flatAmount }) }];
  });
}
