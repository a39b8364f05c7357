// One of each thing that the portal can show, with texts that a test chooses.
import { type Brand, NO_BRAND } from '../../src/pages/brand.ts';
import { actionPage } from '../../src/pages/portal/action.ts';
import { methodPage } from '../../src/pages/portal/method.ts';
import { portalPage } from '../../src/pages/portal/page.ts';
import { refusedPage } from '../../src/pages/portal/refused.ts';
import type {
  Action,
  ActionView,
  Frame,
  PortalView,
  SubscriptionView,
  TopUpView,
} from '../../src/pages/portal/view.ts';
import { everySoldUsage } from './sold-usage-views.ts';
import type { Page } from '../../src/pages/layout.ts';

export type PortalTexts = {
  readonly merchant: string;
  readonly plan: string;
  readonly customer: string;
  readonly email: string;
  readonly feature: string;
  readonly unit: string;
  readonly invoice: string;
  readonly refusal: string;
};

export const PLAIN_PORTAL: PortalTexts = {
  merchant: 'Northwind Maps',
  plan: 'Atlas Pro',
  customer: 'Ada Lovelace',
  email: 'ada@example.com',
  feature: 'API calls',
  unit: 'calls',
  invoice: 'INV-2027-000123',
  refusal: 'Your card was declined. Use another card, or ask your bank.',
};

const at = (day: string) => new Date(`${day}T00:00:00Z`);

/** Every page of the portal by its name. */
export function everyPortalPage(
  texts: PortalTexts,
  brand: Brand = NO_BRAND,
): Readonly<Record<string, () => Page>> {
  const frame: Frame = {
    merchant: texts.merchant,
    brand,
    isTest: true,
    home: '/portal/t',
    base: '/portal/t',
    timeZone: 'UTC',
  };
  const active: SubscriptionView = {
    sold: [],
    id: 'active',
    plan: texts.plan,
    status: 'active',
    overdue: 'clear',
    price: { amount: 1200n, currency: 'EUR', interval: 'month', intervalCount: 1, quantity: 1 },
    periodEnd: at('2027-03-05'),
    trialEnd: null,
    cancelAt: null,
    endedAt: null,
    resumesAt: null,
    pending: null,
    keepsInvoices: false,
    resumeIsCharged: false,
    actions: ['cancel', 'pause'],
  };
  const ending = { ...active, id: 'ending', cancelAt: at('2027-03-05') };
  const paused = {
    ...active,
    id: 'paused',
    status: 'paused',
    actions: ['cancel', 'resume'],
  } as const;
  const trial = { ...active, id: 'trial', trialEnd: at('2027-03-05') };
  const overdue = { ...active, id: 'overdue', overdue: 'blocked', actions: ['cancel'] } as const;
  const ended = {
    ...active,
    id: 'ended',
    status: 'canceled',
    endedAt: at('2027-02-01'),
    actions: [],
  } as const;
  const method = {
    type: 'card',
    brand: 'visa',
    last4: '4242',
    expiry: { month: 3, year: 2034 },
  } as const;
  const row = {
    name: texts.feature,
    unit: texts.unit,
    scale: 2,
    isBoolean: false,
    beyond: null,
    resetsAt: at('2027-03-05'),
  };
  const home: PortalView = {
    ...frame,
    customer: { name: texts.customer, email: texts.email },
    notice: null,
    subscriptions: [
      { ...active, sold: everySoldUsage(texts.feature, texts.unit) },
      { ...ending, actions: ['cancel', 'uncancel', 'pause'] },
      {
        ...paused,
        resumesAt: at('2027-04-01'),
        price: { ...active.price, quantity: 12, intervalCount: 3 },
      },
      { ...paused, id: 'kept', keepsInvoices: true },
      trial,
      overdue,
      ended,
    ],
    usage: [
      { ...row, consumed: 620_000n, limit: 1_000_000n },
      { ...row, consumed: 85_050n, limit: 100_000n },
      { ...row, consumed: 120_000n, limit: 100_000n },
      { ...row, consumed: 1n, limit: 0n, unit: null },
      { ...row, consumed: 700n, limit: 0n, beyond: { kind: 'price' } },
      { ...row, consumed: 120_000n, limit: 100_000n, beyond: { kind: 'price' } },
      { ...row, consumed: 46_500_000n, limit: 0n, beyond: { kind: 'pool', name: texts.feature } },
      { ...row, consumed: 5n, limit: null, resetsAt: null },
      { ...row, consumed: 0n, limit: null, isBoolean: true },
    ],
    topUps: everyTopUp(texts),
    upcoming: [
      {
        plan: texts.plan,
        at: at('2027-03-05'),
        total: 3_149n,
        currency: 'EUR',
        lines: [
          { name: texts.plan, kind: 'other', quantity: '12', amount: 1200n },
          { name: texts.feature, kind: 'usage', quantity: '1949500.5', amount: 1950n },
          { name: texts.feature, kind: 'correction', quantity: '-1', amount: -1n },
        ],
      },
    ],
    invoices: (['open', 'paid', 'void', 'uncollectible'] as const).map((status, index) => ({
      id: `invoice${index}`,
      number: texts.invoice,
      status,
      total: 1200n,
      currency: 'EUR',
      issuedAt: at('2027-02-05'),
    })),
    method,
    next: { subscriptions: 'paused', usage: texts.feature, topups: null, invoices: 'invoice3' },
    canReplaceMethod: true,
  };
  const none = { subscriptions: [], usage: [], upcoming: [], invoices: [], method: null };
  const ask =
    (action: Action, subscription: SubscriptionView, rest: Partial<ActionView> = {}) =>
    () =>
      actionPage({
        ...frame,
        action,
        subscription,
        method,
        resumeDays: { first: '2027-02-08', last: '2028-02-07' },
        entered: { mode: 'at_period_end', resumesAt: '', keepInvoices: false },
        errors: [],
        refusal: null,
        ...rest,
      });
  const replace = {
    ...frame,
    attempt: 'attempt',
    notice: null,
    method,
    entered: 'card',
    owner: null,
    unfinished: null,
    errors: [],
    refusal: null,
  } as const;
  const { refusal } = texts;
  return {
    home: () => portalPage(home),
    told: () => portalPage({ ...home, notice: 'cancel_scheduled', isTest: false }),
    empty: () =>
      portalPage({
        ...home,
        ...none,
        customer: { name: null, email: null },
        canReplaceMethod: false,
      }),
    cancel: ask('cancel', active),
    cancel_sold: ask('cancel', { ...active, sold: everySoldUsage(texts.feature) }),
    cancel_trial: ask('cancel', trial),
    cancel_scheduled: ask('cancel', ending),
    cancel_overdue: ask('cancel', overdue, { refusal }),
    cancel_paused: ask('cancel', paused),
    uncancel: ask('uncancel', ending),
    uncancel_paused: ask('uncancel', { ...ending, status: 'paused' }),
    pause: ask('pause', active),
    pause_wrong: ask('pause', ending, {
      entered: { mode: 'at_period_end', resumesAt: '2027-02-01', keepInvoices: true },
      errors: [
        { field: 'resumes_at', message: 'Enter a day after today, at most a year from now.' },
      ],
    }),
    resume: ask('resume', paused),
    resume_charged: ask('resume', { ...paused, resumeIsCharged: true, cancelAt: at('2027-06-05') }),
    resume_declined: ask('resume', { ...paused, resumeIsCharged: true }, { refusal, method: null }),
    method: () => methodPage(replace),
    method_wrong: () =>
      methodPage({
        ...replace,
        method: null,
        entered: 'bank_debit',
        errors: [{ field: 'iban', message: 'Enter an IBAN, such as DE89 3704 0044 0532 0130 00.' }],
        refusal,
      }),
    method_elsewhere: () => methodPage({ ...replace, owner: 'Stripe', refusal }),
    method_unfinished: () =>
      methodPage({
        ...replace,
        owner: 'Stripe',
        unfinished: { owner: 'Stripe', url: 'https://checkout.stripe.com/c/pay/cs_1' },
      }),
    method_alone: () => methodPage({ ...replace, home: null }),
    method_alone_done: () => methodPage({ ...replace, home: null, notice: 'method_replaced' }),
    forbidden: () => refusedPage('forbidden'),
    unauthorized: () => refusedPage('unauthorized'),
    rate_limited: () => refusedPage('rate_limited'),
    downloading: () => refusedPage('downloading'),
    not_found: () => refusedPage('not_found'),
  };
}

function everyTopUp({ feature: name, unit }: PortalTexts): TopUpView[] {
  const on: TopUpView = {
    featureKey: 'api-calls',
    name,
    unit,
    scale: 2,
    enabled: true,
    threshold: 10_000n,
    amount: 100_050n,
    price: { amount: 1000n, currency: 'EUR' },
    limit: null,
    status: 'armed',
    reason: null,
    nextAttemptAt: null,
  };
  const limit = { count: 3, interval: 'month' } as const;
  const suspended = { ...on, status: 'suspended' } as const;
  return [
    on,
    { ...on, enabled: false, unit: null, limit },
    { ...on, status: 'charging' },
    { ...on, status: 'charging', nextAttemptAt: at('2027-03-05') },
    { ...suspended, reason: 'declined' },
    { ...suspended, reason: 'authentication_required' },
    { ...suspended, reason: 'no_payment_method', price: null },
    { ...suspended, reason: 'limit', limit, nextAttemptAt: at('2027-04-01') },
  ];
}
