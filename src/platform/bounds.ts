// Bounds: how many of each thing one organisation, customer, product, ... may have. The whole
// table.
//
// Who reads it: src/config.ts (a variable for each bound), the code that creates such a thing
// (src/records/capacity.ts counts and refuses), src/OPERATIONS.md.
// Holds: an organisation's things are counted for each of its modes. A bound that other code relies
// on (`atMost`) may be lowered, but not raised and not switched off; every other one is off at 0.
import {
  ALERTS_PER_METER_MAX,
  ANNOTATIONS_PER_OBJECT_MAX,
  ENTITLEMENTS_PER_PRODUCT_MAX,
  GRANTS_LIVE_MAX,
  METERS_PER_EVENT_MAX,
  POOL_MEMBERS_MAX,
  PRICES_PER_PRODUCT_MAX,
  USAGE_PRICES_IN_USE_MAX,
  USAGE_PRICES_PER_PRODUCT_MAX,
  USAGE_TIERS_IN_USE_MAX,
} from '../../ledger/limits.ts';

type Bound = {
  readonly variable: `LIMIT_${string}`;
  readonly byDefault: number;
  readonly atMost?: number;
  /** "an organisation has at most 1000 meters" */
  readonly whose: string;
  readonly what: string;
};

const PER_OBJECT = { byDefault: ANNOTATIONS_PER_OBJECT_MAX, whose: 'an object' };

// prettier-ignore
export const BOUNDS = {
  meters:                  { variable: 'LIMIT_METERS', byDefault: 1000, whose: 'an organisation', what: 'meters' },
  metersPerEventName:      { variable: 'LIMIT_METERS_PER_EVENT_NAME', byDefault: METERS_PER_EVENT_MAX, atMost: METERS_PER_EVENT_MAX,
                             whose: 'an event name', what: 'meters' },
  /** Nodes have them in memory, with up to 50 members each. */
  creditCostLists:         { variable: 'LIMIT_CREDIT_COST_LISTS', byDefault: 1000, whose: 'an organisation',
                             what: 'lists of credit costs, former ones too' },
  featuresPerPool:         { variable: 'LIMIT_FEATURES_PER_POOL', byDefault: POOL_MEMBERS_MAX, atMost: POOL_MEMBERS_MAX,
                             whose: 'a pool of credits', what: 'features, those of its former lists too' },
  products:                { variable: 'LIMIT_PRODUCTS', byDefault: 10_000, whose: 'an organisation', what: 'products, archived ones too' },
  /** They stay the organisation's: nobody else gets them. */
  formerSlugs:             { variable: 'LIMIT_FORMER_SLUGS', byDefault: 10_000, whose: 'an organisation', what: 'slugs that no product of it has any more' },
  pricesPerProduct:        { variable: 'LIMIT_PRICES_PER_PRODUCT', byDefault: PRICES_PER_PRODUCT_MAX, atMost: PRICES_PER_PRODUCT_MAX,
                             whose: 'a product', what: 'prices, archived ones too' },
  entitlementsPerProduct:  { variable: 'LIMIT_ENTITLEMENTS_PER_PRODUCT', byDefault: ENTITLEMENTS_PER_PRODUCT_MAX,
                             atMost: ENTITLEMENTS_PER_PRODUCT_MAX, whose: 'a product', what: 'entitlements' },
  usagePricesPerProduct:   { variable: 'LIMIT_USAGE_PRICES_PER_PRODUCT', byDefault: USAGE_PRICES_PER_PRODUCT_MAX,
                             atMost: USAGE_PRICES_PER_PRODUCT_MAX, whose: 'a product', what: 'usage prices, archived ones too' },
  usagePricesInUse:        { variable: 'LIMIT_USAGE_PRICES_IN_USE', byDefault: USAGE_PRICES_IN_USE_MAX, atMost: USAGE_PRICES_IN_USE_MAX,
                             whose: 'a product', what: 'active usage prices in one currency' },
  usageTiersInUse:         { variable: 'LIMIT_USAGE_TIERS_IN_USE', byDefault: USAGE_TIERS_IN_USE_MAX, atMost: USAGE_TIERS_IN_USE_MAX,
                             whose: 'a product', what: 'tiers of active usage prices in one currency' },
  discounts:               { variable: 'LIMIT_DISCOUNTS', byDefault: 10_000, whose: 'an organisation', what: 'discounts' },
  /** Anybody can open those of buy links: they have a bound of their own. */
  openCheckouts:           { variable: 'LIMIT_OPEN_CHECKOUTS', byDefault: 20_000, whose: 'an organisation',
                             what: 'open checkouts of its keys, and as many of its buy links' },
  webhookEndpoints:        { variable: 'LIMIT_WEBHOOK_ENDPOINTS', byDefault: 50, atMost: 1000,
                             whose: 'an organisation or a group', what: 'webhook endpoints' },
  tagsPerObject:           { variable: 'LIMIT_TAGS_PER_OBJECT', ...PER_OBJECT, what: 'tags' },
  customFieldsPerObject:   { variable: 'LIMIT_CUSTOM_FIELDS_PER_OBJECT', ...PER_OBJECT, what: 'custom fields' },
  metersPerCustomer:       { variable: 'LIMIT_METERS_PER_CUSTOMER', byDefault: 1000, whose: 'a customer', what: 'meters with usage or grants' },
  grantsPerCustomerMeter:  { variable: 'LIMIT_GRANTS_PER_CUSTOMER_METER', byDefault: GRANTS_LIVE_MAX, atMost: GRANTS_LIVE_MAX,
                             whose: 'a customer', what: 'live and scheduled grants of one feature' },
  /** A load reads them all, and a change of a subscription looks at those of its features. */
  grantsPerCustomer:       { variable: 'LIMIT_GRANTS_PER_CUSTOMER', byDefault: 50_000, whose: 'a customer',
                             what: 'live and scheduled grants of all features' },
  subscriptionsPerCustomer: { variable: 'LIMIT_SUBSCRIPTIONS_PER_CUSTOMER', byDefault: 100, whose: 'a customer', what: 'live subscriptions' },
  /** Nodes have them in memory. */
  alertsForAll:            { variable: 'LIMIT_ALERTS', byDefault: 1000, whose: 'an organisation', what: 'alerts for each customer' },
  alertsPerCustomer:       { variable: 'LIMIT_ALERTS_PER_CUSTOMER', byDefault: 1000, whose: 'a customer', what: 'alerts of its own' },
  alertsPerMeter:          { variable: 'LIMIT_ALERTS_PER_METER', byDefault: ALERTS_PER_METER_MAX, atMost: ALERTS_PER_METER_MAX,
                             whose: 'a feature', what: 'alerts for each customer' },
  alertsPerCustomerMeter:  { variable: 'LIMIT_ALERTS_PER_CUSTOMER_METER', byDefault: ALERTS_PER_METER_MAX, atMost: ALERTS_PER_METER_MAX,
                             whose: 'a customer', what: 'alerts of its own on one feature' },
  portalTokensPerCustomer: { variable: 'LIMIT_PORTAL_TOKENS_PER_CUSTOMER', byDefault: 100, whose: 'a customer', what: 'portal tokens that open' },
  eventStreams:            { variable: 'LIMIT_EVENT_STREAMS', byDefault: 1000, whose: 'an organisation', what: 'open streams of events on a node' },
  apiKeys:                 { variable: 'LIMIT_API_KEYS', byDefault: 100, whose: 'an organisation or a group', what: 'API keys' },
  members:                 { variable: 'LIMIT_MEMBERS', byDefault: 1000, whose: 'an organisation', what: 'members, and as many open invitations' },
} as const satisfies Readonly<Record<string, Bound>>;

export type BoundName = keyof typeof BOUNDS;

/** The configured bounds; 0 for none. */
export type Bounds = Readonly<Record<BoundName, number>>;

const NUMBER_MAX = 1_000_000_000;

/** Reads the bounds from the environment. */
export function readBounds(
  read: (variable: string, bounds: { byDefault: number; min: number; max: number }) => number,
): Bounds {
  const entries = Object.entries<Bound>(BOUNDS).map(([name, { variable, byDefault, atMost }]) => [
    name,
    read(variable, { byDefault, min: atMost === undefined ? 0 : 1, max: atMost ?? NUMBER_MAX }),
  ]);
  return Object.freeze(Object.fromEntries(entries)) as Bounds;
}

/** The bound is reached. */
export class Full {
  readonly bound: BoundName;
  readonly max: number;

  constructor(bound: BoundName, max: number) {
    this.bound = bound;
    this.max = max;
  }

  get message(): string {
    const { whose, what, variable } = BOUNDS[this.bound];
    return `${whose} has at most ${this.max} ${what} (${variable})`;
  }
}
