// The pages of one customer, drawn: nothing, the usual, and hostile names.
import { expect, test } from 'bun:test';
import type { Balance, Customer, LiveGrant, Subscription } from '../../src/client/types.ts';
import { alertForm } from '../../src/dashboard/alerts.ts';
import { customerPage, type CustomerFacts } from '../../src/dashboard/customers.ts';
import {
  correctionForm,
  customerForm,
  grantForm,
  labelsForm,
  portalLinkForm,
  portalLinkMade,
  spendCapForm,
  voidGrantForm,
} from '../../src/dashboard/views/customer-forms.ts';
import { customersPage } from '../../src/dashboard/customers.ts';
import type { Html } from '../../src/pages/html.ts';
import { placeAt } from './place.ts';

const HOSTILE = `"><script>alert(1)</script>'&`;
const AT = '2026-01-01T00:00:00.000Z';

const customer: Customer = {
  id: '01976c2e-5f00-7a10-8000-000000000001',
  externalCustomerId: 'user-1',
  email: 'ada@example.com',
  name: 'Ada',
  billingAddress: {
    line1: 'Main St 1',
    line2: null,
    city: 'Bonn',
    state: null,
    postalCode: null,
    country: 'DE',
  },
  metadata: { crm: 'A-17' },
  createdAt: AT,
  updatedAt: AT,
};

const hostile: Customer = {
  ...customer,
  name: HOSTILE,
  email: HOSTILE,
  externalCustomerId: HOSTILE,
  metadata: { [HOSTILE]: HOSTILE },
};

const grant = (of: Partial<LiveGrant>): LiveGrant => ({
  id: 'grant-1',
  meterId: 'meter',
  featureKey: 'api-calls',
  source: 'top_up',
  amount: 10,
  used: 0,
  remaining: 10,
  unlimited: false,
  boolean: false,
  effectiveAt: AT,
  expiresAt: null,
  renewsAt: null,
  priority: 100,
  resetInterval: null,
  rollover: null,
  overageAllowed: false,
  suspended: null,
  productId: null,
  subscriptionId: null,
  reason: null,
  status: 'active',
  createdAt: AT,
  ...of,
});

const balance = (of: Partial<Balance> = {}): Balance => ({
  customerId: customer.id,
  externalCustomerId: null,
  meterId: 'meter',
  featureKey: 'api-calls',
  balance: 8,
  limit: 10,
  consumed: 2,
  remaining: 8,
  reserved: 0,
  overage: 0,
  unlimited: false,
  periodStart: AT,
  periodEnd: null,
  resetsAt: null,
  updatedAt: AT,
  breakdown: [],
  breakdownHasMore: false,
  ...of,
});

const NONE: CustomerFacts = {
  customer: {
    ...customer,
    name: null,
    email: null,
    externalCustomerId: null,
    billingAddress: null,
    metadata: {},
  },
  features: [],
  nextFeatures: null,
  usage: { range: 'day', features: [], hasMore: false },
  denials: [],
  spendCap: null,
  credit: [],
  alerts: [],
  autoTopups: [],
  tags: [],
  fields: [],
  subscriptions: [],
  payments: [],
  invoices: [],
};

/** As words, without the markup. */
const wordsOf = ({ text }: Html): string =>
  text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test('the dashboard page of a customer who has nothing is empty', () => {
  const words = wordsOf(customerPage(placeAt(), NONE));
  for (const said of [
    'A customer',
    'No subscriptions yet.',
    'No payments yet.',
    'No invoices yet.',
    'No features yet.',
  ]) {
    expect(words).toContain(said);
  }
});

test("the customer's page shows its credit where there has been some", () => {
  expect(wordsOf(customerPage(placeAt(), NONE))).not.toContain('Credit');
  const entry = { note: null, createdAt: AT };
  const credit = [
    {
      currency: 'EUR',
      balance: '35.00',
      entries: [
        { ...entry, id: 'e-2', amount: '-10.00', reason: 'applied', invoiceId: 'inv-2' },
        { ...entry, id: 'e-1', amount: '38.00', reason: 'change', invoiceId: 'inv-1' },
        {
          ...entry,
          id: 'e-0',
          amount: '7.00',
          reason: 'adjustment',
          invoiceId: null,
          note: 'Brought forward',
        },
      ],
    },
  ] as const;
  const page = customerPage(placeAt(), {
    ...NONE,
    credit: credit.map((one) => ({ ...one, entries: [...one.entries] })),
  });
  const words = wordsOf(page);
  for (const said of [
    'Balance in EUR',
    '35.00',
    '−',
    '10.00',
    'applied',
    'change',
    'Brought forward',
  ]) {
    expect(words).toContain(said);
  }
  expect(page.text).toContain('/invoices/inv-1"');
});

// prettier-ignore
const PAYERS: [string, LiveGrant[], string][] = [
  ['the first that has something left', [grant({ remaining: 0, used: 10 }), grant({ source: 'manual', resetInterval: 'month' })], 'Allowance, each month'],
  ['not one of the future',             [grant({ status: 'scheduled' })],                                    'nothing: it is used up, so use is denied'],
  ['not one that is paused',            [grant({ suspended: 'paused', source: 'subscription' })],            'nothing: its subscription is paused'],
  ['not one that is blocked',           [grant({ suspended: 'blocked', source: 'subscription' })],           'nothing: its subscription is blocked until it is paid'],
  ['past the limit where that is sold', [grant({ remaining: 0, overageAllowed: true })],                     'nothing: it is over the limit, and overage is allowed'],
  ['whatever is unlimited',             [grant({ amount: null, remaining: null, unlimited: true })],         'Top-up'],
];

test.each(PAYERS)(
  "the customer's page says who pays for the next use: %s",
  (_what, grants, expected) => {
    const words = wordsOf(
      customerPage(placeAt(), {
        ...NONE,
        features: [{ balance: balance(), grants, alerts: [], pool: null, hasMoreGrants: false }],
      }),
    );
    expect(words).toContain(`The next use takes from ${expected}`);
  },
);

test("the customer's page lists what comes next in order of time", () => {
  const grants = [
    grant({ source: 'manual', resetInterval: 'month', renewsAt: '2026-02-03T00:00:00.000Z' }),
    grant({ status: 'scheduled', effectiveAt: '2026-02-02T00:00:00.000Z', amount: 5 }),
    grant({ expiresAt: '2026-02-01T00:00:00.000Z' }),
  ];
  const words = wordsOf(
    customerPage(placeAt(), {
      ...NONE,
      features: [{ balance: balance(), grants, alerts: [], pool: null, hasMoreGrants: false }],
    }),
  );
  const places = ['Top-up expires', 'Top-up starts: 5', 'renews: 10'].map((said) =>
    words.indexOf(said),
  );
  expect(places.every((at) => at > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("the customer's page shows no action to a member who may only read", () => {
  const facts = {
    ...NONE,
    customer,
    features: [
      { balance: balance(), grants: [grant({})], alerts: [], pool: null, hasMoreGrants: false },
    ],
  };
  const actions = ['/grant', '/correct', '/portal-link', '/edit', '/labels', '/spend-cap', '/void'];
  actions.push('/alert');
  const linked = (page: Html) => actions.filter((path) => page.text.includes(`${path}"`));
  expect(linked(customerPage(placeAt(), facts))).toEqual(actions);
  expect(linked(customerPage(placeAt({ may: () => false }), facts))).toEqual([]);
  expect(
    customersPage(placeAt({ may: () => false }), {
      data: [customer],
      hasMore: false,
      last: customer.id,
    }).text,
  ).not.toContain('/customers/new');
});

test("the customer's page does not offer to void a plan's grant by hand", () => {
  const grants = [grant({ source: 'subscription', subscriptionId: 'sub' })];
  const facts = {
    ...NONE,
    customer,
    features: [{ balance: balance(), grants, alerts: [], pool: null, hasMoreGrants: false }],
  };
  expect(customerPage(placeAt(), facts).text).not.toContain('/void');
});

test('hostile names are escaped on each page of a customer', () => {
  const place = placeAt({ query: new URLSearchParams({ search: HOSTILE, feature_key: HOSTILE }) });
  const meters = [{ slug: HOSTILE, name: HOSTILE }] as unknown as Parameters<typeof grantForm>[2];
  const subscription = {
    id: 'sub',
    planName: HOSTILE,
    status: 'active',
    overdueState: 'clear',
    quantity: 2,
    currentPeriodStart: AT,
    currentPeriodEnd: AT,
    trialEnd: null,
    cancellationEffectiveAt: null,
    resumesAt: null,
  } as Subscription;
  const label = {
    id: 'label',
    objectType: 'customer',
    objectId: customer.id,
    name: HOSTILE,
    createdAt: AT,
  } as const;
  const field = { ...label, value: HOSTILE };
  const cap = {
    customerId: '',
    externalCustomerId: null,
    amount: '5.00',
    currency: 'USD',
    spent: '1.0008',
    remaining: '3.9992',
  };
  const alert = {
    id: 'alert',
    meterId: 'meter',
    featureKey: HOSTILE,
    customerId: hostile.id,
    externalCustomerId: HOSTILE,
    type: 'usage',
    threshold: 5,
    createdAt: AT,
    triggered: true,
  } as const;
  const facts = {
    ...NONE,
    customer: hostile,
    features: [
      {
        balance: balance({ featureKey: HOSTILE }),
        grants: [grant({ featureKey: HOSTILE, reason: HOSTILE })],
        alerts: [alert],
        pool: HOSTILE,
        hasMoreGrants: false,
      },
    ],
    spendCap: cap,
    alerts: [alert],
    tags: [label],
    fields: [field],
    subscriptions: [{ subscription, events: [] }],
  };
  const pages = [
    customerPage(place, facts),
    customersPage(place, { data: [hostile], hasMore: true, last: HOSTILE }),
    customerForm(place, hostile),
    customerForm(place, null),
    grantForm(place, hostile, meters),
    voidGrantForm(place, hostile, grant({ reason: HOSTILE })),
    correctionForm(place, hostile, meters),
    spendCapForm(place, hostile, cap),
    alertForm(place, { customer: hostile, meters }),
    portalLinkForm(place, hostile),
    portalLinkMade(place, hostile, {
      id: '',
      customerId: '',
      token: '',
      url: HOSTILE,
      createdAt: AT,
      expiresAt: AT,
    }),
    labelsForm(place, hostile, { tags: [label], fields: [field] }),
  ];
  for (const { text } of pages) {
    expect(text).not.toContain('<script');
    expect(text).toContain('/dashboard/org/test/customers');
  }
});
