// The forms of the catalogue: a product, a price, a feature of it, a usage price, and a sale.
import type { Entitlement, Meter, Price, Product, UsagePrice } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { checkbox, field, form, select, textarea } from '../parts/forms.ts';
import { button, heading, link } from '../parts/parts.ts';
import type { Place } from '../parts/place.ts';
import { PRODUCT_STATUSES } from './products.ts';
import { optionsOf } from '../parts/words.ts';

export const INTERVALS: readonly NonNullable<Price['interval']>[] = [
  'month',
  'year',
  'week',
  'day',
];
export const FEATURE_TYPES: readonly Entitlement['type'][] = ['metered', 'boolean'];
export const RESETS: readonly Entitlement['resetInterval'][] = [
  'month',
  'never',
  'hour',
  'day',
  'week',
  'quarter',
  'year',
];
export const MODELS: readonly UsagePrice['model'][] = [
  'per_unit',
  'graduated',
  'volume',
  'package',
];
/** Rows of tiers in the form: empty ones are ignored. */
export const TIER_ROWS = 5;

/** A second button of the same form: nothing is written. */
const PREVIEW = html`<button class="button quiet" name="preview" value="true">Preview</button>`;

function page(
  place: Place,
  title: string,
  to: { back: string; form: Html; preview?: Html | null },
) {
  return html`${heading(title)} ${to.preview ?? null}
    <div class="part">${to.form}</div>
    <p>${button(place, to.back, 'Cancel')}</p>`;
}

export function productForm(place: Place, product: Product | null): Html {
  const fields = [
    field(place, { name: 'name', label: 'Name', value: product?.name ?? '', isRequired: true }),
    textarea(place, {
      name: 'description',
      label: 'Description',
      value: product?.description ?? '',
      hint: 'Shown to the buyer.',
      maxlength: 5000,
    }),
    field(place, {
      name: 'slug',
      label: 'Slug',
      value: product?.slug ?? '',
      hint: 'Used in the buy link. Leave empty to make one from the name.',
      maxlength: 64,
    }),
  ];
  if (product !== null) {
    const back = `/products/${product.id}`;
    return page(place, `Change ${product.name}`, {
      back,
      form: form(place, { to: place.path, submit: 'Save', fields }),
    });
  }
  const status = select(place, {
    name: 'status',
    label: 'State',
    options: optionsOf(PRODUCT_STATUSES.slice(0, 2)),
  });
  const price = html`<fieldset class="stack">
    <legend>First price</legend>
    ${priceFields(place, 'prices.0.')}
  </fieldset>`;
  return page(place, 'New product', {
    back: '/products',
    form: form(place, { to: place.path, submit: 'Create', fields: [...fields, status, price] }),
  });
}

function priceFields(place: Place, prefix = ''): Html[] {
  const name = (of: string) => `${prefix}${of}`;
  return [
    field(place, {
      name: name('amount'),
      label: 'Amount',
      hint: prefix === '' ? 'Such as 30.00' : 'Such as 30.00. Leave empty for no price yet.',
      maxlength: 20,
    }),
    field(place, { name: name('currency'), label: 'Currency', value: 'USD', maxlength: 3 }),
    select(place, {
      name: name('interval'),
      label: 'Billing',
      options: [
        { value: '', label: 'once' },
        ...INTERVALS.map((value) => ({ value, label: `every ${value}` })),
      ],
    }),
    field(place, {
      name: name('interval_count'),
      label: 'Interval count',
      hint: 'For a recurring price: 3 = every 3 months. Leave empty for 1.',
      maxlength: 3,
    }),
    field(place, {
      name: name('trial_days'),
      label: 'Trial days',
      hint: 'For a recurring price. Leave empty for none.',
      maxlength: 3,
    }),
  ];
}

export function priceForm(place: Place, product: Product, preview: Html | null): Html {
  return page(place, `A price of ${product.name}`, {
    back: `/products/${product.id}`,
    preview,
    form: form(place, {
      to: place.path,
      submit: 'Add price',
      fields: [...priceFields(place), PREVIEW],
    }),
  });
}

function meterSelect(place: Place, meters: readonly Meter[]): Html {
  const options = meters.map(({ slug, name }) => ({ value: slug, label: `${name} (${slug})` }));
  return meters.length === 0
    ? html`<p>There is no meter yet. ${link(place, '/meters/new', 'Create one first')}.</p>`
    : select(place, { name: 'feature_key', label: 'Feature', options });
}

export function entitlementForm(
  place: Place,
  { product, meters }: { readonly product: Product; readonly meters: readonly Meter[] },
): Html {
  const fields = [
    meterSelect(place, meters),
    select(place, { name: 'type', label: 'Type', options: optionsOf(FEATURE_TYPES) }),
    field(place, {
      name: 'limit',
      label: 'Limit',
      hint: 'Units included. Leave empty for unlimited.',
      maxlength: 40,
    }),
    select(place, { name: 'reset_interval', label: 'Resets every', options: optionsOf(RESETS) }),
    checkbox(place, { name: 'overage_allowed', label: 'Allow overage' }),
    field(place, { name: 'rollover.max', label: 'Rollover limit', maxlength: 40 }),
    field(place, {
      name: 'rollover.expires_after_periods',
      label: 'Rollover expires after (periods)',
      maxlength: 5,
    }),
    field(place, {
      name: 'priority',
      label: 'Priority',
      hint: 'Lower is used first. Leave empty for 100.',
      maxlength: 10,
    }),
  ];
  return page(place, `A feature of ${product.name}`, {
    back: `/products/${product.id}`,
    form: form(place, { to: place.path, submit: 'Add feature', fields }),
  });
}

export function usagePriceForm(
  place: Place,
  of: {
    readonly product: Product;
    readonly meters: readonly Meter[];
    readonly preview: Html | null;
  },
): Html {
  const amount = (name: string, label: string, hint?: string) =>
    field(place, { name, label, maxlength: 30, ...(hint !== undefined && { hint }) });
  const fields = [
    meterSelect(place, of.meters),
    field(place, { name: 'currency', label: 'Currency', value: 'USD', maxlength: 3 }),
    select(place, { name: 'model', label: 'Model', options: optionsOf(MODELS) }),
    amount('unit_amount', 'Unit amount', 'For per unit, such as 0.002.'),
    amount('package_size', 'Package size', 'For package.'),
    amount('package_amount', 'Package amount', 'For package.'),
    html`<fieldset class="stack">
      <legend>Tiers, for graduated and volume</legend>
      <p class="hint">Empty rows are ignored. The last tier has no upper bound.</p>
      ${Array.from({ length: TIER_ROWS }, (_, at) => tierRow(place, at))}
    </fieldset>`,
    amount('minimum_amount', 'Minimum per period'),
    amount('maximum_amount', 'Maximum per period'),
    PREVIEW,
  ];
  return page(place, `A usage price of ${of.product.name}`, {
    back: `/products/${of.product.id}`,
    preview: of.preview,
    form: form(place, { to: place.path, submit: 'Add usage price', fields }),
  });
}

function tierRow(place: Place, at: number): Html {
  const one = (name: string, label: string) =>
    field(place, { name: `tiers.${at}.${name}`, label, maxlength: 30 });
  return html`<div class="tier">
    ${one('up_to', `Tier ${at + 1}: up to`)} ${one('unit_amount', `Tier ${at + 1}: unit amount`)}
    ${one('flat_amount', `Tier ${at + 1}: flat amount`)}
  </div>`;
}

/** Asks for whom a checkout is opened. */
export function buyForm(place: Place, product: Product): Html {
  const currencies = [
    ...new Set(
      product.prices.flatMap(({ status, currency }) => (status === 'active' ? [currency] : [])),
    ),
  ];
  return page(place, `Sell ${product.name}`, {
    back: `/products/${product.id}`,
    form: form(place, {
      to: place.path,
      submit: 'Create checkout',
      fields: [
        html`<p>The checkout gets its own URL. The buyer can pay there for 24 hours.</p>`,
        field(place, {
          name: 'customer_email',
          label: 'E-mail of the buyer',
          type: 'email',
          isRequired: true,
        }),
        field(place, { name: 'customer_name', label: 'Name of the buyer' }),
        field(place, { name: 'external_customer_id', label: 'Your customer id' }),
        select(place, {
          name: 'currency',
          label: 'Currency',
          options: currencies.map((value) => ({ value, label: value })),
        }),
        field(place, { name: 'discount_code', label: 'Discount code', maxlength: 64 }),
      ],
    }),
  });
}
