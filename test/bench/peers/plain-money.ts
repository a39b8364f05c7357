// The plain way for money: a refund locks the row of its payment twice, and calls the processor in
// between; a checkout is a row. The steps are ours, each durable before the next: reserved,
// refunded by the processor, then posted and announced.
import type { Static } from '@sinclair/typebox';
import { formatMoney, parseMoney } from '../../../ledger/kernel/money.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openPool, type Transaction } from '../../../src/platform/postgres/postgres.ts';
import { newToken } from '../../../src/platform/crypto/tokens.ts';
import { CheckoutCreate, fromCheckout } from '../../../src/http/wire/checkouts.ts';
import { fromRefund, RefundCreate } from '../../../src/http/wire/payments.ts';
import { openSandbox } from '../../../src/processors/sandbox.ts';
import type { CheckoutRecord } from '../../../src/records/checkouts.ts';
import type { RefundRecord } from '../../../src/records/payments.ts';
import { openDoor, peerSettings, refusal, serveUntilBenchEnds } from './door.ts';

const CHECKOUT_MS = 86_400_000;

const settings = peerSettings();
// Single statements and transactions use separate connections.
const sql = openPool(settings.databaseUrl, { max: settings.pool, applicationName: 'plain money' });
const processor = openSandbox({ sql, timers, settleMs: 0, origin: '', challengeUrl: () => '' })(
  clock,
);

type Payment = Record<'amount' | 'refunded' | 'reserved' | 'sequence', bigint> & {
  readonly invoiceId: string;
  readonly currency: string;
};

async function refund(
  paymentId: string,
  { amount: asked = '', reason = 'requested_by_customer' }: Static<typeof RefundCreate>,
): Promise<RefundRecord | null> {
  const id = ids.next();
  const createdAt = new Date(clock.now());
  const reserved = await sql.begin(async (transaction) => {
    const [payment] = await transaction<Payment[]>`
      select amount, refunded, reserved, currency from payments where id = ${paymentId} for update`;
    if (payment === undefined) return null;
    const { currency } = payment;
    const amount = parseMoney(asked, currency);
    if (typeof amount === 'string') return null;
    if (amount > payment.amount - payment.refunded - payment.reserved) return null;
    await transaction`update payments set reserved = reserved + ${amount} where id = ${paymentId}`;
    await transaction`
      insert into refunds (id, payment_id, amount, currency, status, reason, created_at)
      values (${id}, ${paymentId}, ${amount}, ${currency}, 'pending', ${reason}, ${createdAt})`;
    return { amount, currency };
  });
  if (reserved === null) return null;
  const { amount, currency } = reserved;
  const answer = await processor.refund({ key: id, chargeKey: paymentId, amount, currency });
  if (answer.kind !== 'succeeded') throw new Error(`the processor said ${answer.kind}`);
  const settledAt = new Date(clock.now());
  const made = { id, paymentId, amount, currency, reason, createdAt, settledAt };
  await sql.begin((transaction) => post(transaction, made, answer.reference));
  return { ...made, status: 'succeeded', failureReason: null };
}

async function post(
  transaction: Transaction,
  { id, paymentId, amount, currency, settledAt }: Omit<RefundRecord, 'status' | 'failureReason'>,
  reference: string,
): Promise<void> {
  const [payment] = await transaction<Payment[]>`
    update payments set reserved = reserved - ${amount}, refunded = refunded + ${amount}, sequence = sequence + 1,
      status = case when refunded + ${amount} < amount then 'partially_refunded' else 'refunded' end
    where id = ${paymentId} returning amount, refunded, reserved, sequence, invoice_id as "invoiceId"`;
  if (payment === undefined) throw new Error('the payment is gone');
  await transaction`
    update refunds set status = 'succeeded', settled_at = ${settledAt}, processor_reference = ${reference}
    where id = ${id}`;
  const refunded = {
    paymentId,
    refundId: id,
    amount: formatMoney(amount, currency),
    currency,
    amountRefundedTotal: formatMoney(payment.refunded, currency),
    refundableAmount: formatMoney(payment.amount - payment.refunded - payment.reserved, currency),
  };
  await transaction`
    insert into outbox (id, type, object_id, sequence, at, data)
    values (${ids.next()}, 'payment.refunded', ${paymentId}, ${payment.sequence}, ${settledAt},
      ${transaction.json(refunded)})`;
  const [invoice] = await transaction<{ total: bigint; sequence: bigint }[]>`
    update invoices set amount_refunded = amount_refunded + ${amount}, sequence = sequence + 1, updated_at = ${settledAt}
    where id = ${payment.invoiceId} returning total, sequence`;
  if (invoice === undefined) throw new Error('the invoice is gone');
  const adjusted = {
    invoiceId: payment.invoiceId,
    refundId: id,
    amount: formatMoney(invoice.total, currency),
    amountDelta: formatMoney(amount, currency),
    currency,
  };
  await transaction`
    insert into outbox (id, type, object_id, sequence, at, data)
    values (${ids.next()}, 'invoice.updated', ${payment.invoiceId}, ${invoice.sequence}, ${settledAt},
      ${transaction.json(adjusted)})`;
}

type Product = Pick<CheckoutRecord, 'type' | 'amount' | 'currency'>;

async function openCheckout(body: Static<typeof CheckoutCreate>): Promise<CheckoutRecord | null> {
  const [product] = await sql<Product[]>`
    select type, amount, currency from products where id = ${body.product_id} and status = 'active'`;
  if (product === undefined) return null;
  const now = clock.now();
  const [row] = await sql<CheckoutRecord[]>`
    insert into checkouts (id, token, product_id, status, type, customer_email, customer_name, external_customer_id,
      client_reference_id, metadata, success_url, cancel_url, amount, currency, created_at, expires_at)
    values (${ids.next()}, ${newToken()}, ${body.product_id}, 'active', ${product.type}, ${body.customer_email},
      ${body.customer_name ?? null}, ${body.external_customer_id ?? null}, ${body.client_reference_id ?? null},
      ${sql.json(body.metadata ?? {})}, ${body.success_url ?? null}, ${body.cancel_url ?? null}, ${product.amount},
      ${product.currency}, ${new Date(now)}, ${new Date(now + CHECKOUT_MS)})
    returning id, token, product_id as "productId", status, type, customer_email as "customerEmail",
      customer_name as "customerName", external_customer_id as "externalCustomerId",
      client_reference_id as "clientReferenceId", metadata, success_url as "successUrl", cancel_url as "cancelUrl",
      amount, currency, created_at as "createdAt", expires_at as "expiresAt", null as "paidAt"`;
  return row ?? null;
}

const { app, letsIn } = openDoor(settings);
app
  .post(
    '/payments/:id/refund',
    async ({ request, params, body }) => {
      if (!letsIn(request)) return refusal();
      const made = await refund(params.id, body);
      return made === null
        ? Response.json({ error: { type: 'validation_error' } }, { status: 400 })
        : fromRefund(made);
    },
    { parse: 'json', body: RefundCreate },
  )
  .post(
    '/checkouts',
    async ({ request, body }) => {
      if (!letsIn(request)) return refusal();
      const opened = await openCheckout(body);
      return opened === null
        ? Response.json({ error: { type: 'not_found' } }, { status: 404 })
        : Response.json(fromCheckout(opened, 'http://localhost/pay'), { status: 201 });
    },
    { parse: 'json', body: CheckoutCreate },
  );
// It connects before the first request: under load a pool's first connection would time out after a
// second.
await Promise.all(
  Array.from({ length: settings.pool }, () =>
    Promise.all([sql`select 1`, sql.begin((transaction) => transaction`select 1`)]),
  ),
);
await serveUntilBenchEnds(app, settings);
