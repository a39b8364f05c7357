import { type Static, Type } from '@sinclair/typebox';
import { PRICES_PER_PRODUCT_MAX } from '../../../ledger/limits.ts';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import type {
  NewPrice,
  NewProduct,
  PriceInterval,
  PriceRecord,
  ProductPatch,
  ProductRecord,
} from '../../records/products.ts';
import type { Issue } from '../edge/errors.ts';
import { Amount, Currency, moneyOf } from './money.ts';
import { Metadata } from './metadata.ts';
import { Body, Name, Timestamp, Uuid, oneOf } from './values.ts';

/** Not in the form of an id: a buy link names its product by either. */
const Slug = Type.String({
  pattern: '^(?!(?:prod_)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$)[a-z0-9][a-z0-9_-]{0,63}$',
  description: 'Names the product in a buy link. Unique among all organizations.',
  error:
    'must be 1 to 64 of a-z, 0-9, _ and -, begin with a letter or digit, and not read like an id',
});

const Description = Type.String({ maxLength: 5000 });

export const ProductStatus = oneOf(['active', 'archived', 'unpublished'], {
  description: 'Only an active product can be bought.',
});

export const PriceType = oneOf(['one_time', 'recurring']);

export const PriceStatus = oneOf(['active', 'archived']);

export const BillingInterval = oneOf(['day', 'week', 'month', 'year']);

/** A period is at most three years, or 365 days where it is counted in days. */
const INTERVAL_COUNT_MAX: Readonly<Record<PriceInterval, number>> = {
  day: 365,
  week: 156,
  month: 36,
  year: 3,
};

export const PriceCreate = Body(
  {
    amount: Amount,
    currency: Currency,
    type: Type.Optional(PriceType),
    interval: Type.Optional(BillingInterval),
    interval_count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        default: 1,
        description:
          'The number of intervals in a period: 3 with `month` is every 3 months. At most 365 ' +
          'days, 156 weeks, 36 months, 3 years.',
      }),
    ),
    trial_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 730, default: 0 })),
  },
  { amount: '300.00', currency: 'USD', type: 'recurring', interval: 'year' },
);

export const ProductCreate = Body(
  {
    name: Name,
    description: Type.Optional(Description),
    slug: Type.Optional(Slug),
    status: Type.Optional(ProductStatus),
    metadata: Type.Optional(Metadata),
    prices: Type.Optional(Type.Array(PriceCreate, { maxItems: PRICES_PER_PRODUCT_MAX })),
  },
  {
    name: 'Pro',
    slug: 'pro',
    prices: [
      { amount: '30.00', currency: 'USD', type: 'recurring', interval: 'month', trial_days: 14 },
    ],
  },
);

export const ProductChange = Body(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    slug: Type.Optional(Slug),
    status: Type.Optional(ProductStatus),
    metadata: Type.Optional(Metadata),
  },
  { description: 'All of it.' },
);

const RECURRING_ONLY = { description: 'On recurring prices only.' };

export const Price = Type.Object({
  id: Uuid,
  amount: Amount,
  currency: Currency,
  type: PriceType,
  interval: Type.Optional(BillingInterval),
  interval_count: Type.Optional(Type.Integer(RECURRING_ONLY)),
  trial_days: Type.Optional(Type.Integer(RECURRING_ONLY)),
  status: PriceStatus,
  created_at: Timestamp,
});

export const Product = Type.Object({
  id: Uuid,
  name: Name,
  description: Description,
  prices: Type.Array(Price, { description: 'All prices, active ones first.' }),
  slug: Slug,
  status: ProductStatus,
  metadata: Metadata,
  created_at: Timestamp,
  updated_at: Timestamp,
});

type InvalidProduct = { readonly issues: readonly Issue[] };

export function toNewProduct(
  body: Static<typeof ProductCreate>,
  newId: () => string,
): NewProduct | InvalidProduct {
  const prices: NewPrice[] = [];
  const issues: Issue[] = [];
  for (const [index, given] of (body.prices ?? []).entries()) {
    const price = toNewPrice(given, { id: newId(), path: ['prices', String(index)] });
    if ('issues' in price) issues.push(...price.issues);
    else prices.push(price);
  }
  if (issues.length > 0) return { issues };
  const id = newId();
  return {
    id,
    slug: body.slug ?? slugOf(body.name, id),
    name: body.name,
    description: body.description ?? '',
    status: body.status ?? 'active',
    metadata: body.metadata ?? {},
    prices,
  };
}

/** `path` is the path of the price in its body. */
export function toNewPrice(
  price: Static<typeof PriceCreate>,
  { id, path }: { readonly id: string; readonly path: readonly string[] },
): NewPrice | InvalidProduct {
  const amount = moneyOf(price.amount, price.currency, [...path, 'amount']);
  const issues = recurrenceIssues(price).map(({ field, message }) => ({
    path: [...path, field],
    message,
  }));
  if (typeof amount !== 'bigint') return { issues: [amount, ...issues] };
  if (issues.length > 0) return { issues };
  const { currency, interval = null } = price;
  if (interval === null) {
    const type = 'one_time';
    return { id, amount, currency, type, interval, intervalCount: null, trialDays: null };
  }
  return {
    id,
    amount,
    currency,
    type: 'recurring',
    interval,
    intervalCount: price.interval_count ?? 1,
    trialDays: price.trial_days ?? 0,
  };
}

/** A price with an interval is recurring; a given type has to agree. */
function recurrenceIssues(price: Static<typeof PriceCreate>): { field: string; message: string }[] {
  const { type, interval, interval_count: count = 1 } = price;
  if (type === 'one_time' || (type === undefined && interval === undefined)) {
    return (['interval', 'interval_count', 'trial_days'] as const)
      .filter((field) => price[field] !== undefined)
      .map((field) => ({ field, message: 'goes with a recurring price only' }));
  }
  if (interval === undefined) {
    return [{ field: 'interval', message: 'is required for a recurring price' }];
  }
  const max = INTERVAL_COUNT_MAX[interval];
  if (count <= max) return [];
  return [
    { field: 'interval_count', message: `must be at most ${max} where it counts ${interval}s` },
  ];
}

/** Derived from the name, and unique by the random end of the id. */
function slugOf(name: string, id: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replaceAll(/^-|-$/g, '');
  return `${words === '' ? 'product' : words}-${id.slice(-12)}`;
}

export function toProductPatch(body: Static<typeof ProductChange>): ProductPatch {
  const { name, description, slug, status, metadata } = body;
  return { name, description, slug, status, metadata };
}

export function fromPrice(price: PriceRecord): Static<typeof Price> {
  const { interval, intervalCount, trialDays } = price;
  return {
    id: price.id,
    amount: formatMoney(price.amount, price.currency),
    currency: price.currency,
    type: price.type,
    ...(interval !== null && { interval }),
    ...(intervalCount !== null && { interval_count: intervalCount }),
    ...(trialDays !== null && { trial_days: trialDays }),
    status: price.status,
    created_at: price.createdAt.toISOString(),
  };
}

export function fromProduct(product: ProductRecord): Static<typeof Product> {
  return {
    id: product.id,
    name: product.name,
    description: product.description,
    prices: product.prices.map(fromPrice),
    slug: product.slug,
    status: product.status,
    metadata: product.metadata,
    created_at: product.createdAt.toISOString(),
    updated_at: product.updatedAt.toISOString(),
  };
}
