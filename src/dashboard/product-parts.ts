// What belongs to a product: its prices, its features, its usage prices.
import type { Entitlement, Meter, Product, UsagePrice, UsagePriceCreate } from '../client/types.ts';
import { confirmPage, type Question } from './parts/confirm.ts';
import { choice, numberField, pick, textField, tick } from './form/field.ts';
import { drawFields, drawForm, drawRows, type Fields, read, readRows } from './form/form.ts';
import { featuresOf } from './parts/features.ts';
import { link } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { pricePreview, soldOf } from './parts/pricing.ts';
import { type Html, html } from '../pages/html.ts';
import { soldUsage } from '../pages/sold-usage.ts';
import { PAGE_ROWS_MAX, rowOf } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { changed, formPage, PRICE, viewOf } from './products.ts';
import { given } from './form/typed.ts';

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
  const { api, form: sent, place, params, key } = visit;
  const { id = '' } = params;
  const { amount = '', ...rest } = read(visit, PRICE);
  const price = { amount, ...rest };
  if (sent.has('preview')) {
    const view = await viewOf(api, id);
    const usagePrices = view.usagePrices.filter(({ status }) => status === 'active');
    const preview = pricePreview(place, price, { ...view, usagePrices }) ?? UNREADABLE;
    return priceForm({ ...place, typed: sent }, view.product, preview);
  }
  return changed(id, api.products.createPrice(id, price, given({ idempotencyKey: key })));
}

async function addFeature(visit: Visit): Promise<Done> {
  const { api, params, key } = visit;
  const { id = '' } = params;
  const { rollover, limit, overageAllowed, ...asked } = read(visit, FEATURE);
  const isMetered = asked.type !== 'boolean';
  const { max = '', expiresAfterPeriods = Number.NaN } = rollover;
  const feature = given({
    ...asked,
    limit: isMetered ? limit : undefined,
    overageAllowed: isMetered ? overageAllowed : undefined,
    rollover: Object.keys(rollover).length > 0 ? { max, expiresAfterPeriods } : undefined,
  });
  return changed(id, api.products.createFeature(id, feature, given({ idempotencyKey: key })));
}

async function addUsagePrice(visit: Visit): Promise<Done | Html> {
  const { api, form, place, params, key } = visit;
  const { id = '' } = params;
  const price = usagePriceOf(visit);
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
function usagePriceOf(visit: Visit): UsagePriceCreate {
  const tiers = readRows(visit, 'tiers', TIER) ?? [];
  return {
    ...read(visit, MODEL),
    ...(tiers.length > 0 && { tiers }),
    ...read(visit, SPAN),
  };
}

const FEATURE_TYPES: readonly Entitlement['type'][] = ['metered', 'boolean'];
const RESETS: readonly Entitlement['resetInterval'][] = [
  'month',
  'never',
  'hour',
  'day',
  'week',
  'quarter',
  'year',
];
const MODELS: readonly UsagePrice['model'][] = ['per_unit', 'graduated', 'volume', 'package'];
/** Rows of tiers in the form: empty ones are ignored. */
const TIER_ROWS = 5;

/** A second button of the same form: nothing is written. */
const PREVIEW = html`<button class="button quiet" name="preview" value="true">Preview</button>`;

const METER = { featureKey: pick({ label: 'Feature', isRequired: true }) };

const FEATURE = {
  ...METER,
  type: choice({ label: 'Type', values: FEATURE_TYPES }),
  limit: textField({
    label: 'Limit',
    hint: 'Units included. Leave empty for unlimited.',
    maxlength: 40,
    isClearable: true,
  }),
  resetInterval: choice({ label: 'Resets every', values: RESETS }),
  overageAllowed: tick({ label: 'Allow overage' }),
  rollover: {
    max: textField({ label: 'Rollover limit', maxlength: 40 }),
    expiresAfterPeriods: numberField({ label: 'Rollover expires after (periods)', maxlength: 5 }),
  },
  priority: numberField({
    label: 'Priority',
    hint: 'Lower is used first. Leave empty for 100.',
    maxlength: 10,
  }),
};

const MODEL = {
  ...METER,
  currency: textField({ label: 'Currency', value: 'USD', maxlength: 3, isRequired: true }),
  model: choice({ label: 'Model', values: MODELS, otherwise: 'per_unit' }),
  unitAmount: textField({
    label: 'Unit amount',
    hint: 'For per unit, such as 0.002.',
    maxlength: 30,
  }),
  packageSize: textField({ label: 'Package size', hint: 'For package.', maxlength: 30 }),
  packageAmount: textField({ label: 'Package amount', hint: 'For package.', maxlength: 30 }),
};

const TIER = (at: number) => ({
  upTo: textField({ label: `Tier ${at + 1}: up to`, maxlength: 30, isClearable: true }),
  unitAmount: textField({ label: `Tier ${at + 1}: unit amount`, maxlength: 30 }),
  flatAmount: textField({ label: `Tier ${at + 1}: flat amount`, maxlength: 30 }),
});

const SPAN = {
  minimumAmount: textField({ label: 'Minimum per period', maxlength: 30 }),
  maximumAmount: textField({ label: 'Maximum per period', maxlength: 30 }),
};

function priceForm(place: Place, product: Product, preview: Html | null): Html {
  return formPage(place, `A price of ${product.name}`, {
    back: `/products/${product.id}`,
    preview,
    form: drawForm(place, PRICE, { submit: 'Add price', more: [PREVIEW] }),
  });
}

/** Where there is no meter, the way to make one instead of the first field. */
function noMeter(place: Place): Html {
  return html`<p>There is no meter yet. ${link(place, '/meters/new', 'Create one first')}.</p>`;
}

/** The form of what a product gives or sells of a meter. */
function meterForm(
  place: Place,
  fields: Fields & typeof METER,
  of: {
    readonly meters: readonly Meter[];
    readonly submit: string;
    readonly more?: readonly Html[];
  },
): Html {
  const { meters, ...same } = of;
  const { featureKey: _featureKey, ...rest } = fields;
  return meters.length === 0
    ? drawForm(place, rest, { ...same, before: [noMeter(place)] })
    : drawForm(place, fields, { ...same, options: { featureKey: featuresOf(meters) } });
}

function entitlementForm(
  place: Place,
  { product, meters }: { readonly product: Product; readonly meters: readonly Meter[] },
): Html {
  return formPage(place, `A feature of ${product.name}`, {
    back: `/products/${product.id}`,
    form: meterForm(place, FEATURE, { meters, submit: 'Add feature' }),
  });
}

function usagePriceForm(
  place: Place,
  of: {
    readonly product: Product;
    readonly meters: readonly Meter[];
    readonly preview: Html | null;
  },
): Html {
  const tiers = html`<fieldset class="stack">
    <legend>Tiers, for graduated and volume</legend>
    <p class="hint">Empty rows are ignored. The last tier has no upper bound.</p>
    ${drawRows(place, 'tiers', TIER, { count: TIER_ROWS })}
  </fieldset>`;
  return formPage(place, `A usage price of ${of.product.name}`, {
    back: `/products/${of.product.id}`,
    preview: of.preview,
    form: meterForm(place, MODEL, {
      meters: of.meters,
      submit: 'Add usage price',
      more: [tiers, ...drawFields(place, SPAN), PREVIEW],
    }),
  });
}
