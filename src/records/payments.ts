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

/** When an alarm first looks what became of a charge, in case nobody is left who knows. */
export const FIRST_ASK_MS = 3000;

/** What a charge begins with: an attempt at a checkout, or a period of a subscription. */
export type NewPayment = Pick<
  PaymentRecord,
  | 'id'
  | 'amount'
  | 'currency'
  | 'checkoutId'
  | 'productId'
  | 'subscriptionId'
  | 'invoiceId'
  | 'customerId'
  | 'customerEmail'
  | 'customerName'
  | 'externalCustomerId'
  | 'clientReferenceId'
  | 'metadata'
> & {
  readonly slot: number;
  readonly transactionType: 'PURCHASE' | 'SUBSCRIPTION_START' | 'RECURRING';
  readonly checkoutToken: string | null;
  /** 1 for the first. */
  readonly attempt: number;
  readonly processor: string;
  /** When to ask what became of it, should whoever asks now be gone by then. */
  readonly askAt: number;
  readonly now: number;
};

/** The payments, and the alarms that find them again after a crash. No actor knows them yet, so no actor is passed by. */
export async function insertPayments(
  sql: Transaction,
  payments: readonly { readonly scope: Scope; readonly payment: NewPayment }[],
): Promise<void> {
  if (payments.length === 0) return;
  const rows = payments.map(({ scope, payment }) => rowOf(scope, payment));
  await sql`
    with made as (
      insert into payments select * from jsonb_populate_recordset(null::payments, ${sql.json(rows)})
      on conflict (slot, id) do nothing returning slot, id, ask_at, organisation_id, mode
    )
    insert into alarms (slot, actor_id, subject_id, due_at, kind, organisation_id, mode)
    select slot, id, id, ask_at, 'payment', organisation_id, mode from made`;
}

function rowOf({ organisationId, mode }: Scope, payment: NewPayment) {
  return {
    slot: payment.slot,
    id: payment.id,
    organisation_id: organisationId,
    mode,
    status: 'processing',
    amount: String(payment.amount),
    currency: payment.currency,
    transaction_type: payment.transactionType,
    checkout_id: payment.checkoutId,
    checkout_token: payment.checkoutToken,
    product_id: payment.productId,
    subscription_id: payment.subscriptionId,
    invoice_id: payment.invoiceId,
    customer_id: payment.customerId,
    customer_email: payment.customerEmail,
    customer_name: payment.customerName,
    external_customer_id: payment.externalCustomerId,
    client_reference_id: payment.clientReferenceId,
    metadata: payment.metadata,
    attempt: payment.attempt,
    processor: payment.processor,
    asks: 0,
    ask_at: new Date(payment.askAt).toISOString(),
    sequence: 0,
    event_at: new Date(0).toISOString(),
    created_at: new Date(payment.now).toISOString(),
  };
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

/** Whether a charge for the invoice is not decided yet. */
export async function isBeingPaid(sql: Executor, invoiceId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from payments where invoice_id = ${invoiceId} and status in ('processing', 'requires_action') limit 1`;
  return rows.length > 0;
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
    order by p.created_at desc, p.id desc limit ${limit + 1} offset ${offset}`;
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
