// The numbers of invoices and their totals, under concurrent issuing.
import type { PlainLine } from '../../../src/records/invoices.ts';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { ids } from '../../../src/platform/ids.ts';
import { finalizeInvoice } from '../../../src/invoices/issue.ts';
import type { InvoiceRecord } from '../../../src/records/invoices.ts';
import { createOrganisation } from '../../../src/accounts/onboarding.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { invoiceThatIs, issue, issueAll, newInvoice, NOW } from './issuing.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

async function freshScope(): Promise<Tenant> {
  const setting = { sql: server.sql, ids, now: NOW };
  const made = await createOrganisation(setting, { name: 'Fresh', groupId: null });
  if (typeof made === 'string') throw new Error(made);
  return { organisationId: made.id, mode: 'test' };
}

const numberOf = (nth: number): string => `INV-2026-${String(nth).padStart(6, '0')}`;
const upTo = (last: number): string[] => Array.from({ length: last }, (_, i) => numberOf(i + 1));

const issuedIn = ({ organisationId }: Tenant) => server.sql<
  { number: string; at: Date; told: string }[]
>`
  select i.number, i.issued_at as at, e.data->>'number' as told
  from invoices i join events e on e.object_id = i.id
  where i.organisation_id = ${organisationId} and i.number is not null order by i.number`;

test('500 invoices finalised at once, 30 % rolled back, are numbered 1..n in the order of issue', async () => {
  const scope = await freshScope();
  const drafts: InvoiceRecord[] = [];
  for (let i = 0; i < 500; i += 1) drafts.push(await invoiceThatIs(server.sql, scope, 'draft'));
  class Rollback extends Error {}
  /** In the order in which the numbers were taken. */
  const order: string[] = [];
  const started = performance.now();
  const outcomes = await Promise.allSettled(
    drafts.map(({ id }, i) =>
      server.sql.begin(async (sql) => {
        // One caller's clock is behind another's.
        const now = NOW + (i % 7) * 1000;
        const finalised = await finalizeInvoice(sql, scope, { id, eventId: ids.next(), now });
        if (i % 10 < 3) throw new Rollback();
        if (finalised !== 'not_found') order.push(finalised.invoice.number!);
      }),
    ),
  );
  const seconds = (performance.now() - started) / 1000;
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Rollback);
  }
  console.log(`${Math.round(500 / seconds)} finalisations a second, 30 % of them rolled back`);
  const rows = await issuedIn(scope);
  expect(rows.map(({ number }) => number)).toEqual(upTo(350));
  expect(rows.map(({ told }) => told)).toEqual(upTo(350));
  // The transaction that takes a number locks the counter, so the next number waits.
  expect(order).toEqual(upTo(350));
  const times = rows.map(({ at }) => at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const silent = await server.sql`
    select 1 from events e join invoices i on i.id = e.object_id where i.organisation_id = ${scope.organisationId} and i.number is null`;
  expect(silent).toHaveLength(0);
});

test('100 invoices of three organisations in one transaction are numbered in the order given', async () => {
  const scopes = [await freshScope(), await freshScope(), await freshScope()];
  const issuances = Array.from({ length: 100 }, (_, i) => ({
    scope: scopes[i % 3]!,
    invoice: newInvoice({ paymentId: null }),
    paidAt: i % 4 === 0 ? new Date(NOW) : null,
    eventId: ids.next(),
    now: NOW,
  }));
  const started = performance.now();
  const issued = await issueAll(server.sql, issuances);
  console.log(`100 in ${Math.round(performance.now() - started)} ms`);
  expect(issued.map(({ id }) => id)).toEqual(issuances.map(({ invoice }) => invoice.id));
  expect(issued.map(({ number }) => number)).toEqual(
    issuances.map((_, i) => numberOf(Math.floor(i / 3) + 1)),
  );
  expect(issued.map(({ status }) => status)).toEqual(
    issuances.map(({ paidAt }) => (paidAt === null ? 'open' : 'paid')),
  );
  const again = await issueAll(server.sql, issuances.toReversed());
  expect(again.toReversed()).toEqual([...issued]);
  for (const scope of scopes) expect((await issuedIn(scope)).length).toBeGreaterThan(32);
});

test('batches at once that share organisations and invoices neither deadlock nor skip a number', async () => {
  const scopes = [await freshScope(), await freshScope()];
  const shared = Array.from({ length: 200 }, (_, i) => ({
    scope: scopes[i % 2]!,
    invoice: newInvoice({ paymentId: null }),
    paidAt: null,
    now: NOW,
  }));
  const batch = (i: number) => {
    const all = shared.map((one) => ({ ...one, eventId: ids.next() }));
    return issueAll(server.sql, i % 2 === 0 ? all : all.toReversed());
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => batch(i)));
  for (const scope of scopes) {
    expect((await issuedIn(scope)).map(({ number }) => number)).toEqual(upTo(100));
  }
});

test('an invoice that is twice in one batch is numbered once', async () => {
  const scope = await freshScope();
  const invoice = newInvoice();
  const twice = [ids.next(), ids.next()].map((eventId) => {
    return { scope, invoice, paidAt: null, eventId, now: NOW };
  });
  const [first, second] = await issueAll(server.sql, twice);
  expect(second).toEqual(first);
  expect((await issuedIn(scope)).map(({ number }) => number)).toEqual(upTo(1));
});

test('invoice dates ascend with the numbers over a new year, whose clock is behind', async () => {
  const scope = await freshScope();
  const year = Date.UTC(2027, 0, 1);
  const issued = [];
  for (const now of [year - 2, year, year - 1, year + 1]) {
    issued.push(await issue(server.sql, scope, { now }));
  }
  expect(issued.map(({ number, issuedAt }) => [number, issuedAt!.getTime() - year])).toEqual([
    ['INV-2026-000001', -2],
    ['INV-2027-000002', 0],
    ['INV-2027-000003', 0],
    ['INV-2027-000004', 1],
  ]);
});

const SEED = 20_261_121;

const LINE = fc.record({
  type: fc.constantFrom('fixed', 'recurring', 'proration', 'credit', 'adjustment'),
  description: fc.string({ minLength: 1 }).map((text) => text.replaceAll('\0', '')),
  quantity: fc.integer({ min: 1, max: 1000 }),
  unitAmount: fc.bigInt({ min: 0n, max: 10n ** 12n }),
});

test(`an invoice's lines add up to its total, which is never negative (seed ${SEED})`, async () => {
  const scope = await freshScope();
  const invoices = fc.sample(
    fc.record({
      lines: fc.array(LINE, { minLength: 1, maxLength: 12 }),
      percent: fc.integer({ min: 0, max: 100 }),
      currency: fc.constantFrom('USD', 'JPY', 'KWD', 'CLF'),
      isPaid: fc.boolean(),
    }),
    { seed: SEED, numRuns: 300 },
  );
  const issuances = invoices.map(({ lines, percent, currency, isPaid }) => {
    const signed = lines.map(({ unitAmount, ...line }) => {
      const isCredit = line.type === 'credit';
      return { ...line, unitAmount: isCredit ? -(unitAmount + 1n) : unitAmount, period: null };
    });
    const sum = signed.reduce((all, line) => all + line.unitAmount * BigInt(line.quantity), 0n);
    // The buyer is owed more than the other lines cost, so the caller adds a line that makes up for
    // it.
    const makeUp = { type: 'adjustment', description: 'later', quantity: 1, period: null } as const;
    const whole = sum < 0n ? [...signed, { ...makeUp, unitAmount: -sum }] : signed;
    const discountTotal = sum < 0n ? 0n : (sum * BigInt(percent)) / 100n;
    const invoice = newInvoice({ currency, lines: whole, discountTotal, paymentId: null });
    const paidAt = isPaid ? new Date(NOW) : null;
    return { scope, invoice, paidAt, eventId: ids.next(), now: NOW };
  });
  for (let i = 0; i < issuances.length; i += 100) {
    for (const made of await issueAll(server.sql, issuances.slice(i, i + 100))) {
      const sum = made.lines.reduce((all, { amount }) => all + amount, 0n);
      for (const line of made.lines) {
        const { unitAmount, quantity } = line as PlainLine;
        expect(line.amount).toBe(unitAmount * BigInt(quantity));
      }
      expect(made.subtotal).toBe(sum);
      expect(made.total).toBe(sum - made.discountTotal);
      expect(made.total >= 0n).toBe(true);
      const isPaid = made.status === 'paid';
      expect([made.amountPaid, made.paidAt !== null]).toEqual([isPaid ? made.total : 0n, isPaid]);
    }
  }
});

const CREDIT = { type: 'credit', description: 'x', quantity: 1, period: null } as const;
const FIXED = { ...CREDIT, type: 'fixed', unitAmount: 5n } as const;
const USAGE = {
  type: 'usage',
  description: 'Calls',
  featureKey: 'calls',
  usagePriceId: ids.next(),
  usageId: ids.next(),
  quantity: '1',
  tiers: [],
  period: { start: new Date(NOW), end: new Date(NOW + 1) },
} as const;
const MONTH = { start: new Date(NOW), end: new Date(NOW) };

// prettier-ignore
const FAULTS: [string, object, string][] = [
  // what fields says
  ['a negative total',                { lines: [FIXED, { ...CREDIT, unitAmount: -6n }], discountTotal: 0n },        'never negative'],
  ['a discount of more than all',     { lines: [FIXED], discountTotal: 6n },                                        'never negative'],
  ['a negative discount',             { lines: [FIXED], discountTotal: -1n },                                       'never negative'],
  ['usage that gives back',           { lines: [FIXED, { ...USAGE, amount: -1n }], discountTotal: 0n },             'usage is not given back'],
  ['a negative price',                { lines: [FIXED, { ...FIXED, unitAmount: -1n }], discountTotal: 0n },         'a price is not negative'],
  ['a quantity of nothing',           { lines: [{ ...FIXED, quantity: 0 }], discountTotal: 0n },                    'a quantity counts'],
  ['no lines',                        { lines: [], discountTotal: 0n },                                             'has a line'],
  ['a period that is none',           { lines: [{ ...FIXED, period: MONTH }], discountTotal: 0n },                  'a period has a length'],
];

test.each(FAULTS)(
  'numbering an invoice with %s throws, and takes no number',
  async (_what, fields, says) => {
    const scope = await freshScope();
    const failed = await issue(server.sql, scope, fields).catch(String);
    expect(failed).toContain(says);
    expect((await issue(server.sql, scope)).number).toBe(numberOf(1));
  },
);
