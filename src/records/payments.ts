// Payments and refunds as readers see them, and the row that an attempt begins with. After that the
// payment's actor in the ledger writes it.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import {
  type FailureCode,
  type Payment,
  type PaymentAccount,
  type PaymentState,
  type PaymentStatus,
  type Refund,
  type RoundTrip,
} from '../../ledger/payments/payment.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { namesOf, type RowOfFields, rowsOf } from '../platform/postgres/rows.ts';
import {
  disputeOf,
  type DisputeRecord,
  disputesOfPayment,
  type StoredDispute,
} from './disputes.ts';
import { type Page, pageOf } from './page.ts';
import { isUuid } from './uuid.ts';

/** A payment as it is read: one snapshot of the actor's row and of its account. */
export type PaymentRecord = Omit<PaymentAccount, 'opened'> &
  Pick<
    Payment,
    | 'id'
    | 'amount'
    | 'currency'
    | 'transactionType'
    | 'subscriptionId'
    | 'customerName'
    | 'attempt'
    | 'processor'
  > &
  Pick<PaymentState, 'status' | 'customerId' | 'invoiceId' | 'method'> &
  Omit<RoundTrip, 'paymentLinkId' | 'paymentLinkToken'> & {
    readonly checkoutId: string | null;
    readonly failureCode: FailureCode | null;
    readonly failureMessage: string | null;
    readonly createdAt: Date;
    readonly paidAt: Date | null;
    /** Oldest first. */
    readonly disputes: readonly DisputeRecord[];
  };

export type RefundRecord = Pick<Refund, 'id' | 'amount' | 'status' | 'reason' | 'failureReason'> & {
  readonly paymentId: string;
  readonly currency: string;
  readonly createdAt: Date;
  readonly settledAt: Date | null;
};

/** What a charge begins with: an attempt at a checkout, a period of a subscription, a top-up. */
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
  | 'attempt'
  | 'transactionType'
> & {
  readonly slot: number;
  readonly checkoutToken: string | null;
  /** The meter that it tops up by itself. */
  readonly meterId: string | null;
  readonly processor: string;
  /** When to ask for the outcome, if the process that makes the charge is gone by then. */
  readonly askAt: number;
  readonly now: number;
};

type Required =
  | 'id'
  | 'amount'
  | 'currency'
  | 'transactionType'
  | 'customerEmail'
  | 'customerName'
  | 'externalCustomerId'
  | 'metadata'
  | 'attempt'
  | 'processor'
  | 'askAt'
  | 'now';

/** Builds a new payment: what it is not for is null. */
export function newPayment(
  given: Pick<NewPayment, Required> & Partial<Omit<NewPayment, 'slot'>>,
): NewPayment {
  return {
    checkoutId: null,
    checkoutToken: null,
    productId: null,
    subscriptionId: null,
    meterId: null,
    invoiceId: null,
    customerId: null,
    clientReferenceId: null,
    ...given,
    slot: slotOf(given.id),
  };
}

/**
 * The payments, and the alarms that find them again after a crash. No actor has loaded them yet, so
 * none misses the write.
 */
export async function insertPayments(
  sql: Transaction,
  payments: readonly { readonly scope: Tenant; readonly payment: NewPayment }[],
): Promise<void> {
  if (payments.length === 0) return;
  const rows = payments.map(({ scope, payment }) => rowOf(scope, payment));
  const names = namesOf(sql, NEW_PAYMENT);
  await sql`
    with made as (
      insert into payments (${names}) select ${names} from unnest(${rowsOf(sql, NEW_PAYMENT, rows)}::new_payments_2[])
      on conflict (slot, id) do nothing returning slot, id, ask_at, organisation_id, mode
    )
    insert into alarms (slot, actor_id, subject_id, due_at, kind, organisation_id, mode)
    select slot, id, id, ask_at, 'payment', organisation_id, mode from made`;
}

/** The type `new_payments_2`. */
const NEW_PAYMENT = {
  slot: 'smallint',
  id: 'uuid',
  organisation_id: 'uuid',
  mode: 'enum',
  status: 'text',
  amount: 'bigint',
  currency: 'text',
  transaction_type: 'text',
  checkout_id: 'uuid',
  checkout_token: 'text',
  product_id: 'uuid',
  subscription_id: 'uuid',
  meter_id: 'uuid',
  invoice_id: 'uuid',
  customer_id: 'uuid',
  customer_email: 'text',
  customer_name: 'text',
  external_customer_id: 'text',
  client_reference_id: 'text',
  metadata: 'jsonb',
  attempt: 'integer',
  processor: 'text',
  asks: 'integer',
  ask_at: 'time',
  sequence: 'bigint',
  event_at: 'time',
  created_at: 'time',
} as const;

function rowOf(
  { organisationId, mode }: Tenant,
  payment: NewPayment,
): RowOfFields<typeof NEW_PAYMENT> {
  return {
    slot: payment.slot,
    id: payment.id,
    organisation_id: organisationId,
    mode,
    status: 'processing',
    amount: payment.amount,
    currency: payment.currency,
    transaction_type: payment.transactionType,
    checkout_id: payment.checkoutId,
    checkout_token: payment.checkoutToken,
    product_id: payment.productId,
    subscription_id: payment.subscriptionId,
    meter_id: payment.meterId,
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
    ask_at: payment.askAt,
    sequence: 0n,
    event_at: 0,
    created_at: payment.now,
  };
}

const columns = (sql: Executor) => sql`
  payments.id, payments.status, payments.amount, payments.currency, coalesce(b.debits_posted, 0) as posted,
  coalesce(b.debits_pending, 0) as pending, coalesce(b.credits_posted, 0) as captured, ${disputesOfPayment(sql)} as disputes,
  payments.transaction_type as "transactionType", payments.attempt, payments.processor, payments.method, payments.checkout_id as "checkoutId", payments.subscription_id as "subscriptionId",
  payments.invoice_id as "invoiceId", payments.customer_id as "customerId", payments.customer_email as "customerEmail",
  payments.customer_name as "customerName", payments.external_customer_id as "externalCustomerId",
  payments.client_reference_id as "clientReferenceId", payments.metadata, payments.product_id as "productId",
  payments.failure_code as "failureCode", payments.failure_message as "failureMessage", payments.created_at as "createdAt",
  payments.paid_at as "paidAt"`;

const tables = (sql: Executor) =>
  sql`payments left join balances b on b.slot = payments.slot and b.id = payments.id`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  payments.organisation_id = ${organisationId} and payments.mode = ${mode}`;

export async function findPayment(
  sql: Executor,
  scope: Tenant,
  id: string,
): Promise<PaymentRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<PaymentRow[]>`
    select ${columns(sql)} from ${tables(sql)} where ${inScope(sql, scope)} and payments.id = ${id}`;
  return row === undefined ? null : recordOf(row);
}

/** Whether it failed. Until then its money is captured, or may be. */
export function hasFailed({ status }: Pick<PaymentRecord, 'status'>): boolean {
  return status === 'failed' || status === 'errored' || status === 'canceled';
}

/** The invoice's payment that has not failed, else the last one that has; null without any. */
export async function findPaymentOf(
  sql: Executor,
  scope: Tenant,
  invoiceId: string,
): Promise<PaymentRecord | null> {
  const [row] = await sql<PaymentRow[]>`
    select ${columns(sql)} from ${tables(sql)} where ${inScope(sql, scope)} and payments.invoice_id = ${invoiceId}
    order by payments.status in ('failed', 'errored', 'canceled'), payments.attempt desc, payments.created_at desc limit 1`;
  return row === undefined ? null : recordOf(row);
}

/**
 * The number of the invoice's last payment that has failed, while none is under way; 0 for none.
 */
export async function countFailed(
  sql: Executor,
  scope: Tenant,
  invoiceId: string,
): Promise<number> {
  if (!isUuid(invoiceId)) return 0;
  const last = await findPaymentOf(sql, scope, invoiceId);
  if (last === null) return 0;
  return hasFailed(last) ? last.attempt : last.attempt - 1;
}

/** The invoice's first payment after that number; null without one. */
export async function findPaymentAfter(
  sql: Executor,
  scope: Tenant,
  { invoiceId, attempt }: { readonly invoiceId: string; readonly attempt: number },
): Promise<PaymentRecord | null> {
  const [row] = await sql<PaymentRow[]>`
    select ${columns(sql)} from ${tables(sql)} where ${inScope(sql, scope)} and payments.invoice_id = ${invoiceId}
      and payments.attempt > ${attempt}
    order by payments.attempt, payments.created_at limit 1`;
  return row === undefined ? null : recordOf(row);
}

export type PaymentFilter = {
  readonly customerId?: string | undefined;
  /** As the payment itself has it. */
  readonly externalCustomerId?: string | undefined;
  readonly subscriptionId?: string | undefined;
  readonly checkoutId?: string | undefined;
  readonly status?: PaymentStatus | undefined;
};

/** Newest first; up to one row more than `limit`. */
export async function listPayments(
  sql: Executor,
  scope: Tenant,
  options: PaymentFilter & Page,
): Promise<PaymentRecord[]> {
  const { customerId, externalCustomerId, subscriptionId, checkoutId, status } = options;
  const rows = await sql<PaymentRow[]>`
    select ${columns(sql)} from ${tables(sql)}
    where ${inScope(sql, scope)}
      ${customerId === undefined ? sql`` : sql`and payments.customer_id = ${customerId}`}
      ${externalCustomerId === undefined ? sql`` : sql`and external_customer_id = ${externalCustomerId}`}
      ${subscriptionId === undefined ? sql`` : sql`and subscription_id = ${subscriptionId}`}
      ${checkoutId === undefined ? sql`` : sql`and checkout_id = ${checkoutId}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${pageOf(sql, 'payments', options)}`;
  return rows.map(recordOf);
}

/** The account's totals have refunds and disputes as one. */
type PaymentRow = Omit<
  PaymentRecord,
  'disputes' | 'refunded' | 'reserved' | 'held' | 'chargedBack'
> & {
  readonly posted: bigint;
  readonly pending: bigint;
  readonly disputes: readonly StoredDispute[] | null;
};

function recordOf({ posted, pending, ...row }: PaymentRow): PaymentRecord {
  const disputes = (row.disputes ?? []).map(disputeOf);
  const held = disputes.reduce((sum, dispute) => sum + dispute.held, 0n);
  const chargedBack = disputes.reduce((sum, dispute) => sum + dispute.chargedBack, 0n);
  const [refunded, reserved] = [posted - chargedBack, pending - held];
  return { ...row, disputes, refunded, reserved, held, chargedBack };
}

const refundColumns = (sql: Executor) => sql`
  id, payment_id as "paymentId", amount, currency, status, reason, failure_reason as "failureReason",
  created_at as "createdAt", settled_at as "settledAt"`;

export async function findRefund(
  sql: Executor,
  { organisationId, mode }: Tenant,
  id: string,
): Promise<RefundRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<RefundRecord[]>`
    select ${refundColumns(sql)} from refunds
    where organisation_id = ${organisationId} and mode = ${mode} and id = ${id}`;
  return row ?? null;
}

/** Newest first; up to one row more than `limit`. */
export async function listRefunds(
  sql: Executor,
  payment: { readonly slot: number; readonly id: string },
  page: Page,
): Promise<RefundRecord[]> {
  return sql<RefundRecord[]>`
    select ${refundColumns(sql)} from refunds
    where slot = ${payment.slot} and payment_id = ${payment.id}
    ${pageOf(sql, 'refunds', page)}`;
}
