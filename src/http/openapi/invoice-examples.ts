// An invoice, and the preview of one.
import type { Static } from '@sinclair/typebox';
import type {
  Invoice,
  UpcomingInvoice,
  UpcomingPlainLine,
  UpcomingUsageLine,
} from '../wire/invoices.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';

const { periodStart, periodEnd } = SAMPLE;
const FEATURE = 'api-calls';
const NEXT_END = '2027-01-01T00:00:00.000Z';

const planLine = {
  type: 'recurring',
  description: 'Pro',
  quantity: 1,
  unit_amount: '49.00',
  amount: '49.00',
  period: { start: periodEnd, end: NEXT_END },
} satisfies Static<typeof UpcomingPlainLine>;

const usageLine = {
  type: 'usage',
  description: 'API calls',
  feature_key: FEATURE,
  quantity: 2_275,
  amount: '4.55',
  usage_price_id: '01976c2e-5f00-7a10-8000-00000000001e',
  tiers: [{ quantity: 2_275, unit_amount: '0.002', flat_amount: null, amount: '4.55' }],
  period: { start: periodStart, end: periodEnd },
} satisfies Static<typeof UpcomingUsageLine>;

export const INVOICE_LINE = { id: '01976c2e-5f00-7a10-8000-00000000001c', ...planLine };

export const INVOICE = {
  id: SAMPLE.invoiceId,
  number: 'INV-2026-000123',
  status: 'paid',
  currency: 'USD',
  subtotal: '53.55',
  discount_total: '0.00',
  tax_total: '0.00',
  total: '53.55',
  amount_paid: '53.55',
  amount_due: '0.00',
  amount_refunded: '0.00',
  billing_reason: 'subscription_cycle',
  customer_id: SAMPLE.customerId,
  subscription_id: SAMPLE.subscriptionId,
  payment_id: '01976c2e-5f00-7a10-8000-000000000010',
  period_start: periodEnd,
  period_end: NEXT_END,
  issued_at: periodEnd,
  due_at: periodEnd,
  paid_at: periodEnd,
  attempts: 1,
  lines: [INVOICE_LINE, { id: '01976c2e-5f00-7a10-8000-00000000001d', ...usageLine }],
  lines_has_more: false,
  hosted_url: `https://pay.example.com/api/invoices/${SAMPLE.invoiceId}/pdf`,
} satisfies Static<typeof Invoice>;

export const UPCOMING_INVOICE = {
  currency: 'USD',
  lines: [planLine, usageLine],
  subtotal: '53.55',
  discount_total: '0.00',
  tax_total: '0.00',
  total: '53.55',
  period_end: periodEnd,
  as_of: '2026-11-21T12:00:00.000Z',
} satisfies Static<typeof UpcomingInvoice>;
