import type { Sql } from 'postgres';
import { must } from '../kernel/assert.ts';
import type { Mode } from '../kernel/tenant.ts';
import type {
  Dispute,
  Payment,
  PaymentAccount,
  PaymentState,
  Refund,
  RefundRefusal,
} from '../payments/payment.ts';
import type { StoredRefund } from '../storage.ts';
import type { Bigints } from './bigints.ts';
import type { RowOf } from './columns.ts';
import type { DISPUTE_COLUMNS, PAYMENT_COLUMNS, REFUND_COLUMNS } from './payment-columns.ts';

/**
 * Payments as they are in the database, with their disputes and the refunds that may still change.
 */
export async function loadPayments(
  sql: Sql<Bigints>,
  slotOf: (id: string) => number,
  ids: readonly string[],
): Promise<PaymentState[]> {
  const slots = ids.map(slotOf);
  const [payments, refunds, disputes] = await Promise.all([
    sql<PaymentRow[]>`
      select p.*, s.payment_link_id, s.payment_link_token, b.id is not null as opened, coalesce(b.credits_posted, 0) as captured,
        coalesce(b.debits_posted, 0) as posted, coalesce(b.debits_pending, 0) as pending
      from unnest(${slots}::smallint[], ${[...ids]}::uuid[]) k (slot, id)
      join payments p on p.slot = k.slot and p.id = k.id
      left join balances b on b.slot = p.slot and b.id = p.id
      left join subscriptions s on s.id = p.subscription_id`,
    sql<RefundRow[]>`
      select r.* from unnest(${slots}::smallint[], ${[...ids]}::uuid[]) k (slot, id)
      join refunds r on r.slot = k.slot and r.payment_id = k.id and r.ask_at is not null`,
    sql<DisputeRow[]>`
      select d.* from unnest(${slots}::smallint[], ${[...ids]}::uuid[]) k (slot, id)
      join disputes d on d.slot = k.slot and d.payment_id = k.id`,
  ]);
  const refundsOf = Map.groupBy(refunds, (row) => row.payment_id);
  const disputesOf = Map.groupBy(disputes, (row) => row.payment_id);
  return payments.map((row) => {
    return stateOf(row, {
      refunds: (refundsOf.get(row.id) ?? []).map(refundOf),
      disputes: (disputesOf.get(row.id) ?? []).map(disputeOf),
    });
  });
}

/** See `Storage.findRefund`. */
export async function findRefund(sql: Sql<Bigints>, id: string): Promise<StoredRefund | null> {
  const [row] = await sql<(KeyRow & RefundRow)[]>`
    select t.kind, t.fingerprint, t.answer, t.debit, p.currency, r.*
    from transfers t join payments p on p.slot = t.slot and p.id = t.debit
    left join refunds r on r.slot = t.slot and r.id = t.id
    where t.id = ${id}`;
  if (row === undefined) return null;
  const { kind, fingerprint } = row;
  if (kind === 'refused') {
    return { kind, fingerprint, refusal: must(row.answer?.refusal, 'why it was refused') };
  }
  const payment = { id: row.debit, currency: row.currency };
  return { kind: 'refund', fingerprint, payment, refund: refundOf(row) };
}

function stateOf(
  row: PaymentRow,
  { refunds, disputes }: { refunds: readonly Refund[]; disputes: readonly Dispute[] },
): PaymentState {
  return {
    payment: paymentOf(row),
    status: row.status,
    account: accountOf(row, disputes),
    customerId: row.customer_id,
    invoiceId: row.invoice_id,
    method: row.method,
    reference: row.processor_reference,
    failure:
      row.failure_code === null
        ? null
        : { code: row.failure_code, message: row.failure_message ?? '' },
    paidAt: row.paid_at?.getTime() ?? null,
    asks: row.asks,
    askAt: row.ask_at?.getTime() ?? null,
    refunds: new Map(refunds.map((refund) => [refund.id, refund])),
    disputes: new Map(disputes.map((dispute) => [dispute.id, dispute])),
    sequence: row.sequence,
    eventAt: row.event_at.getTime(),
  };
}

/** The balance has refunds and disputes as one. */
function accountOf(
  { opened, captured, posted, pending }: PaymentRow,
  disputes: readonly Dispute[],
): PaymentAccount {
  let [held, chargedBack] = [0n, 0n];
  for (const dispute of disputes) {
    held += dispute.hold?.amount ?? 0n;
    chargedBack += dispute.chargedBack;
  }
  const [refunded, reserved] = [posted - chargedBack, pending - held];
  return { opened, captured, refunded, reserved, held, chargedBack };
}

function paymentOf(row: PaymentRow): Payment {
  return {
    id: row.id,
    slot: row.slot,
    organisationId: row.organisation_id,
    mode: row.mode,
    amount: row.amount,
    currency: row.currency,
    transactionType: row.transaction_type,
    subscriptionId: row.subscription_id,
    customerName: row.customer_name,
    meterId: row.meter_id,
    isOffSession: row.checkout_id === null,
    attempt: row.attempt,
    processor: row.processor,
    createdAt: row.created_at.getTime(),
    roundTrip: {
      // A charge for a subscription has no checkout of its own: it names the one that began the
      // subscription.
      paymentLinkId: row.checkout_id ?? row.payment_link_id,
      paymentLinkToken: row.checkout_token ?? row.payment_link_token,
      productId: row.product_id,
      customerEmail: row.customer_email,
      externalCustomerId: row.external_customer_id,
      clientReferenceId: row.client_reference_id,
      metadata: row.metadata,
    },
  };
}

function refundOf(row: RefundRow): Refund {
  return {
    id: row.id,
    amount: row.amount,
    status: row.status,
    reason: row.reason,
    failureReason: row.failure_reason,
    reference: row.processor_reference,
    asks: row.asks,
    askAt: row.ask_at?.getTime() ?? null,
    createdAt: row.created_at.getTime(),
    settledAt: row.settled_at?.getTime() ?? null,
    answered: row.answered,
  };
}

function disputeOf(row: DisputeRow): Dispute {
  return {
    id: row.id,
    reference: row.reference,
    amount: row.amount,
    reason: row.reason,
    status: row.status,
    hold: row.hold === null ? null : { id: row.hold, amount: row.held },
    chargedBack: row.charged_back,
    moves: row.moves,
    asks: row.asks,
    askAt: row.ask_at?.getTime() ?? null,
    openedAt: row.opened_at.getTime(),
    closedAt: row.closed_at?.getTime() ?? null,
  };
}

type PaymentRow = RowOf<typeof PAYMENT_COLUMNS> & {
  organisation_id: string;
  mode: Mode;
  amount: bigint;
  currency: string;
  transaction_type: Payment['transactionType'];
  checkout_id: string | null;
  checkout_token: string | null;
  payment_link_id: string | null;
  payment_link_token: string | null;
  product_id: string | null;
  subscription_id: string | null;
  meter_id: string | null;
  customer_email: string | null;
  customer_name: string | null;
  attempt: number;
  processor: string;
  created_at: Date;
  external_customer_id: string | null;
  client_reference_id: string | null;
  metadata: Readonly<Record<string, string>>;
  opened: boolean;
  captured: bigint;
  posted: bigint;
  pending: bigint;
};

type RefundRow = RowOf<typeof REFUND_COLUMNS>;

type DisputeRow = RowOf<typeof DISPUTE_COLUMNS>;

type KeyRow = {
  kind: string;
  fingerprint: bigint | null;
  answer: { readonly refusal: RefundRefusal } | null;
  debit: string;
  currency: string;
};
