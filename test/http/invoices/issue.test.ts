// The rows that issuing and refunding write.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { ids } from '../../../src/platform/ids.ts';
import { recordInvoiceReturns } from '../../../src/invoices/changes.ts';
import { issueInvoices } from '../../../src/invoices/issue.ts';
import { findInvoice } from '../../../src/records/invoices.ts';
import { createOrganisation } from '../../../src/accounts/onboarding.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { issue, issueAll, newInvoice, NOW, refund } from './issuing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

async function freshScope(mode: Tenant['mode'] = 'test'): Promise<Tenant> {
  const setting = { sql: server.sql, ids, now: NOW };
  const made = await createOrganisation(setting, { name: 'Fresh', groupId: null });
  if (typeof made === 'string') throw new Error(made);
  return { organisationId: made.id, mode };
}

const eventsOf = (id: string) => server.sql`
  select id, type, object_type as "objectType", account_id as "accountId", sequence, at, data
  from events where object_id = ${id} order by sequence`;

const failureOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'it succeeded',
    (error: unknown) => String(error),
  );

const EVENT = {
  number: 'INV-2026-000001',
  status: 'paid',
  subscriptionId: null,
  amount: '20.00',
  amountDue: '0.00',
  taxTotal: '0.00',
  currency: 'USD',
  billingReason: 'purchase',
  periodStart: null,
  periodEnd: null,
  dueAt: new Date(NOW).toISOString(),
  customerEmail: 'ada@example.com',
  externalCustomerId: 'u_1',
  metadata: {},
};

test('an issued invoice adds up, has a number, and its event is in the same transaction', async () => {
  const scope = await freshScope();
  const customerId = ids.next();
  const invoice = await issue(server.sql, scope, { customerId });
  expect(invoice).toMatchObject({
    ...scope,
    number: 'INV-2026-000001',
    status: 'paid',
    subtotal: 2500n,
    discountTotal: 500n,
    taxTotal: 0n,
    total: 2000n,
    amountPaid: 2000n,
    amountRefunded: 0n,
    issuedAt: new Date(NOW),
    paidAt: new Date(NOW - 1000),
    lines: [{ description: 'Lamp', quantity: 2, unitAmount: 1250n, amount: 2500n }],
    seller: { name: 'Fresh' },
  });
  expect([...(await eventsOf(invoice.id))]).toEqual([
    {
      id: expect.any(String),
      type: 'invoice.created',
      objectType: 'INVOICE',
      accountId: customerId,
      sequence: 1n,
      at: new Date(NOW),
      data: { ...EVENT, invoiceId: invoice.id },
    },
  ]);
});

test('an invoice issued before its payment is open, and all of it is due', async () => {
  const scope = await freshScope();
  const dueAt = new Date(NOW + 86_400_000);
  const invoice = await issue(server.sql, scope, { paidAt: null, dueAt });
  expect(invoice).toMatchObject({ status: 'open', amountPaid: 0n, total: 2000n, dueAt });
  const [event] = await eventsOf(invoice.id);
  expect(event!.data).toMatchObject({ amountDue: '20.00', dueAt: '2026-11-22T09:30:15.250Z' });
});

test('issuing an invoice again with its id, also at once, gives the same one and takes no number', async () => {
  const scope = await freshScope();
  const invoice = newInvoice();
  const again = async () => {
    const issuance = { scope, invoice, paidAt: null, eventId: ids.next(), now: NOW + 1 };
    const [one] = await issueAll(server.sql, [issuance]);
    return one!;
  };
  const issued = await Promise.all(Array.from({ length: 8 }, again));
  for (const each of issued) expect(each).toEqual(issued[0]!);
  expect(await eventsOf(invoice.id)).toHaveLength(1);
  expect((await issue(server.sql, scope)).number).toBe('INV-2026-000002');
});

test('an invoice id of another scope throws', async () => {
  const { id } = await issue(server.sql, await freshScope());
  const elsewhere = await freshScope();
  expect(await failureOf(issue(server.sql, elsewhere, { id }))).toContain('in its scope');
  expect((await issue(server.sql, elsewhere)).number).toBe('INV-2026-000001');
});

// prettier-ignore
const NUMBERS: [string, bigint, number, string][] = [
  // after                      last        at                            number
  ['the first in a new year',   41n,        Date.UTC(2027, 0, 1),         'INV-2027-000042'],
  ['the last of an old year',   41n,        Date.UTC(2027, 0, 1) - 1,     'INV-2026-000042'],
  ['the last of six digits',    999_998n,   NOW,                          'INV-2026-999999'],
  ['the first of seven',        999_999n,   NOW,                          'INV-2026-1000000'],
];

test.each(NUMBERS)('an invoice gets the next number: %s', async (_what, last, now, number) => {
  const { organisationId, mode } = await freshScope();
  await server.sql`
    insert into invoice_counters (organisation_id, mode, last) values (${organisationId}, ${mode}, ${last})`;
  expect((await issue(server.sql, { organisationId, mode }, { now })).number).toBe(number);
});

test('invoice numbers count for each mode alone', async () => {
  const scope = await freshScope();
  await issue(server.sql, scope);
  expect((await issue(server.sql, { ...scope, mode: 'live' })).number).toBe('INV-2026-000001');
});

test('of 200 invoices at once in three organisations, a third rolled back, numbers have no gap', async () => {
  const scopes = [await freshScope(), await freshScope(), await freshScope('live')];
  const expected = scopes.map(() => 0);
  class Rollback extends Error {}
  const attempts = Array.from({ length: 200 }, async (_, i) => {
    const which = i % scopes.length;
    const scope = scopes[which]!;
    const issuance = {
      scope,
      invoice: newInvoice(),
      paidAt: null,
      eventId: ids.next(),
      now: NOW + i,
    };
    const fails = i % 10 < 3;
    if (!fails) expected[which]! += 1;
    try {
      await server.sql.begin(async (sql) => {
        await issueInvoices(sql, [issuance]);
        if (fails) throw new Rollback();
      });
    } catch (error) {
      if (!(error instanceof Rollback)) throw error;
    }
  });
  await Promise.all(attempts);
  for (const [which, { organisationId, mode }] of scopes.entries()) {
    const rows = await server.sql<{ number: string }[]>`
      select number from invoices where organisation_id = ${organisationId} and mode = ${mode} order by number`;
    expect(rows.map(({ number }) => number)).toEqual(
      Array.from(
        { length: expected[which]! },
        (_, i) => `INV-2026-${String(i + 1).padStart(6, '0')}`,
      ),
    );
  }
  const announced = await server.sql`
    select 1 from events where object_type = 'INVOICE' and organisation_id = any(${scopes.map((s) => s.organisationId)}::uuid[])`;
  expect(announced).toHaveLength(140);
});

test("a refund moves an invoice's amount_refunded and writes an event; one that fails is undone", async () => {
  const invoice = await issue(server.sql, await freshScope());
  const [first, second] = [ids.next(), ids.next()];
  await refund(server.sql, invoice.id, 1500n, { refundId: first, now: NOW + 5 });
  // The clock stands still, then goes back.
  await refund(server.sql, invoice.id, 500n, { refundId: second, now: NOW + 5 });
  await refund(server.sql, invoice.id, -1500n, { refundId: first, now: NOW });
  expect(await findInvoice(server.sql, invoice, invoice.id)).toMatchObject({
    amountRefunded: 500n,
    status: 'paid',
    number: invoice.number,
  });
  const events = await eventsOf(invoice.id);
  const same = { ...EVENT, invoiceId: invoice.id, creditNoteId: null, disputeId: null };
  expect(events.slice(1).map(({ type, sequence, at, data }) => [type, sequence, at, data])).toEqual(
    [
      [
        'invoice.updated',
        2n,
        new Date(NOW + 5),
        { ...same, change: 'refunded', refundId: first, amountDelta: '15.00' },
      ],
      [
        'invoice.updated',
        3n,
        new Date(NOW + 6),
        { ...same, change: 'refunded', refundId: second, amountDelta: '5.00' },
      ],
      [
        'invoice.updated',
        4n,
        new Date(NOW + 7),
        { ...same, change: 'adjusted', refundId: first, amountDelta: '-15.00' },
      ],
    ],
  );
});

test('refunds of several invoices in one statement: each invoice has its own, in order', async () => {
  const [one, other] = [
    await issue(server.sql, await freshScope()),
    await issue(server.sql, await freshScope()),
  ];
  const refunds = [
    { invoice: one, amountDelta: 700n },
    { invoice: other, amountDelta: 1n },
    { invoice: one, amountDelta: 300n },
    { invoice: one, amountDelta: -700n },
  ].map(({ invoice: { id: invoiceId, paymentId }, amountDelta }) => ({
    invoiceId,
    paymentId: must(paymentId, 'what paid it'),
    amountDelta,
    refundId: ids.next(),
    disputeId: null,
    eventId: ids.next(),
    at: NOW,
  }));
  await server.sql.begin((transaction) => recordInvoiceReturns(transaction, refunds));
  const told = async (invoiceId: string) =>
    (await eventsOf(invoiceId)).slice(1).map(({ sequence, at, data }) => {
      const { refundId, amountDelta } = data as Record<string, string>;
      return [Number(sequence), at.getTime() - NOW, refundId, amountDelta];
    });
  expect(await told(one.id)).toEqual([
    [2, 1, refunds[0]!.refundId, '7.00'],
    [3, 2, refunds[2]!.refundId, '3.00'],
    [4, 3, refunds[3]!.refundId, '-7.00'],
  ]);
  expect(await told(other.id)).toEqual([[2, 1, refunds[1]!.refundId, '0.01']]);
  expect(await findInvoice(server.sql, one, one.id)).toMatchObject({ amountRefunded: 300n });
});

test('refunds of an invoice at once are all there, in order and without a gap', async () => {
  const invoice = await issue(server.sql, await freshScope());
  await Promise.all(Array.from({ length: 20 }, () => refund(server.sql, invoice.id, 100n)));
  const events = await eventsOf(invoice.id);
  expect(events.map(({ sequence }) => Number(sequence))).toEqual(
    Array.from({ length: 21 }, (_, i) => i + 1),
  );
  for (const [i, { at }] of events.entries()) {
    if (i > 0) expect(at.getTime()).toBeGreaterThan(events[i - 1]!.at.getTime());
  }
});

test('the database refuses a refund of an invoice beyond what was paid', async () => {
  const invoice = await issue(server.sql, await freshScope());
  for (const amount of [2001n, -1n]) {
    expect(await failureOf(refund(server.sql, invoice.id, amount))).toContain(
      'invoices_refunds_within_paid',
    );
  }
  expect(await eventsOf(invoice.id)).toHaveLength(1);
});

test('a refund of an unknown invoice throws', async () => {
  expect(await failureOf(refund(server.sql, ids.next(), 1n))).toContain(
    'every invoice that money came back of',
  );
});
