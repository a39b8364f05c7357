// Payments and refunds as readers see them, and the row that an attempt begins with. Everything after that is written by the
// payment's actor in the ledger.
import type { PaymentMethod, PaymentStatus, RefundReason } from '../../ledger/payment.ts';
import type { Executor, Transaction } from '../platform/postgres.ts';
import { isUuid, type Scope } from './scope.ts';

/** One snapshot: its amounts are the account's. */
export type PaymentRecord = {
  readonly id: string;
  readonly status: PaymentStatus;
  readonly amount: bigint;
  readonly currency: string;
  readonly refunded: bigint;
  readonly reserved: bigint;
  readonly captured: bigint;
  readonly transactionType: string;
  readonly method: PaymentMethod | null;
  readonly checkoutId: string | null;
  readonly subscriptionId: string | null;
  readonly invoiceId: string | null;
  readonly customerId: string | null;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly externalCustomerId: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly productId: string | null;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
};

export type RefundRecord = {
  readonly id: string;
  readonly paymentId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly reason: RefundReason;
  readonly failureReason: string | null;
  readonly createdAt: Date;
  readonly settledAt: Date | null;
};

/** What an attempt at a checkout begins with. */
export type NewPayment = {
  readonly id: string;
  readonly slot: number;
  readonly amount: bigint;
  readonly currency: string;
  readonly checkoutId: string;
  readonly checkoutToken: string;
  readonly productId: string;
  readonly customerEmail: string;
  readonly customerName: string | null;
  readonly externalCustomerId: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** 1 for the first. */
  readonly attempt: number;
  readonly processor: string;
  /** When to ask what became of it, should whoever asks now be gone by then. */
  readonly askAt: number;
  readonly now: number;
};

/** The payment, and the alarm that finds it again after a crash. No actor knows it yet, so no actor is passed by. */
export async function insertPayment(
  sql: Transaction,
  scope: Scope,
  payment: NewPayment,
): Promise<void> {
  const { id, slot } = payment;
  const [now, askAt] = [new Date(payment.now), new Date(payment.askAt)];
  await sql`
    insert into payments (slot, id, organisation_id, mode, status, amount, currency, transaction_type, checkout_id,
      checkout_token, product_id, customer_email, customer_name, external_customer_id, client_reference_id, metadata,
      attempt, processor, asks, ask_at, sequence, event_at, created_at)
    values (${slot}, ${id}, ${scope.organisationId}, ${scope.mode}, 'processing', ${payment.amount}, ${payment.currency},
      'PURCHASE', ${payment.checkoutId}, ${payment.checkoutToken}, ${payment.productId}, ${payment.customerEmail},
      ${payment.customerName}, ${payment.externalCustomerId}, ${payment.clientReferenceId},
      ${sql.json(payment.metadata)}, ${payment.attempt}, ${payment.processor}, 0, ${askAt}, 0, 'epoch', ${now})`;
  await sql`
    insert into alarms (slot, actor_id, subject_id, due_at, kind, organisation_id, mode)
    values (${slot}, ${id}, ${id}, ${askAt}, 'payment', ${scope.organisationId}, ${scope.mode})`;
}

const columns = (sql: Executor) => sql`
  p.id, p.status, p.amount, p.currency, coalesce(a.debits_posted, 0)::bigint as refunded,
  coalesce(a.debits_pending, 0)::bigint as reserved, coalesce(a.credits_posted, 0)::bigint as captured,
  p.transaction_type as "transactionType", p.method, p.checkout_id as "checkoutId", p.subscription_id as "subscriptionId",
  p.invoice_id as "invoiceId", p.customer_id as "customerId", p.customer_email as "customerEmail",
  p.customer_name as "customerName", p.external_customer_id as "externalCustomerId",
  p.client_reference_id as "clientReferenceId", p.metadata, p.product_id as "productId",
  p.failure_code as "failureCode", p.failure_message as "failureMessage", p.created_at as "createdAt",
  p.paid_at as "paidAt"`;

const tables = (sql: Executor) =>
  sql`payments p left join accounts a on a.slot = p.slot and a.id = p.id`;

const inScope = (sql: Executor, { organisationId, mode }: Scope) => sql`
  p.organisation_id = ${organisationId} and p.mode = ${mode}`;

export async function findPayment(
  sql: Executor,
  scope: Scope,
  id: string,
): Promise<PaymentRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<PaymentRecord[]>`
    select ${columns(sql)} from ${tables(sql)} where ${inScope(sql, scope)} and p.id = ${id}`;
  return row ?? null;
}

export type PaymentFilter = {
  readonly customerId?: string | undefined;
  readonly subscriptionId?: string | undefined;
  readonly checkoutId?: string | undefined;
};

/** Newest first; up to one row more than `limit`. */
export async function listPayments(
  sql: Executor,
  scope: Scope,
  options: PaymentFilter & { readonly limit: number; readonly offset: number },
): Promise<PaymentRecord[]> {
  const { customerId, subscriptionId, checkoutId, limit, offset } = options;
  return sql<PaymentRecord[]>`
    select ${columns(sql)} from ${tables(sql)}
    where ${inScope(sql, scope)}
      ${customerId === undefined ? sql`` : sql`and p.customer_id = ${customerId}`}
      ${subscriptionId === undefined ? sql`` : sql`and p.subscription_id = ${subscriptionId}`}
      ${checkoutId === undefined ? sql`` : sql`and p.checkout_id = ${checkoutId}`}
    order by p.id desc limit ${limit + 1} offset ${offset}`;
}

const refundColumns = (sql: Executor) => sql`
  r.id, r.payment_id as "paymentId", r.amount, r.currency, r.status, r.reason, r.failure_reason as "failureReason",
  r.created_at as "createdAt", r.settled_at as "settledAt"`;

export async function findRefund(
  sql: Executor,
  { organisationId, mode }: Scope,
  id: string,
): Promise<RefundRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<RefundRecord[]>`
    select ${refundColumns(sql)} from refunds r
    where r.organisation_id = ${organisationId} and r.mode = ${mode} and r.id = ${id}`;
  return row ?? null;
}

/** Newest first; up to one row more than `limit`. */
export async function listRefunds(
  sql: Executor,
  payment: { readonly slot: number; readonly id: string },
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<RefundRecord[]> {
  return sql<RefundRecord[]>`
    select ${refundColumns(sql)} from refunds r
    where r.slot = ${payment.slot} and r.payment_id = ${payment.id}
    order by r.created_at desc, r.id desc limit ${limit + 1} offset ${offset}`;
}
