import { expect, test } from 'bun:test';
import { EXPONENTS } from '../../ledger/kernel/currencies.ts';
import { formatMoney } from '../../ledger/kernel/money.ts';
import { invoicePage, type InvoiceSheet } from '../../src/pages/invoice.ts';

const AT = new Date('2026-11-21T23:59:59.999Z');

const LINE = {
  type: 'fixed',
  description: 'Lamp',
  quantity: 2,
  unitAmount: 1250n,
  amount: 2500n,
  period: null,
} as const;

const PAID: InvoiceSheet = {
  mode: 'live',
  number: 'INV-2026-000123',
  status: 'paid',
  currency: 'USD',
  subtotal: 2500n,
  discountTotal: 500n,
  taxTotal: 0n,
  total: 2000n,
  amountPaid: 2000n,
  amountRefunded: 0n,
  amountChargedBack: 0n,
  periodStart: null,
  periodEnd: null,
  issuedAt: AT,
  dueAt: null,
  paidAt: AT,
  lines: [LINE],
  seller: { name: 'Acme' },
  buyer: { name: 'Ada', email: 'ada@example.com', address: null },
};

const show = (fields: Partial<InvoiceSheet> = {}): string =>
  invoicePage({ ...PAID, ...fields }).text;

/** What a reader sees, in one line. */
const readable = (page: string): string =>
  page
    .replace(/^[\s\S]*<body>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

test('an invoice shows seller and buyer, lines, amounts and dates', () => {
  expect(readable(show())).toBe(
    'Invoice INV-2026-000123 Paid From Acme Billed to Ada ada@example.com ' +
      'Issued 21 November 2026 Paid 21 November 2026 ' +
      'Description Quantity Unit price Amount Lamp 2 $12.50 $25.00 ' +
      'Subtotal $25.00 Discount -$5.00 Total USD $20.00 Paid $20.00',
  );
});

const PERIOD = { start: new Date('2026-02-28'), end: new Date('2026-03-31') };

const SELLER = {
  name: 'Acme',
  addressLine1: '1 Mill Lane',
  addressLine2: '2nd floor',
  city: 'Berlin',
  state: 'BE',
  postalCode: '10115',
  country: 'DE',
  taxId: 'DE123',
  email: 'pay@acme.example',
  phone: '+49 30 1',
};

// prettier-ignore
const STATES: [string, Partial<InvoiceSheet>, string][] = [
  // what fields said
  ['draft',            { status: 'draft', number: null, issuedAt: null, paidAt: null, amountPaid: 0n }, 'not issued yet Draft'],
  ['open',             { status: 'open', paidAt: null, amountPaid: 0n, dueAt: AT },                  'Due $20.00'],
  ['due at',           { status: 'open', paidAt: null, amountPaid: 0n, dueAt: AT },                  'Due 21 November 2026'],
  ['void',             { status: 'void', paidAt: null, amountPaid: 0n },                             'INV-2026-000123 Void'],
  ['uncollectible',    { status: 'uncollectible', paidAt: null, amountPaid: 0n },                    'INV-2026-000123 Uncollectible'],
  ['refunded in part', { amountRefunded: 1n },                                                       'INV-2026-000123 Partly refunded'],
  ['the refund',       { amountRefunded: 1n },                                                       'Paid $20.00 Refunded -$0.01'],
  ['refunded',         { amountRefunded: 2000n },                                                    'INV-2026-000123 Refunded'],
  ['charged back in part', { amountChargedBack: 1n },                                                'INV-2026-000123 Partly charged back'],
  ['what was charged back', { amountChargedBack: 1n },                                               'Paid $20.00 Charged back -$0.01'],
  ['charged back',     { amountRefunded: 500n, amountChargedBack: 1500n },                           'INV-2026-000123 Charged back'],
  ['a period',         { periodStart: new Date('2026-02-28'), periodEnd: new Date('2026-03-31') },   'Period 28 February 2026 to 31 March 2026'],
  ['due of an uncollectible', { status: 'uncollectible', paidAt: null, amountPaid: 0n },             'Due $20.00'],
  ['the period of a line', { lines: [{ ...LINE, type: 'recurring', period: PERIOD }] },              'Lamp 28 February 2026 to 31 March 2026 2 $12.50'],
  ['a proration',      { lines: [{ ...LINE, type: 'proration', period: PERIOD }] },                  'Lamp Proration, 28 February 2026 to 31 March 2026 2'],
  ['a credit',         { lines: [{ ...LINE, type: 'credit', quantity: 1, unitAmount: -5n, amount: -5n }] }, 'Lamp Credit 1 -$0.05 -$0.05'],
  ['an adjustment',    { lines: [{ ...LINE, type: 'adjustment' }] },                                 'Lamp Adjustment 2'],
  ['the seller',       { seller: SELLER },                                                           'From Acme 1 Mill Lane 2nd floor 10115 Berlin BE Germany Tax ID: DE123 pay@acme.example +49 30 1 Billed to'],
  ['the buyer',        { buyer: { ...PAID.buyer, address: { line1: '5 Quay', city: 'Cork', country: 'IE' } } }, 'Billed to Ada 5 Quay Cork Ireland ada@example.com'],
  ['no such country',  { buyer: { ...PAID.buyer, address: { country: 'Elbonia' } } },                'Billed to Ada Elbonia ada@'],
  ['tax',              { taxTotal: 380n, total: 2380n },                                             'Tax $3.80 Total USD $23.80'],
  ['test mode',        { mode: 'test' },                                                             'Test mode. No money was moved'],
  ['nobody',           { buyer: { name: null, email: null, address: null } },                                       'Billed to Issued'],
];

test.each(STATES)("an invoice's page says: %s", (_what, fields, said) => {
  expect(readable(show(fields))).toContain(said);
});

test('a draft and a void invoice are marked across the page, and no other is', () => {
  const marks = (['draft', 'open', 'paid', 'void', 'uncollectible'] as const).map(
    (status) => /<main[^>]*data-mark="(.*?)"/.exec(show({ status }))?.[1],
  );
  expect(marks).toEqual(['Draft', undefined, undefined, 'Void', undefined]);
});

test('a void invoice shows no due date', () => {
  const text = readable(show({ status: 'void', paidAt: null, amountPaid: 0n, dueAt: AT }));
  expect(text).not.toContain('Due');
});

test('an invoice leaves out what is empty', () => {
  const text = readable(show({ subtotal: 2000n, discountTotal: 0n }));
  for (const absent of [
    'Subtotal',
    'Discount',
    'Tax',
    'Refunded',
    'Charged back',
    'Due',
    'Period',
    'Test mode',
  ]) {
    expect(text).not.toContain(absent);
  }
});

// prettier-ignore
const AMOUNTS: [string, bigint, string, string][] = [
  // currency  coins               shown                     exact
  ['JPY',      1_000n,             '¥1,000',                 '1000'],
  ['USD',      99_999_999_999_999n, '$999,999,999,999.99',   '999999999999.99'],
  ['KWD',      12_500n,            'KWD 12.500',             '12.500'],
  ['CLF',      10_001n,            'CLF 1.0001',             '1.0001'],
];

test.each(AMOUNTS)('an invoice shows amounts in %s', (currency, amount, shown, exact) => {
  const lines = [{ ...LINE, quantity: 1, unitAmount: amount, amount }];
  const money = { subtotal: amount, discountTotal: 0n, total: amount, amountPaid: amount };
  const page = show({ currency, lines, ...money });
  // The line has two amounts; then the total, and what was paid.
  expect(page.split(`value="${exact}"`)).toHaveLength(5);
  expect(readable(page).replaceAll(' ', ' ')).toContain(`Total ${currency} ${shown} Paid ${shown}`);
});

test("an invoice's shown amount has the digits of the exact one in every currency", () => {
  const amount = 123_456_789n;
  for (const currency of EXPONENTS.keys()) {
    const page = show({ currency, discountTotal: 0n, total: amount, amountPaid: amount });
    const [, exact, shown] = /Total [A-Z]{3}[\s\S]*?value="([^"]*)"\s*>([^<]*)</.exec(page)!;
    expect([currency, exact]).toEqual([currency, formatMoney(amount, currency)]);
    const digits = /\d.*$/.exec(shown!)![0].replaceAll(',', '');
    expect([currency, digits]).toEqual([currency, exact!]);
  }
});

test('an invoice isolates names in another direction, each in its own', () => {
  const page = show({
    seller: { name: 'شركة المثال' },
    buyer: { name: 'דנה כהן', email: 'dana@example.co.il', address: null },
    lines: [{ ...LINE, description: 'اشتراك (Pro)' }],
  });
  for (const name of ['شركة المثال', 'דנה כהן', 'اشتراك (Pro)']) {
    expect(page).toMatch(new RegExp(`dir="auto"\\s*>\\s*${RegExp.escape(name)}\\s*<`));
  }
  expect(page).toMatch(/dir="ltr"\s*>\s*dana@example\.co\.il\s*</);
});

const XSS = [
  `"'><script>alert(1)</script><img src=x onerror=alert(1)></style></title>`,
  '<svg/onload=alert(1)>',
  '</dd></dl><iframe srcdoc="<script>alert(1)</script>">',
  '" onmouseover="alert(1)" x="',
  "' style='background:url(//evil.example)",
  '<!--<script>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '<a href="javascript:alert(1)">',
  '</p><meta http-equiv=refresh content=0;url=//evil.example>',
  '\u2028<b>\u202Eevil',
];

/** Every field that a user can fill. */
const filled = (text: string): string =>
  show({
    number: text,
    seller: {
      name: text,
      addressLine1: text,
      addressLine2: text,
      city: text,
      state: text,
      postalCode: text,
      country: text,
      taxId: text,
      email: text,
      phone: text,
    },
    buyer: {
      name: text,
      email: text,
      address: {
        line1: text,
        line2: text,
        city: text,
        state: text,
        postalCode: text,
        country: text,
      },
    },
    lines: [{ ...LINE, description: text }],
  });

/** Title (twice: number and seller), number, seller (ten), buyer (eight), line. */
const FIELDS = 22;

test.each(XSS)('an invoice shows markup in any field as text: %s', (evil) => {
  const tags = (page: string): string[] => [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
  const page = filled(evil);
  // No tag more or less, and no other attribute.
  expect(tags(page)).toEqual(tags(filled('harmless')));
  const shown = page.split(Bun.escapeHTML(evil).replaceAll('&#x27;', '&#39;'));
  expect(shown).toHaveLength(FIELDS + 1);
});

test('an invoice loads nothing, runs nothing, and prints on A4', () => {
  const page = show();
  expect(page).not.toMatch(/<script|<form|<iframe|url\(|https?:|\son\w+=/);
  expect(page).toContain('@page { size: A4');
});
