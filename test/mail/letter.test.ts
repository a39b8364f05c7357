// What a receipt says of each kind of line.
import { expect, test } from 'bun:test';
import { letterOf } from '../../src/mail/letter.ts';
import type { InvoiceLine } from '../../src/records/invoices.ts';

const PERIOD = { start: new Date('2026-10-01'), end: new Date('2026-11-01') };

const LAMP = {
  id: 'line',
  type: 'fixed',
  description: 'Lamp',
  quantity: 1,
  unitAmount: 1250n,
  amount: 1250n,
  period: null,
} as const;

const USAGE = {
  id: 'line',
  type: 'usage',
  description: 'API\ncalls',
  featureKey: 'api-calls',
  usagePriceId: 'price',
  usageId: 'usage',
  quantity: '1234567.5',
  amount: 247n,
  billed: 0n,
  tiers: [],
  period: PERIOD,
} as const;

const BRANDING = { color: null, logo: null, supportEmail: null, supportUrl: null };

/** The line as the receipt has it. */
function told(line: InvoiceLine): string | undefined {
  const invoice = { currency: 'USD', lines: [line], seller: { name: 'Acme' } };
  const about = {
    mail: { kind: 'receipt' },
    organisation: { mode: 'live', name: 'Acme', seller: {}, branding: BRANDING },
    appUrl: 'https://tollhouse.example',
    invoice: { ...invoice, discountTotal: 0n, taxTotal: 0n, total: 1n, paidAt: new Date(0) },
    link: null,
    portal: null,
  } as unknown as Parameters<typeof letterOf>[0];
  const { text } = letterOf(about);
  return text.split('\n').find((row) => row.includes(': ') && !row.startsWith('Total'));
}

// prettier-ignore
const LINES: [string, InvoiceLine, string][] = [
  ['one',           LAMP,                                                                   'Lamp: $12.50'],
  ['several',       { ...LAMP, quantity: 2000 },                                            '2,000 x Lamp: $12.50'],
  ['usage',         USAGE,                                                                  '1,234,567.5 x API calls: $2.47'],
  ['an adjustment', { ...USAGE, type: 'usage_adjustment', quantity: '-5', amount: -1n },    'Correction: API calls: -$0.01'],
];

test.each(LINES)("a mail's letter encodes a line of %s", (_what, line, text) => {
  expect(told(line)).toBe(text);
});
