// Disputes, from the processor to the payment, its invoice and its events.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { loadPayments } from '../../ledger/store/load-payments.ts';
import { UNHURRIED } from '../support/settling.ts';
import { until } from '../support/until.ts';
import { type Envelope, PATIENCE_MS, type Payment, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ settings: () => UNHURRIED });
});
afterAll(() => shop.close());

const scope = () => ({ organisationId: shop.server.organisation.id, mode: 'test' as const });

const disputed = (paymentId: string) => shop.server.payments.pollDisputes(scope(), paymentId);

async function disputeThatIs(status: string, id: string): Promise<Payment> {
  const read = async () => (await shop.payment(id)).disputes?.[0];
  await until(`a dispute ${status}`, async () => (await read())?.status === status);
  return shop.payment(id);
}

const told = (events: readonly Envelope[]) =>
  events
    .filter(({ type }) => type === 'payment.disputed')
    .map(({ data }) => [data.status, data.amount, data.amountChargedBack, data.refundableAmount]);

/** The books of the sandbox say that this much of the charge is disputed so. */
async function disputeAtTheBank(id: string, ends: 'won' | 'lost', inMs: number): Promise<void> {
  await shop.server.sql`
    update sandbox_charges set dispute = ${ends}, dispute_ends_at = now() + ${inMs} * interval '1 ms'
    where key = ${id}`;
}

describe('a dispute of a card payment', () => {
  test('that is lost is held, then taken off the payment, and shown on the invoice', async () => {
    const { id, invoice_id } = await shop.buy({ means: 'disputedLost' });
    const opened = await shop.payment(id);
    expect(opened).toMatchObject({
      status: 'succeeded',
      amount_refunded: '0.00',
      amount_refund_pending: '0.00',
      refundable_amount: '0.00',
      disputes: [
        {
          status: 'opened',
          amount: '100.00',
          amount_held: '100.00',
          amount_charged_back: '0.00',
          reason: 'fraudulent',
          reference: `sandbox_dispute_${id}`,
          closed_at: null,
        },
      ],
    });
    const refused = await shop.refund(id, { amount: '1' });
    expect([refused.status, refused.json.error.type]).toEqual([400, 'validation_error']);
    expect(refused.json.error.message).toContain('disputed');
    await shop.settle();
    const lost = await disputeThatIs('lost', id);
    expect(lost).toMatchObject({
      status: 'succeeded',
      amount_refunded: '0.00',
      refundable_amount: '0.00',
      disputes: [{ id: opened.disputes[0].id, amount_held: '0.00', amount_charged_back: '100.00' }],
    });
    expect(lost.disputes[0].closed_at).not.toBeNull();
    expect((await shop.refund(id)).status).toBe(400);
    expect(told(await shop.events(id, 3))).toEqual([
      ['opened', '100.00', '0.00', '0.00'],
      ['lost', '100.00', '100.00', '0.00'],
    ]);
    const [, updated] = await shop.events(invoice_id, 2);
    expect(updated).toMatchObject({
      type: 'invoice.updated',
      data: {
        change: 'adjusted',
        status: 'paid',
        refundId: null,
        disputeId: opened.disputes[0].id,
        amountDelta: '100.00',
      },
    });
    expect(await shop.read(`/invoices/${invoice_id}`)).toMatchObject({
      status: 'paid',
      amount_paid: '100.00',
      amount_due: '0.00',
      amount_refunded: '0.00',
      amount_charged_back: '100.00',
    });
  });

  test('that is won is held, and can be refunded again', async () => {
    const { id, invoice_id } = await shop.buy({ means: 'disputedWon' });
    expect((await shop.refund(id)).status).toBe(400);
    await shop.settle();
    const won = await disputeThatIs('won', id);
    expect(won).toMatchObject({ status: 'succeeded', refundable_amount: '100.00' });
    expect(told(await shop.events(id, 3))).toEqual([
      ['opened', '100.00', '0.00', '0.00'],
      ['won', '100.00', '0.00', '100.00'],
    ]);
    await shop.events(invoice_id, 1);
    expect(await shop.read(`/invoices/${invoice_id}`)).not.toHaveProperty('amount_charged_back');
    expect((await shop.refund(id)).json.status).toBe('succeeded');
  });

  test('a payment without a dispute has no fields of one', async () => {
    expect(await shop.buy()).not.toHaveProperty('disputes');
  });
});

describe('a webhook about a dispute', () => {
  test('makes the service ask the processor, and record the dispute once', async () => {
    const { id } = await shop.buy();
    expect(await disputed(id)).toEqual({ kind: 'asked', changed: [], refused: [] });
    expect((await shop.refund(id, { amount: '30' })).json.status).toBe('succeeded');
    await disputeAtTheBank(id, 'lost', 3_600_000);
    const replies = await Promise.all([disputed(id), disputed(id), disputed(id)]);
    expect(replies.flatMap((reply) => (reply.kind === 'asked' ? reply.changed : []))).toHaveLength(
      1,
    );
    // 30.00 were refunded before: there is no more to hold.
    expect(await shop.payment(id)).toMatchObject({
      status: 'partially_refunded',
      refundable_amount: '0.00',
      disputes: [{ amount: '100.00', amount_held: '70.00' }],
    });
    await disputeAtTheBank(id, 'lost', 0);
    await disputed(id);
    expect(await shop.payment(id)).toMatchObject({
      status: 'partially_refunded',
      amount_refunded: '30.00',
      disputes: [{ status: 'lost', amount: '100.00', amount_charged_back: '70.00' }],
    });
    await shop.events(id, 4);
    const { invoice_id } = await shop.payment(id);
    await shop.events(invoice_id, 3);
    expect(await shop.read(`/invoices/${invoice_id}`)).toMatchObject({
      amount_refunded: '30.00',
      amount_charged_back: '70.00',
    });
  });

  test('is ignored for a payment that is unknown, of another tenant, or no id at all', async () => {
    const { id } = await shop.buy();
    const { payments } = shop.server;
    for (const [tenant, paymentId] of [
      [scope(), crypto.randomUUID()],
      [{ ...scope(), mode: 'live' as const }, id],
      [scope(), 'no id'],
    ] as const) {
      expect(await payments.pollDisputes(tenant, paymentId)).toEqual({ kind: 'not_found' });
    }
  });

  test('before the answer to the charge looks up the charge first', async () => {
    const session = await shop.checkout();
    await shop.pay(session, { means: 'answerLost' });
    const { id, status } = await shop.lastOf(session);
    expect(status).toBe('processing');
    await disputeAtTheBank(id, 'won', 3_600_000);
    await disputed(id);
    expect(await shop.payment(id)).toMatchObject({
      status: 'succeeded',
      disputes: [{ status: 'opened', amount_held: '100.00' }],
    });
  });

  test('while a bank debit settles holds nothing, as nothing is captured', async () => {
    const { id } = await shop.buy({ means: 'iban' });
    expect(await disputed(id)).toEqual({ kind: 'asked', changed: [], refused: [] });
    expect(await shop.payment(id)).not.toHaveProperty('disputes');
    await shop.settle();
    await shop.paymentThatIs('succeeded', id);
  });
});

test('refunds and a dispute at once: what is refunded is not held too', async () => {
  const { id } = await shop.buy();
  const refund = (_: unknown, nth: number) =>
    shop.refundWithKey(`at once ${nth}`, id, { amount: '15' });
  const before = Array.from({ length: 3 }, refund);
  const dispute = disputeAtTheBank(id, 'lost', 0).then(() => disputed(id));
  const after = Array.from({ length: 6 }, (_, nth) => refund(_, nth + 3));
  const replies = await Promise.all([...before, ...after]);
  await dispute;
  const made = replies.filter(({ json }) => json.status === 'succeeded').length;
  const { amount_refunded, refundable_amount, disputes } = await shop.payment(id);
  expect(amount_refunded).toBe(`${made * 15}.00`);
  expect(refundable_amount).toBe('0.00');
  expect(disputes[0].amount_charged_back).toBe(`${100 - made * 15}.00`);
  for (const { status, json } of replies) {
    const why = json.error?.message ?? json.failure_reason ?? '';
    expect(json.status === 'succeeded' || /disputed|left to refund/.test(why)).toBe(true);
    expect([200, 400]).toContain(status);
  }
});

test('a dispute whose processor does not answer stays held, and is looked up later', async () => {
  const { sql } = shop.server;
  const { id } = await shop.buy({ means: 'disputedWon' });
  await sql`alter table sandbox_charges rename to sandbox_charges_gone`;
  try {
    expect(await disputed(id)).toEqual({ kind: 'unknown' });
    expect((await shop.payment(id)).disputes[0].status).toBe('opened');
  } finally {
    await sql`alter table sandbox_charges_gone rename to sandbox_charges`;
  }
  await shop.settle();
  await disputeThatIs('won', id);
});

test('a refund that fails late, after its payment was disputed and lost, gives nothing back', async () => {
  const { id } = await shop.buy({ means: 'refundFailsLate' });
  expect((await shop.refund(id)).json.status).toBe('succeeded');
  await disputeAtTheBank(id, 'lost', 0);
  await disputed(id);
  expect(await shop.payment(id)).toMatchObject({
    status: 'refunded',
    disputes: [{ status: 'lost', amount_charged_back: '0.00' }],
  });
  await shop.settle();
  await shop.paymentThatIs('succeeded', id);
  const { invoice_id, ...payment } = await shop.payment(id);
  // The refund came back, and the dispute took it: nothing is left to refund.
  expect(payment).toMatchObject({
    amount_refunded: '0.00',
    refundable_amount: '0.00',
    disputes: [{ status: 'lost', amount_charged_back: '100.00' }],
  });
  await shop.events(must(invoice_id, 'its invoice'), 4);
  expect(await shop.read(`/invoices/${invoice_id}`)).toMatchObject({
    amount_refunded: '0.00',
    amount_charged_back: '100.00',
  });
});

test('a reloaded actor has the payment as it was, whatever became of its disputes', async () => {
  const { sql, ledger, organisation } = shop.server;
  const rows = await sql<{ id: string }[]>`
    select distinct payment_id as id from disputes join payments p on p.id = payment_id
    where p.organisation_id = ${organisation.id}`;
  expect(rows.length).toBeGreaterThan(4);
  const loaded = await loadPayments(
    sql,
    slotOf,
    rows.map(({ id }) => id),
  );
  for (const state of loaded) {
    const left = await ledger.payments.load(state.payment.id);
    expect(state.account).toEqual(left.account);
    const inOrder = [...left.disputes.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect([...state.disputes.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      inOrder,
    );
  }
});
