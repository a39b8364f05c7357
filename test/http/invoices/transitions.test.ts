// The life of an invoice: every status against every action.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { countAttempts, markUncollectible, payInvoices } from '../../../src/invoices/changes.ts';
import { finalizeInvoice } from '../../../src/invoices/issue.ts';
import {
  findInvoice,
  INVOICE_STATUSES,
  type InvoiceStatus,
} from '../../../src/records/invoices.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { invoiceThatIs, issue, newInvoice, NOW } from './issuing.ts';

let server: TestServer;
let scope: Tenant;
beforeAll(async () => {
  server = await startServer({ edited: true });
  scope = { organisationId: server.organisation.id, mode: 'test' };
});
afterAll(() => server.stop());

type Action = 'finalize' | 'pay' | 'void' | 'mark_uncollectible';

// prettier-ignore
const TABLE: [InvoiceStatus, Record<Action, InvoiceStatus | null>][] = [
  // from            null where it is refused
  ['draft',          { finalize: 'open', pay: null,   void: 'void', mark_uncollectible: null }],
  ['open',           { finalize: 'open', pay: 'paid', void: 'void', mark_uncollectible: 'uncollectible' }],
  ['paid',           { finalize: null,   pay: null,   void: null,   mark_uncollectible: null }],
  ['void',           { finalize: null,   pay: null,   void: 'void', mark_uncollectible: null }],
  ['uncollectible',  { finalize: null,   pay: 'paid', void: 'void', mark_uncollectible: 'uncollectible' }],
];

const eventsOf = async (id: string) => {
  const rows = await server.sql<{ type: string; change: string | null }[]>`
    select type, data->>'change' as change from events where object_id = ${id} order by sequence`;
  return rows.map(({ type, change }) => (change === null ? type : `${type} ${change}`));
};

/** The name of the refusal; null where the action is done. */
async function act(action: Action, id: string): Promise<string | null> {
  if (action === 'finalize' || action === 'void') {
    const { status, json } = await server.call('POST', `/invoices/${id}/${action}`);
    if (status !== 200) expect(status).toBe(409);
    return status === 200 ? null : `${json.error.type}: ${json.error.message}`;
  }
  const changed = await server.sql.begin(async (sql) => {
    if (action === 'mark_uncollectible') return markUncollectible(sql, scope, { id, now: NOW + 9 });
    const payment = { invoiceId: id, paymentId: ids.next(), paidAt: new Date(NOW + 9) };
    const [isPaid] = await payInvoices(sql, [payment]);
    return { kind: isPaid === true ? 'done' : 'invalid_state' } as const;
  });
  if (changed === 'not_found') throw new Error(changed);
  return changed.kind === 'done' ? null : changed.kind;
}

const CASES = TABLE.flatMap(([from, actions]) =>
  (Object.keys(actions) as Action[]).map((action) => [from, action, actions[action]] as const),
);

test('the table of invoice transitions has every status', () => {
  expect(TABLE.map(([from]) => from).toSorted()).toEqual([...INVOICE_STATUSES].toSorted());
});

test.each(CASES)('an invoice that is %s, on %s, becomes %p', async (from, action, to) => {
  const before = await invoiceThatIs(server.sql, scope, from);
  expect(before.status).toBe(from);
  const told = await eventsOf(before.id);
  const refused = await act(action, before.id);
  const after = await findInvoice(server.sql, scope, before.id);
  const news = (await eventsOf(before.id)).slice(told.length);
  if (to === null || to === from) {
    expect(refused === null).toBe(to !== null);
    expect([after, news]).toEqual([before, []]);
    return;
  }
  expect([refused, after!.status]).toEqual([null, to]);
  const isIssued = before.number !== null;
  const tells: Partial<Record<Action, string>> = {
    finalize: 'invoice.created',
    ...(isIssued && { void: 'invoice.updated voided' }),
  };
  expect(news).toEqual([tells[action] ?? []].flat());
  // A number is never taken back, and only finalising assigns one.
  expect(after!.number !== null).toBe(isIssued || action === 'finalize');
});

// prettier-ignore
const REFUSALS: [InvoiceStatus, Action, string][] = [
  ['paid',          'finalize', 'invalid_state: the invoice is paid; to finalize it, it must be draft'],
  ['paid',          'void',     'invalid_state: the invoice is paid; to void it, it must be draft or open or uncollectible'],
  ['void',          'finalize', 'invalid_state: the invoice is void; to finalize it, it must be draft'],
];

test.each(REFUSALS)(
  "the refusal of an invoice's transition names what it must be: %s, %s",
  async (from, action, says) => {
    const { id } = await invoiceThatIs(server.sql, scope, from);
    expect(await act(action, id)).toBe(says);
  },
);

test('a void invoice has nothing due, in its event too', async () => {
  const { id } = await invoiceThatIs(server.sql, scope, 'open');
  const { json } = await server.call('POST', `/invoices/${id}/void`);
  expect([json.status, json.total, json.amount_due]).toEqual(['void', '20.00', '0.00']);
  const [row] = await server.sql`select data from events where object_id = ${id} and sequence = 2`;
  expect(row!['data']).toMatchObject({
    status: 'void',
    amountDue: '0.00',
    change: 'voided',
    creditNoteId: null,
    refundId: null,
    disputeId: null,
    amountDelta: null,
  });
});

describe('payments of several invoices', () => {
  const pay = (payments: readonly { invoiceId: string; paymentId: string }[]) =>
    server.sql.begin((sql) =>
      payInvoices(
        sql,
        payments.map((payment, i) => ({ ...payment, paidAt: new Date(NOW + 10 + i) })),
      ),
    );

  test('each tell their outcome, in the order given', async () => {
    const open = await invoiceThatIs(server.sql, scope, 'open');
    const gone = await invoiceThatIs(server.sql, scope, 'void');
    const written = await invoiceThatIs(server.sql, scope, 'uncollectible');
    const [first, second, third] = [ids.next(), ids.next(), ids.next()];
    const answers = await pay([
      { invoiceId: gone.id, paymentId: third },
      { invoiceId: open.id, paymentId: first },
      { invoiceId: written.id, paymentId: third },
      { invoiceId: open.id, paymentId: second },
    ]);
    expect(answers).toEqual([false, true, true, false]);
    const payerOf = async (id: string) => (await findInvoice(server.sql, scope, id))?.paymentId;
    expect(await Promise.all([gone.id, open.id, written.id].map(payerOf))).toEqual([
      null,
      first,
      third,
    ]);
    expect(await findInvoice(server.sql, scope, open.id)).toMatchObject({
      status: 'paid',
      amountPaid: 2000n,
      paidAt: new Date(NOW + 11),
    });
  });

  test('succeed again for the same payment, and are refused for another one', async () => {
    const { id } = await invoiceThatIs(server.sql, scope, 'open');
    const payment = { invoiceId: id, paymentId: ids.next() };
    await pay([payment]);
    expect(await pay([payment])).toEqual([true]);
    expect(await pay([{ invoiceId: id, paymentId: ids.next() }])).toEqual([false]);
    const { paymentId, paidAt } = (await findInvoice(server.sql, scope, id))!;
    expect([paymentId, paidAt]).toEqual([payment.paymentId, new Date(NOW + 10)]);
  });

  test('of 20 at once on one invoice are one payment', async () => {
    const { id } = await invoiceThatIs(server.sql, scope, 'open');
    const attempts = Array.from({ length: 20 }, () =>
      pay([{ invoiceId: id, paymentId: ids.next() }]),
    );
    const paid = (await Promise.all(attempts)).flat();
    expect(paid.filter((it) => it)).toHaveLength(1);
  });

  test('an invoice paid and voided at once is one of the two', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await invoiceThatIs(server.sql, scope, 'open');
      const [paid, refused] = await Promise.all([act('pay', id), act('void', id)]);
      expect([paid, refused].filter((it) => it === null)).toHaveLength(1);
      const { status } = (await findInvoice(server.sql, scope, id))!;
      expect(status).toBe(paid === null ? 'paid' : 'void');
    }
  });
});

test('a draft finalised ten times at once has one number and one event', async () => {
  const draft = await invoiceThatIs(server.sql, scope, 'draft');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => server.call('POST', `/invoices/${draft.id}/finalize`)),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(await eventsOf(draft.id)).toEqual(['invoice.created']);
});

test('a draft invoice is not due before it is issued', async () => {
  const dueAt = new Date(NOW + 1000);
  const { id } = await invoiceThatIs(server.sql, scope, 'draft');
  await server.sql`update invoices set due_at = ${dueAt} where id = ${id}`;
  const finalizing = { id, eventId: ids.next(), now: NOW + 5000 };
  await server.sql.begin((sql) => finalizeInvoice(sql, scope, finalizing));
  expect(await findInvoice(server.sql, scope, id)).toMatchObject({ dueAt: new Date(NOW + 5000) });
});

test('tries to charge an invoice are counted', async () => {
  const one = await invoiceThatIs(server.sql, scope, 'open');
  const other = await invoiceThatIs(server.sql, scope, 'open');
  const count = (...invoiceIds: string[]) =>
    server.sql.begin((sql) => countAttempts(sql, invoiceIds));
  await Promise.all([count(one.id, other.id), count(other.id, one.id), count(one.id)]);
  const { json } = await server.call('GET', `/invoices/${one.id}`);
  expect(json.attempts).toBe(3);
});

test('making a draft invoice again gives the draft that exists', async () => {
  const { id } = await invoiceThatIs(server.sql, scope, 'draft');
  const again = await issue(server.sql, scope, { ...newInvoice({ paymentId: null }), id });
  expect([again.status, again.number]).toEqual(['draft', null]);
});
