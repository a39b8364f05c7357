// Invoices with usage, as their page gets them.
import type { InvoiceSheet } from '../../src/pages/invoice.ts';
import type { UsageLine } from '../../src/pages/usage-parts.ts';

const AT = new Date('2026-11-01T00:00:00.000Z');
const PERIOD = { start: new Date('2026-10-01'), end: AT };

export type InvoiceTexts = {
  readonly seller: string;
  readonly buyer: string;
  readonly plan: string;
  readonly feature: string;
};

export const PLAIN_INVOICE: InvoiceTexts = {
  seller: 'Acme',
  buyer: 'Ada',
  plan: 'Pro',
  feature: 'API calls',
};

/** 2,275 at 0.002. */
export function usage(fields: Partial<UsageLine> = {}): UsageLine {
  return {
    type: 'usage',
    description: 'API calls',
    quantity: '2275',
    amount: 455n,
    billed: 0n,
    tiers: [{ quantity: '2275', unitAmount: '0.002', flatAmount: null, amount: '4.55' }],
    period: PERIOD,
    ...fields,
  };
}

const TIERED = {
  quantity: '1212275.5',
  amount: 21_314n,
  tiers: [
    { quantity: '10000', unitAmount: null, flatAmount: null, amount: '0.00' },
    { quantity: '990000', unitAmount: '0.0002', flatAmount: null, amount: '198.00' },
    { quantity: '212275.5', unitAmount: '0.00005', flatAmount: '4.53', amount: '15.143775' },
  ],
} as const;

/** An invoice with a line of each kind that usage makes. */
export function sheet({ seller, buyer, plan, feature }: InvoiceTexts): InvoiceSheet {
  const named = { description: feature };
  const lines: InvoiceSheet['lines'] = [
    {
      type: 'recurring',
      description: plan,
      quantity: 1,
      unitAmount: 4900n,
      amount: 4900n,
      period: { start: AT, end: new Date('2026-12-01') },
    },
    usage(named),
    usage({ ...named, ...TIERED }),
    usage({
      ...named,
      quantity: '30',
      amount: 1500n,
      tiers: [{ quantity: '30', unitAmount: null, flatAmount: '5.00', amount: '15.00' }],
    }),
    usage({ ...named, quantity: '0', amount: 500n, tiers: [] }),
    usage({
      ...named,
      type: 'usage_adjustment',
      quantity: '-25',
      amount: -5n,
      billed: 460n,
      tiers: [{ quantity: '2275', unitAmount: '0.002', flatAmount: null, amount: '4.55' }],
      period: { start: new Date('2026-09-01'), end: new Date('2026-10-01') },
    }),
  ];
  const total = lines.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    mode: 'live',
    number: 'INV-2026-000123',
    status: 'paid',
    currency: 'USD',
    subtotal: total,
    discountTotal: 0n,
    taxTotal: 0n,
    total,
    amountPaid: total,
    amountRefunded: 0n,
    amountChargedBack: 0n,
    periodStart: AT,
    periodEnd: new Date('2026-12-01'),
    issuedAt: AT,
    dueAt: AT,
    paidAt: AT,
    lines,
    seller: { name: seller },
    buyer: { name: buyer, email: 'ada@example.com', address: null },
  };
}
