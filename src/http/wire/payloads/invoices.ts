import { Type } from '@sinclair/typebox';
import { BILLING_REASONS, INVOICE_STATUSES } from '../../../records/invoices.ts';
import { Currency, Total } from '../money.ts';
import { Nullable, Timestamp, Uuid, oneOf } from '../values.ts';
import { ECHO, type Payloads } from './payload.ts';
import { SAMPLE, SAMPLE_ECHO } from './samples.ts';

const CHANGES = ['credited', 'adjusted', 'refunded', 'voided'];

const INVOICE = {
  invoiceId: Uuid,
  number: Nullable(Type.String({ description: 'null while it is a draft.' })),
  status: oneOf(INVOICE_STATUSES),
  subscriptionId: Nullable(Uuid),
  amount: Type.String({ ...Total, description: 'The total.' }),
  amountDue: Total,
  taxTotal: Total,
  currency: Currency,
  billingReason: oneOf(BILLING_REASONS),
  periodStart: Nullable(Timestamp),
  periodEnd: Nullable(Timestamp),
  dueAt: Nullable(Timestamp),
  customerEmail: Nullable(Type.String({ format: 'email' })),
  ...ECHO,
};

const invoice = (invoiceId: string) => ({
  invoiceId,
  number: 'INV-2026-000123',
  status: 'paid',
  subscriptionId: null,
  amount: '49.00',
  amountDue: '0.00',
  taxTotal: '0.00',
  currency: 'USD',
  billingReason: 'purchase',
  periodStart: null,
  periodEnd: null,
  dueAt: SAMPLE.periodStart,
  customerEmail: SAMPLE.email,
  ...SAMPLE_ECHO,
});

export const INVOICE_PAYLOADS = {
  'invoice.created': {
    meaning: 'A new invoice was issued.',
    about: ['INVOICE'],
    fields: INVOICE,
    sample: invoice,
  },
  'invoice.updated': {
    meaning: 'An invoice was credited, adjusted, refunded or voided.',
    about: ['INVOICE'],
    fields: {
      ...INVOICE,
      change: oneOf(CHANGES),
      creditNoteId: Nullable(Uuid),
      refundId: Nullable(Uuid),
      disputeId: Nullable(
        Type.String({
          ...Uuid,
          description: 'The dispute of its payment that was lost, or won later.',
        }),
      ),
      amountDelta: Nullable(
        Type.String({
          // As large as a total.
          pattern: '^-?\\d{1,18}(\\.\\d{1,4})?$',
          description: 'The amount that went back to the buyer; negative if that was reversed.',
        }),
      ),
    },
    sample: (id) => ({
      ...invoice(id),
      change: 'refunded',
      creditNoteId: null,
      refundId: SAMPLE.refundId,
      disputeId: null,
      amountDelta: '19.00',
    }),
  },
} satisfies Payloads;
