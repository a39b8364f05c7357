// Subscriptions and what they sell of usage, as ledger/storage.ts promises to keep them.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { FlushRows, SpanRow } from '../../ledger/storage.ts';
import {
  type Billing,
  NO_ACCOUNT,
  isOver,
  subscriptionDue,
} from '../../ledger/subscriptions/subscription.ts';
import type { AlarmRow, Database } from './database.ts';

type Armed = { readonly alarm: Omit<AlarmRow, 'dueAt'>; readonly dueAt: number };

/** Writes the rows, and returns when their subscriptions ring. */
export function writeSold(
  db: Database,
  rows: FlushRows,
  demand: (condition: boolean, constraint: string) => void,
): readonly Armed[] {
  for (const row of rows.spans) {
    const { id, start, end, closing, billedAs } = row.span;
    demand(end === null || end >= start, 'usage_spans_ends_after_start');
    demand((end === null) === (closing === null), 'usage_spans_closed_is_counted');
    demand(billedAs === null || end !== null, 'usage_spans_billed_is_closed');
    db.spans.set(id, row);
  }
  for (const row of rows.marks) db.marks.set(`${row.mark.accountId} ${row.mark.start}`, row);
  for (const row of rows.billingAccounts) db.billingAccounts.set(row.customer.id, row);
  for (const row of rows.subscriptionFollowups) {
    const { id, kind } = row.followup;
    demand(!db.followups.has(id), 'a followup is owed once');
    db.followups.set(id, kind);
    db.owed.set(id, row);
  }
  return rows.subscriptions.map((row) => {
    const { customer, subscription } = row;
    const { credit, status, endedAt } = subscription;
    demand(credit >= 0n, 'subscriptions_credit_not_negative');
    demand((status === 'canceled') === (endedAt !== null), 'subscriptions_end_is_final');
    db.subscriptions.set(subscription.id, row);
    const alarm = {
      kind: 'subscription',
      actorId: customer.id,
      subjectId: subscription.id,
      slot: customer.slot,
      tenant: tenantOf(customer),
    } as const;
    return { alarm, dueAt: subscriptionDue(subscription) };
  });
}

/** Subscriptions to which anything can still happen, and what they share. */
export function billingOf(db: Database, customerId: string): Billing {
  const live = db.subscriptions
    .values()
    .filter(({ customer, subscription }) => customer.id === customerId && !isOver(subscription))
    .map(({ subscription }) => [subscription.id, subscription] as const);
  const account = db.billingAccounts.get(customerId)?.account ?? NO_ACCOUNT;
  return { subscriptions: new Map(live), account };
}

/** Live ones, ascending. */
export function spansOf(db: Database, customerIds: ReadonlySet<string>): SpanRow[] {
  return db.spans
    .values()
    .filter(({ customer, isLive }) => isLive && customerIds.has(customer.id))
    .sort(({ span: a }, { span: b }) => a.start - b.start || a.place - b.place);
}

const tenantOf = ({ organisationId, mode }: Tenant): Tenant => ({ organisationId, mode });
