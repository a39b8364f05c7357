import { formatMoney } from '../../ledger/kernel/money.ts';
import type { NewEvent } from '../records/events.ts';
import { amountDue, type InvoiceRecord } from '../records/invoices.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/** What an `invoice.updated` tells. */
export type InvoiceChange = {
  readonly change: 'adjusted' | 'refunded' | 'voided';
  readonly creditNoteId: null;
  readonly refundId: string | null;
  /** Where a dispute took the money, or gave it back: `adjusted`. */
  readonly disputeId: string | null;
  readonly amountDelta: string | null;
};

/** What an event says of an invoice. `echo` is null where the statement that writes it adds it. */
export type Announced = Tenant &
  Pick<
    InvoiceRecord,
    | 'id'
    | 'number'
    | 'status'
    | 'currency'
    | 'total'
    | 'taxTotal'
    | 'amountPaid'
    | 'billingReason'
    | 'customerId'
    | 'subscriptionId'
    | 'periodStart'
    | 'periodEnd'
    | 'dueAt'
  > & {
    readonly buyer: Pick<InvoiceRecord['buyer'], 'email'>;
    readonly echo: InvoiceRecord['echo'] | null;
  };

/** An event with the invoice's state. Without a change it is `invoice.created`. */
export function invoiceEvent(
  invoice: Announced,
  {
    change,
    ...event
  }: Pick<NewEvent, 'id' | 'sequence' | 'at'> & { readonly change?: InvoiceChange },
): Tenant & NewEvent {
  const { id: invoiceId, organisationId, mode, currency, customerId, buyer, echo } = invoice;
  return {
    ...event,
    type: change === undefined ? 'invoice.created' : 'invoice.updated',
    organisationId,
    mode,
    objectType: 'INVOICE',
    objectId: invoiceId,
    accountId: customerId,
    data: {
      invoiceId,
      number: invoice.number,
      status: invoice.status,
      subscriptionId: invoice.subscriptionId,
      amount: formatMoney(invoice.total, currency),
      amountDue: formatMoney(amountDue(invoice), currency),
      taxTotal: formatMoney(invoice.taxTotal, currency),
      currency,
      billingReason: invoice.billingReason,
      periodStart: invoice.periodStart?.toISOString() ?? null,
      periodEnd: invoice.periodEnd?.toISOString() ?? null,
      dueAt: invoice.dueAt?.toISOString() ?? null,
      customerEmail: buyer.email,
      ...echo,
      ...change,
    },
  };
}
