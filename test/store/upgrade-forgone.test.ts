// What was given back of a change that was taken back is known at the upgrade by the id of its refund;
// a refund by hand of a change that began says nothing of it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { FreshDatabase } from '../support/database.ts';
import { databaseBefore } from './before.ts';

const VERSION = 200;
const AT = '2026-03-01T00:00:00.000Z';
const REFUNDED = new Date('2026-03-04T05:06:07.008Z');

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 1, applicationName: 'test upgrade' });
  // Its organization, subscription and payment are not looked at.
  await sql`set session_replication_role = replica`;
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

/** An invoice that is paid by a payment, of which 5.00 were refunded under an id. Returns its id. */
async function refunded(reason: string, refundOf: (paymentId: string) => string): Promise<string> {
  const [id, payment, organisation] = [ids.next(), ids.next(), ids.next()];
  const tenant = { organisation_id: organisation, mode: 'test', currency: 'USD' };
  const invoice = {
    id,
    ...tenant,
    number: `INV-${id}`,
    status: 'paid',
    subtotal: 500,
    discount_total: 0,
    tax_total: 0,
    total: 500,
    amount_paid: 500,
    amount_refunded: 500,
    billing_reason: reason,
    payment_id: payment,
    issued_at: AT,
    paid_at: AT,
    lines: '[]',
    seller: '{}',
    buyer: '{}',
    event_sequence: 1,
    created_at: AT,
    updated_at: AT,
  };
  const refund = {
    slot: 1,
    id: refundOf(payment),
    payment_id: payment,
    ...tenant,
    amount: 500,
    status: 'succeeded',
    reason: 'requested_by_customer',
    asks: 1,
    created_at: REFUNDED,
    settled_at: REFUNDED,
  };
  await sql`insert into invoices ${sql(invoice)}`;
  await sql`insert into refunds ${sql(refund)}`;
  return id;
}

test('an upgrade knows which changes were taken back and given back', async () => {
  const givenBack = (payment: string) => ids.derive('refund', 'given back', payment);
  const all = new Map<string, Date | null>();
  // The variant of an id is made of a digit of its hash: each of the four comes up.
  for (let n = 0; n < 40; n += 1) {
    all.set(await refunded('subscription_update', givenBack), REFUNDED);
  }
  all.set(await refunded('subscription_resume', givenBack), REFUNDED);
  all.set(await refunded('subscription_update', () => ids.next()), null);
  all.set(await refunded('subscription_update', () => ids.derive('refund', 'keyed')), null);
  await migrate(database.url);
  const rows = await sql<{ id: string; at: Date | null }[]>`
    select id, forgone_at as at from invoices`;
  expect(new Map(rows.map(({ id, at }) => [id, at]))).toEqual(all);
});
