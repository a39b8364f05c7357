// Builds the views of the portal's pages from records.
import type { Ledger, MeterBalance } from '../../../ledger/ledger.ts';
import { withoutLimit } from '../../../ledger/metering/meter.ts';
import {
  amountOf,
  isTrial,
  resumeRestarts,
  type Subscription,
} from '../../../ledger/subscriptions/subscription.ts';
import { legalActions } from '../../../ledger/subscriptions/transitions.ts';
import { brandOf } from '../../pages/brand.ts';
import type {
  Action,
  Frame,
  InvoiceView,
  Notice,
  PortalView,
  SubscriptionView,
  UpcomingView,
  UsageView,
} from '../../pages/portal/view.ts';
import type { NewInvoiceLine } from '../../invoices/issue.ts';
import type { SoldUsage } from '../../pages/sold-usage.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findCustomer } from '../../records/customers.ts';
import { type InvoiceRecord, listInvoices } from '../../records/invoices.ts';
import { listMeterLabels } from '../../records/meters.ts';
import { findOrganisation } from '../../records/organisations.ts';
import { findPaymentMethod } from '../../records/payment-methods.ts';
import { listProductNames } from '../../records/products.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { listSubscriptions, type SubscriptionRecord } from '../../records/subscriptions.ts';
import { findUpcoming } from '../../subscriptions/upcoming.ts';
import type { PortalPrincipal } from '../edge/auth.ts';
import { topUpsOf } from './topup-views.ts';

export type PortalRecords = { readonly sql: Sql; readonly ledger: Ledger };

/** Rows of each list, newest first. */
const SHOWN_MAX = 50;

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
  return { merchant, brand, isTest: principal.mode === 'test', base, timeZone };
}

export async function portalView(
  { sql, ledger }: PortalRecords,
  principal: PortalPrincipal,
  shown: {
    readonly frame: Frame;
    readonly notice: Notice | null;
    readonly canReplaceMethod: boolean;
    readonly now: number;
  },
): Promise<PortalView> {
  const { customerId } = principal;
  const page = { customerId, limit: SHOWN_MAX, offset: 0 };
  const [customer, subscriptions, invoices, method, features, topUps] = await Promise.all([
    findCustomer(sql, principal, customerId),
    listSubscriptions(sql, principal, page),
    listInvoices(sql, principal, page),
    findPaymentMethod(sql, principal, { customerId, subscriptionId: null }),
    featuresOf({ sql, ledger }, principal),
    topUpsOf({ sql, ledger }, principal),
  ]);
  const { now } = shown;
  const views = await subscriptionViews(sql, principal, { records: subscriptions, features, now });
  const names = new Map(views.map(({ id, plan }) => [id, plan]));
  return {
    ...shown.frame,
    notice: shown.notice,
    canReplaceMethod: shown.canReplaceMethod,
    customer: { name: customer?.name ?? null, email: customer?.email ?? null },
    // Ended subscriptions come last.
    subscriptions: views.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b))),
    usage: features.map(usageView),
    topUps,
    upcoming: await upcomingOf({ sql, ledger }, principal, { records: subscriptions, names }),
    invoices: invoices.flatMap(invoiceView),
    method,
  };
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
  return all.map((one) =>
    subscriptionView(one, {
      name: names.get(one.plan.productId) ?? one.plan.planName,
      sold: soldBy(one.id, features),
      now,
    }),
  );
}

function subscriptionView(
  subscription: Subscription,
  { name, sold, now }: Pick<SubscriptionView, 'sold'> & { name: string; now: number },
): SubscriptionView {
  const { plan, status, cancelAt, endedAt, resumesAt, periodEnd } = subscription;
  const { currency, interval, intervalCount, quantity } = plan;
  const date = (at: number | null): Date | null => (at === null ? null : new Date(at));
  return {
    id: subscription.id,
    plan: name,
    status,
    overdue: subscription.overdue,
    price: { amount: amountOf(plan), currency, interval, intervalCount, quantity },
    sold,
    periodEnd: new Date(periodEnd),
    trialEnd: isTrial(subscription) ? date(subscription.trialEnd) : null,
    cancelAt: date(cancelAt),
    endedAt: date(endedAt),
    resumesAt: date(resumesAt),
    keepsInvoices: subscription.keepInvoices,
    resumeIsCharged: resumeRestarts(subscription, now) && amountOf(plan) > 0n,
    actions: actionsOf(subscription),
  };
}

/** The actions that are allowed and change something. */
function actionsOf(subscription: Subscription): readonly Action[] {
  const { status, cancelAt, waiting } = subscription;
  const legal = legalActions(subscription);
  const changes: Readonly<Record<Action, boolean>> = {
    cancel: true,
    uncancel: cancelAt !== null,
    pause: status === 'active',
    resume: status === 'paused' && waiting === null,
  };
  return (['cancel', 'uncancel', 'pause', 'resume'] as const).filter(
    (action) => changes[action] && legal.includes(action),
  );
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
    const { periodEnd: at, total, currency } = found;
    return [{ plan, at, total, currency, lines: found.lines.map(upcomingLine) }];
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

export type Feature = MeterBalance & Pick<UsageView, 'name' | 'unit'>;

/** Each feature that the customer has, or has used in this period, by name. */
export async function featuresOf(
  { sql, ledger }: PortalRecords,
  { customerId, organisationId, mode }: PortalPrincipal,
): Promise<Feature[]> {
  const customer = await ledger.find({ organisationId, mode }, { id: customerId });
  if (customer === null) return [];
  const balances = (await ledger.balances(customer)).filter(
    ({ breakdown, snapshot }) => breakdown.length > 0 || snapshot.consumed > 0n,
  );
  const labels = await listMeterLabels(
    sql,
    balances.map(({ meter }) => meter.id),
  );
  return balances
    .flatMap((balance) => {
      const label = labels.get(balance.meter.id);
      return label === undefined ? [] : [{ ...label, ...balance }];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function usageView({ name, unit, meter, snapshot, state }: Feature): UsageView {
  const { limit, consumed, periodEnd } = snapshot;
  return {
    name,
    unit,
    scale: meter.scale,
    consumed,
    limit,
    isBoolean: limit === null && withoutLimit(state) === 'boolean',
    isPaidFor: limit === 0n && state.grants.some(({ price, charges }) => price !== null && charges),
    resetsAt: periodEnd === null ? null : new Date(periodEnd),
  };
}

/** The prices that the subscription has for its period. */
function soldBy(subscriptionId: string, features: readonly Feature[]): SoldUsage[] {
  return features.flatMap(({ name, unit, meter: { scale }, state }) =>
    state.grants.flatMap(({ subscriptionId: of, price, amount: limit, recurs }) => {
      if (of !== subscriptionId || price === null || limit === null || recurs === null) return [];
      const { interval, count } = recurs.cycle;
      return [{ name, unit, scale, limit, interval, count, price }];
    }),
  );
}
