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
import type {
  Action,
  Frame,
  InvoiceView,
  Notice,
  PortalView,
  SubscriptionView,
  UsageView,
} from '../../pages/portal/view.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { findCustomer } from '../../records/customers.ts';
import { type InvoiceRecord, listInvoices } from '../../records/invoices.ts';
import { listMeterLabels } from '../../records/meters.ts';
import { findOrganisation } from '../../records/organisations.ts';
import { findPaymentMethod } from '../../records/payment-methods.ts';
import { listProductNames } from '../../records/products.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { listSubscriptions, type SubscriptionRecord } from '../../records/subscriptions.ts';
import type { PortalPrincipal } from '../edge/auth.ts';

export type PortalRecords = { readonly sql: Sql; readonly ledger: Ledger };

/** Rows of each list, newest first. */
const SHOWN_MAX = 50;

export type FrameOptions = {
  readonly appUrl: string;
  readonly token: string;
};

export async function frameOf(
  sql: Sql,
  principal: PortalPrincipal,
  { appUrl, token }: FrameOptions,
): Promise<Frame> {
  const { name: merchant, timezone: timeZone } = await findOrganisation(sql, principal);
  const path = new URL(appUrl).pathname.replace(/\/$/, '');
  const base = `${path}/portal/${token}`;
  return { merchant, isTest: principal.mode === 'test', base, timeZone };
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
  const [customer, subscriptions, invoices, method, usage] = await Promise.all([
    findCustomer(sql, principal, customerId),
    listSubscriptions(sql, principal, page),
    listInvoices(sql, principal, page),
    findPaymentMethod(sql, principal, { customerId, subscriptionId: null }),
    usageOf({ sql, ledger }, principal),
  ]);
  const views = await subscriptionViews(sql, principal, { records: subscriptions, now: shown.now });
  return {
    ...shown.frame,
    notice: shown.notice,
    canReplaceMethod: shown.canReplaceMethod,
    customer: { name: customer?.name ?? null, email: customer?.email ?? null },
    // Ended subscriptions come last.
    subscriptions: views.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b))),
    usage,
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
  { records, now }: { readonly records: readonly SubscriptionRecord[]; readonly now: number },
): Promise<SubscriptionView[]> {
  const all = records.map(({ subscription }) => subscription);
  const ids = new Set(all.map(({ plan }) => plan.productId));
  const names = await listProductNames(sql, scope, [...ids]);
  return all.map((one) =>
    subscriptionView(one, { name: names.get(one.plan.productId) ?? one.plan.planName, now }),
  );
}

function subscriptionView(
  subscription: Subscription,
  { name, now }: { readonly name: string; readonly now: number },
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

/** The usage of each feature that the customer has, or has used in this period. */
async function usageOf(
  { sql, ledger }: PortalRecords,
  { customerId, organisationId, mode }: PortalPrincipal,
): Promise<UsageView[]> {
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
      return label === undefined ? [] : [{ ...label, ...quantitiesOf(balance) }];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function quantitiesOf({ meter, snapshot, state }: MeterBalance): Omit<UsageView, 'name' | 'unit'> {
  const { limit, consumed, periodEnd } = snapshot;
  return {
    scale: meter.scale,
    consumed,
    limit,
    isBoolean: limit === null && withoutLimit(state) === 'boolean',
    resetsAt: periodEnd === null ? null : new Date(periodEnd),
  };
}
