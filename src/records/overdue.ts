// How late a customer is with its invoices, told to the merchant. It is an event of the customer:
// the customer's row counts it.
import type { OverdueState } from '../../ledger/subscriptions/dunning.ts';
import { formatMoney } from '../../ledger/kernel/money.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import { insertEvent } from './events.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

type Unpaid = {
  readonly id: string;
  readonly currency: string;
  readonly due: bigint;
  readonly issuedAt: Date;
};

export async function announceOverdue(
  sql: Transaction,
  scope: Tenant,
  change: {
    readonly customerId: string;
    readonly from: OverdueState;
    readonly to: OverdueState;
    /** When time alone changes it next. */
    readonly nextAt: number | null;
    readonly eventId: string;
    readonly now: number;
  },
): Promise<void> {
  const { customerId, from, to, nextAt, eventId, now } = change;
  const [customer] = await sql<CustomerRow[]>`
    update customers set event_sequence = event_sequence + 1,
      updated_at = greatest(${new Date(now)}, updated_at + interval '1 ms')
    where organisation_id = ${scope.organisationId} and mode = ${scope.mode} and id = ${customerId}
    returning event_sequence as sequence, updated_at as at, external_customer_id as "externalCustomerId", email, metadata`;
  if (customer === undefined) throw new Error(`customer ${customerId} of a subscription is gone`);
  const { sequence, at, externalCustomerId, email, metadata } = customer;
  const unpaid = await sql<Unpaid[]>`
    select id, currency, total - amount_paid as due, issued_at as "issuedAt" from invoices i
    where customer_id = ${customerId} and status = 'open' and subscription_id is not null
      -- Without an invoice that is paid, even if it has not heard of that yet.
      and not exists (select 1 from payments p where p.invoice_id = i.id and p.paid_at is not null)
    order by issued_at, id`;
  const [earliest] = unpaid;
  const balance = unpaid
    .filter(({ currency }) => currency === earliest?.currency)
    .reduce((sum, { due }) => sum + due, 0n);
  await insertEvent(sql, scope, {
    id: eventId,
    type: 'subscription.overdue_changed',
    objectType: 'CUSTOMER',
    objectId: customerId,
    accountId: customerId,
    sequence,
    at,
    data: {
      previousState: from,
      overdueState: to,
      isClearState: to === 'clear',
      blockChanges: to !== 'clear',
      disableEntitlement: to === 'blocked',
      balance: earliest === undefined ? null : formatMoney(balance, earliest.currency),
      currency: earliest?.currency ?? null,
      unpaidInvoiceIds: unpaid.map(({ id }) => id),
      earliestUnpaidAt: earliest?.issuedAt.toISOString() ?? null,
      nextEvaluationAt: nextAt === null ? null : new Date(nextAt).toISOString(),
      externalCustomerId,
      email,
      metadata,
    },
  });
}

type CustomerRow = {
  readonly sequence: bigint;
  readonly at: Date;
  readonly externalCustomerId: string | null;
  readonly email: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};
