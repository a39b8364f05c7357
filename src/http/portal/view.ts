// Builds the views of the portal's pages from records.
import type { Ledger, MeterBalance } from '../../../ledger/ledger.ts';
import {
  amountOf,
  isTrial,
  resumeRestarts,
  type Subscription,
} from '../../../ledger/subscriptions/subscription.ts';
import { legalActions } from '../../../ledger/subscriptions/transitions.ts';
import { brandOf } from '../../pages/brand.ts';
import {
  type Action,
  ACTIONS,
  type Frame,
  type InvoiceView,
  type Notice,
  type PortalView,
  type SubscriptionView,
  type UpcomingView,
  type UsageView,
} from '../../pages/portal/view.ts';
import type { NewInvoiceLine } from '../../invoices/issue.ts';
import type { SoldUsage } from '../../pages/sold-usage.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { listPoolNames } from '../../records/credit-costs.ts';
import { findCustomer } from '../../records/customers.ts';
import { type InvoiceRecord, listInvoices } from '../../records/invoices.ts';
import { listMeterLabels } from '../../records/meters.ts';
import { findOrganisation } from '../../records/organisations.ts';
import { findPaymentMethod } from '../../records/payment-methods.ts';
import { listProductNames } from '../../records/products.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { findPlace, ofScope } from '../../records/page.ts';
import { listSubscriptions, type SubscriptionRecord } from '../../records/subscriptions.ts';
import { findUpcoming } from '../../subscriptions/upcoming.ts';
import type { PortalPrincipal } from '../edge/auth.ts';
import { topUpsOf } from './topup-views.ts';

export type PortalRecords = { readonly sql: Sql; readonly ledger: Ledger };

/** Rows of each list on a page. */
const SHOWN_MAX = 50;
/** Grants of a feature that sell its further usage: one of each subscription. */
const SOLD_MAX = 200;
/** Tiers of prices that the subscriptions of a page have together: each takes some 20 us. */
const TIERS_MAX = 300;

/** Next invoices: each is a question to the customer's actor. */
const UPCOMING_MAX = 10;

export type FrameOptions = {
  readonly appUrl: string;
  readonly token: string;
};

export async function frameOf(
  sql: Sql,
  principal: PortalPrincipal,
  { appUrl, token }: FrameOptions,
): Promise<Frame> {
  const organisation = await findOrganisation(sql, principal);
  const { name: merchant, timezone: timeZone, branding } = organisation;
  const brand = brandOf(branding, appUrl);
  const path = new URL(appUrl).pathname.replace(/\/$/, '');
  const base = `${path}/portal/${token}`;
  const home = principal.page === null ? base : null;
  return { merchant, brand, isTest: principal.mode === 'test', home, base, timeZone };
}

export async function portalView(
  { sql, ledger }: PortalRecords,
  principal: PortalPrincipal,
  shown: {
    readonly frame: Frame;
    readonly notice: Notice | null;
    readonly canReplaceMethod: boolean;
    readonly now: number;
    /** Of the address: what each list goes on behind. */
    readonly query: URLSearchParams;
  },
): Promise<PortalView> {
  const { customerId } = principal;
  const { query } = shown;
  const pageOf = async (list: 'subscriptions' | 'invoices') => {
    const whose = { ...ofScope(principal), customer_id: customerId };
    const after = await findPlace(sql, { name: list, whose }, query.get(list) ?? '');
    return { customerId, limit: SHOWN_MAX, offset: 0, after: after ?? undefined };
  };
  const [customer, subscriptions, invoices, method, features, topUps] = await Promise.all([
    findCustomer(sql, principal, customerId),
    listSubscriptions(sql, principal, await pageOf('subscriptions')),
    listInvoices(sql, principal, { ...(await pageOf('invoices')), isHead: true }),
    findPaymentMethod(sql, principal, { customerId, subscriptionId: null }),
    featuresOf({ sql, ledger }, principal),
    topUpsOf({ sql, ledger }, principal),
  ]);
  const { now } = shown;
  const found = subscriptions.slice(0, SHOWN_MAX);
  const all = await subscriptionViews(sql, principal, { records: found, features, now });
  const views = fitting(all);
  const records = found.slice(0, views.length);
  const names = new Map(views.map(({ id, plan }) => [id, plan]));
  const used = partOf(features, query.get('usage'), ({ meter }) => meter.slug);
  const topped = partOf(topUps, query.get('topups'), ({ featureKey }) => featureKey);
  const billed = invoices.slice(0, SHOWN_MAX);
  return {
    ...shown.frame,
    notice: shown.notice,
    canReplaceMethod: shown.canReplaceMethod,
    customer: { name: customer?.name ?? null, email: customer?.email ?? null },
    // Ended subscriptions come last.
    subscriptions: views.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b))),
    usage: used.rows.map(usageView),
    topUps: topped.rows,
    upcoming: await upcomingOf({ sql, ledger }, principal, { records, names }),
    invoices: billed.flatMap(invoiceView),
    method,
    next: {
      subscriptions: subscriptions.length > views.length ? (views.at(-1)?.id ?? null) : null,
      usage: used.next,
      topups: topped.next,
      invoices: invoices.length > billed.length ? (billed.at(-1)?.id ?? null) : null,
    },
  };
}

/** The first ones, as far as a page has room for the tiers of their prices; at least one. */
function fitting(views: readonly SubscriptionView[]): readonly SubscriptionView[] {
  let tiers = 0;
  const end = views.findIndex(({ sold }, at) => {
    for (const { price } of sold) tiers += 'tiers' in price ? price.tiers.length : 1;
    return at > 0 && tiers > TIERS_MAX;
  });
  return end === -1 ? views : views.slice(0, end);
}

/** The rows of a page behind the one with this key, and the key that the next begins behind. */
function partOf<T>(all: readonly T[], after: string | null, keyOf: (row: T) => string) {
  const first = all.findIndex((row) => keyOf(row) === after) + 1;
  const rows = all.slice(first, first + SHOWN_MAX);
  const last = rows.at(-1);
  const hasMore = all.length > first + rows.length;
  return { rows, next: hasMore && last !== undefined ? keyOf(last) : null };
}

function isOver({ status }: SubscriptionView): boolean {
  return status === 'canceled';
}

export async function subscriptionViews(
  sql: Sql,
  scope: Tenant,
  {
    records,
    features,
    now,
  }: {
    readonly records: readonly SubscriptionRecord[];
    readonly features: readonly Feature[];
    readonly now: number;
  },
): Promise<SubscriptionView[]> {
  const all = records.map(({ subscription }) => subscription);
  const ids = new Set(all.map(({ plan }) => plan.productId));
  const names = await listProductNames(sql, scope, [...ids]);
  const sold = soldBySubscription(features);
  return all.map((one) =>
    subscriptionView(one, {
      name: names.get(one.plan.productId) ?? one.plan.planName,
      sold: sold.get(one.id) ?? [],
      now,
    }),
  );
}

function subscriptionView(
  subscription: Subscription,
  { name, sold, now }: Pick<SubscriptionView, 'sold'> & { name: string; now: number },
): SubscriptionView {
  const { plan, status, cancelAt, endedAt, resumesAt, periodEnd } = subscription;
  const date = (at: number | null): Date | null => (at === null ? null : new Date(at));
  return {
    id: subscription.id,
    plan: name,
    status,
    overdue: subscription.overdue,
    price: priceView(plan),
    sold,
    periodEnd: new Date(periodEnd),
    trialEnd: isTrial(subscription) ? date(subscription.trialEnd) : null,
    cancelAt: date(cancelAt),
    endedAt: date(endedAt),
    resumesAt: date(resumesAt),
    keepsInvoices: subscription.keepInvoices,
    resumeIsCharged: resumeRestarts(subscription, now) && amountOf(plan) > 0n,
    pending: pendingOf(subscription),
    actions: actionsOf(subscription),
  };
}

function priceView(plan: Subscription['plan']): SubscriptionView['price'] {
  const { currency, interval, intervalCount, quantity } = plan;
  return { amount: amountOf(plan), currency, interval, intervalCount, quantity };
}

function pendingOf({ plan, waiting }: Subscription): SubscriptionView['pending'] {
  if (waiting === null) return null;
  const price = priceView(waiting.kind === 'change' ? waiting.plan : plan);
  return { price, since: new Date(waiting.since) };
}

/** The actions that are allowed and change something. */
function actionsOf(subscription: Subscription): readonly Action[] {
  const { status, cancelAt, waiting } = subscription;
  const legal = legalActions(subscription);
  const changes: Readonly<Record<Action, boolean>> = {
    cancel: true,
    uncancel: cancelAt !== null,
    unschedule: true,
    pause: status === 'active',
    resume: status === 'paused' && waiting === null,
  };
  return ACTIONS.filter((action) => changes[action] && legal.includes(action));
}

/** Drafts, and invoices that were never issued, are the merchant's alone. */
export function isShown({ status, number }: InvoiceRecord): boolean {
  return status !== 'draft' && number !== null;
}

function invoiceView(invoice: InvoiceRecord): InvoiceView[] {
  const { id, number, status, total, currency, issuedAt } = invoice;
  if (!isShown(invoice) || status === 'draft' || number === null) return [];
  return [{ id, number, status, total, currency, issuedAt }];
}

/** Those of active subscriptions, but for what would bill nothing. */
async function upcomingOf(
  deps: PortalRecords,
  scope: Tenant,
  {
    records,
    names,
  }: {
    readonly records: readonly SubscriptionRecord[];
    readonly names: ReadonlyMap<string, string>;
  },
): Promise<UpcomingView[]> {
  const active = records.filter(({ subscription }) => subscription.status === 'active');
  const all = await Promise.all(
    active.slice(0, UPCOMING_MAX).map(async (record) => {
      const { id, plan } = record.subscription;
      const found = await findUpcoming(deps, scope, record);
      return { plan: names.get(id) ?? plan.planName, found };
    }),
  );
  return all.flatMap(({ plan, found }) => {
    if (found === null || found.lines.length === 0) return [];
    const { periodEnd: at, discountTotal, total, currency } = found;
    const discount = {
      name: 'Discount',
      kind: 'other',
      quantity: '1',
      amount: -discountTotal,
    } as const;
    const lines = [...found.lines.map(upcomingLine), ...(discountTotal === 0n ? [] : [discount])];
    return [{ plan, at, total, currency, lines }];
  });
}

function upcomingLine(line: NewInvoiceLine): UpcomingView['lines'][number] {
  const { description: name, quantity } = line;
  const shown = { name, quantity: String(quantity) };
  if ('unitAmount' in line) {
    return { ...shown, kind: 'other', amount: line.unitAmount * BigInt(line.quantity) };
  }
  return { ...shown, kind: line.type === 'usage' ? 'usage' : 'correction', amount: line.amount };
}

export type Feature = MeterBalance &
  Pick<UsageView, 'name' | 'unit'> & {
    /** The name of the pool of credits that pays beyond its limit; null: none does. */
    readonly pool: string | null;
  };

/** Each feature that the customer has, or has used in this period, by name. */
export async function featuresOf(
  { sql, ledger }: PortalRecords,
  { customerId, organisationId, mode }: PortalPrincipal,
): Promise<Feature[]> {
  const customer = await ledger.find({ organisationId, mode }, { id: customerId });
  if (customer === null) return [];
  const all = await ledger.allBalances(customer, { soldMax: SOLD_MAX });
  const balances = all.filter(({ started, snapshot }) => started > 0 || snapshot.consumed > 0n);
  const idsOf = (some: readonly MeterBalance[]) => some.map(({ meter }) => meter.id);
  const [labels, pools] = await Promise.all([
    listMeterLabels(sql, idsOf(balances)),
    listPoolNames(sql, idsOf(balances.filter(({ snapshot }) => snapshot.pooled))),
  ]);
  return balances
    .flatMap((balance) => {
      const label = labels.get(balance.meter.id);
      const pool = pools.get(balance.meter.id) ?? null;
      return label === undefined ? [] : [{ ...label, ...balance, pool }];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function usageView({ name, unit, meter, snapshot, isBoolean, sold, pool }: Feature): UsageView {
  const { limit, consumed, periodEnd } = snapshot;
  const price = sold.some(({ charges }) => charges) ? ({ kind: 'price' } as const) : null;
  const beyond = pool === null ? price : ({ kind: 'pool', name: pool } as const);
  return {
    name,
    unit,
    scale: meter.scale,
    consumed,
    limit,
    isBoolean,
    beyond,
    resetsAt: periodEnd === null ? null : new Date(periodEnd),
  };
}

/** The prices that the subscription has for its period. */
/** Once for all: there may be hundreds of both. */
function soldBySubscription(features: readonly Feature[]): ReadonlyMap<string, SoldUsage[]> {
  const all = new Map<string, SoldUsage[]>();
  for (const { name, unit, meter, sold } of features) {
    for (const { subscriptionId, price, amount: limit, recurs } of sold) {
      if (subscriptionId === null || price === null || limit === null || recurs === null) continue;
      const { interval, count } = recurs.cycle;
      const its = all.get(subscriptionId) ?? [];
      its.push({ name, unit, scale: meter.scale, limit, interval, count, price });
      all.set(subscriptionId, its);
    }
  }
  return all;
}
