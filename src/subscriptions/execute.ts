// Executes the follow-ups of many subscriptions in one transaction: invoices are issued or made
// void, payments are inserted.
import type {
  PaymentOrder,
  SubscriptionFollowup,
} from '../../ledger/subscriptions/subscription.ts';
import type { Ids, OrgClock } from '../../ledger/ports.ts';
import { draftedLines, type LineNames, usagePricesOf } from '../invoices/drafted-lines.ts';
import { unreachable } from '../../ledger/kernel/assert.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import type { Processors } from '../processors/processor.ts';
import { announceOverdue } from '../records/overdue.ts';
import {
  countAttempts,
  forgoInvoices,
  type Forgone,
  isBeingPaid,
  lockInvoice,
  voidInvoice,
} from '../invoices/changes.ts';
import { refusalOf } from '../invoices/transitions.ts';
import { draftInvoice, type Issuance, issueInvoices } from '../invoices/issue.ts';
import { oweDunningMail } from '../records/mails.ts';
import { listChargeable } from '../records/payment-methods.ts';
import { insertPayments, type NewPayment, newPayment } from '../records/payments.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { listMeterNames } from '../records/usage-prices.ts';
import {
  deleteFollowups,
  giveChargesUp,
  lockSubscriptionFollowups,
  type News,
  type OwedBySubscription,
} from '../records/subscription-followups.ts';

export type ExecuteDeps = {
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly processors: Processors;
  /** Whether customers get mails. */
  readonly sendsMail: boolean;
};

/** The actor that something is for, and the row of it, which stays until the actor has it. */
type Recipient = {
  readonly scope: Tenant;
  readonly customerId: string;
  readonly subscriptionId: string;
  readonly followupId: string;
};

export type PendingNews = Recipient & { readonly news: News };
/** A charge that nobody wants any more. */
export type Unwanted = Recipient & {
  readonly kind: 'let_go' | 'give_back';
  readonly paymentId: string;
};

/** What remains after the commit. */
export type StillOwed = {
  readonly charges: readonly string[];
  readonly news: readonly PendingNews[];
  readonly unwanted: readonly Unwanted[];
};

export async function executeOwed(
  sql: Transaction,
  deps: ExecuteDeps,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, StillOwed>> {
  const owed = await lockSubscriptionFollowups(sql, subscriptionIds);
  if (owed.length === 0) return new Map();
  const payable = await listChargeable(
    sql,
    owed.map(({ customer, subscriptionId }) => ({ customerId: customer.id, subscriptionId })),
  );
  const meters = await listMeterNames(sql, owed.flatMap(pricesIn));
  const issuances: Issuance[] = [];
  const payments: { scope: Tenant; payment: NewPayment }[] = [];
  const givenUp: string[] = [];
  const news: PendingNews[] = [];
  const unwanted: Unwanted[] = [];
  const forgone: Forgone[] = [];
  const again: string[] = [];
  for (const one of owed) {
    const answer = await newsOf(sql, one);
    if (answer !== null) {
      news.push({ ...recipientOf(one), news: answer });
      continue;
    }
    const { followup } = one;
    if (followup.kind === 'let_go' || followup.kind === 'give_back') {
      const { kind, paymentId, at } = followup;
      unwanted.push({ ...recipientOf(one), kind, paymentId });
      if (kind === 'give_back') forgone.push({ invoiceId: followup.invoiceId, at });
      continue;
    }
    const name = payable.get(one.subscriptionId);
    const processor = name === undefined ? null : deps.processors.named(one.scope, name);
    const order = await executeOne(sql, deps, {
      one,
      meters,
      issuances,
      isPayable: processor !== null,
    });
    if (order === null) continue;
    if (processor === null) {
      givenUp.push(followup.id);
      news.push({ ...recipientOf(one), news: { kind: 'no_method', paymentId: order.id } });
      continue;
    }
    const askAt = deps.orgClock.now(one.scope) + processor.firstAskMs;
    const payment = paymentOf(one, order, { processor: processor.name, askAt });
    payments.push({ scope: one.scope, payment });
    if (followup.kind === 'collect') again.push(order.invoiceId);
  }
  await insertPayments(sql, payments);
  if (again.length > 0) await countAttempts(sql, again);
  if (forgone.length > 0) await forgoInvoices(sql, forgone);
  if (givenUp.length > 0) await giveChargesUp(sql, givenUp);
  const left = new Set([...news, ...unwanted].map(({ followupId }) => followupId));
  const done = owed.map(({ followup }) => followup.id).filter((id) => !left.has(id));
  await deleteFollowups(sql, done);
  // Numbers come last: taking one blocks all others until the commit.
  await issueInvoices(sql, issuances);
  const begun = payments.map(({ payment }) => payment);
  return new Map(subscriptionIds.map((id) => [id, stillOwed(id, { begun, news, unwanted })]));
}

function stillOwed(
  subscriptionId: string,
  all: Omit<StillOwed, 'charges'> & { readonly begun: readonly NewPayment[] },
): StillOwed {
  const isIts = (one: { readonly subscriptionId: string | null }): boolean =>
    one.subscriptionId === subscriptionId;
  return {
    charges: all.begun.filter(isIts).map(({ id }) => id),
    news: all.news.filter(isIts),
    unwanted: all.unwanted.filter(isIts),
  };
}

/** A command for the subscription in place of its follow-up; null for none. */
async function newsOf(
  sql: Transaction,
  { scope, followup }: OwedBySubscription,
): Promise<News | null> {
  if (followup.kind === 'tell') return followup.news;
  if (followup.kind === 'pending') {
    const { kind, invoiceId, paymentId } = followup;
    return { kind, invoiceId, paymentId };
  }
  if (followup.kind !== 'collect') return null;
  // If the invoice was paid in another way or made void meanwhile, this charge never begins.
  const { id: paymentId, invoiceId } = followup.payment;
  const invoice = await lockInvoice(sql, scope, invoiceId);
  if (invoice === null) return null;
  const isLive = await isBeingPaid(sql, invoice, paymentId);
  if (refusalOf('chase', invoice, { isLive }) === null) return null;
  const how = invoice.status === 'void' ? 'void' : 'paid';
  return { kind: 'close_invoice', invoiceId, how, paymentId };
}

/** The charge to begin; null for none. */
async function executeOne(
  sql: Transaction,
  { ids, sendsMail }: ExecuteDeps,
  {
    one,
    meters,
    issuances,
    isPayable,
  }: {
    one: OwedBySubscription;
    meters: LineNames['meters'];
    issuances: Issuance[];
    isPayable: boolean;
  },
): Promise<PaymentOrder | null> {
  const { scope, followup } = one;
  const { at: now } = followup;
  switch (followup.kind) {
    case 'bill': {
      const isTried = isPayable && followup.payment !== null;
      const invoice = { ...invoiceOf(one, followup, meters), attempts: isTried ? 1 : 0 };
      if (followup.invoice.isDraft) await draftInvoice(sql, { scope, invoice, now });
      else issuances.push({ scope, invoice, paidAt: null, eventId: ids.next(), now });
      return followup.payment;
    }
    case 'collect':
      return followup.payment;
    case 'void':
      await voidInvoice(sql, scope, { id: followup.invoiceId, eventId: ids.next(), now });
      return null;
    case 'overdue': {
      const { from, to, nextAt } = followup;
      const change = { customerId: one.customer.id, from, to, nextAt, eventId: ids.next(), now };
      await announceOverdue(sql, scope, change);
      if (sendsMail) await mailCustomer(sql, ids, one);
      return null;
    }
    case 'ended':
      if (sendsMail) await mailCustomer(sql, ids, one);
      return null;
    case 'tell':
    case 'pending':
    case 'let_go':
    case 'give_back':
      return null;
    default:
      return unreachable(followup);
  }
}

/**
 * Mails a change of the overdue state. A failed charge has a mail of its payment's own follow-up.
 */
async function mailCustomer(
  sql: Transaction,
  ids: Ids,
  { subscriptionId, followup }: OwedBySubscription,
): Promise<void> {
  const mail = { id: ids.derive('mail', followup.id), subscriptionId };
  if (followup.kind === 'ended') return oweDunningMail(sql, { ...mail, kind: 'ended' });
  if (followup.kind !== 'overdue') return;
  if (followup.to === 'blocked') return oweDunningMail(sql, { ...mail, kind: 'blocked' });
  if (followup.to === 'warning' && followup.from === 'clear') {
    return oweDunningMail(sql, { ...mail, kind: 'charge_failed', invoiceId: null });
  }
}

function pricesIn({ followup }: OwedBySubscription): string[] {
  return followup.kind === 'bill' ? usagePricesOf(followup.invoice.lines) : [];
}

function invoiceOf(
  { customer, subscriptionId, productName }: OwedBySubscription,
  { invoice, at }: Extract<SubscriptionFollowup, { kind: 'bill' }>,
  meters: LineNames['meters'],
): Issuance['invoice'] {
  return {
    id: invoice.id,
    currency: invoice.currency,
    discountTotal: invoice.discount ?? 0n,
    billingReason: invoice.reason,
    customerId: customer.id,
    subscriptionId,
    checkoutId: null,
    paymentId: null,
    periodStart: new Date(invoice.periodStart),
    periodEnd: new Date(invoice.periodEnd),
    dueAt: new Date(at),
    buyer: customer,
    lines: draftedLines(invoice, { product: productName, meters }),
  };
}

function paymentOf(
  one: OwedBySubscription,
  order: PaymentOrder,
  sent: Pick<NewPayment, 'processor' | 'askAt'>,
): NewPayment {
  const { customer, followup } = one;
  return newPayment({
    ...order,
    ...sent,
    subscriptionId: one.subscriptionId,
    customerId: customer.id,
    productId: one.productId,
    customerEmail: customer.email,
    customerName: customer.name,
    externalCustomerId: one.externalCustomerId,
    clientReferenceId: one.clientReferenceId,
    metadata: one.metadata,
    now: followup.at,
  });
}

function recipientOf({ scope, customer, subscriptionId, followup }: OwedBySubscription): Recipient {
  return { scope, customerId: customer.id, subscriptionId, followupId: followup.id };
}
