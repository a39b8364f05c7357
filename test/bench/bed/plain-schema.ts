// The tables of the plain way, and their rows before the measurement.
import type { Sql } from 'postgres';
import { parseMoney } from '../../../ledger/kernel/money.ts';
import SANDBOX_SCHEMA from '../../../src/database/migrations/004.do.sandbox.sql' with { type: 'text' };
import type { Shape } from '../generator/plan.ts';
import { CURRENCY, PAYMENTS, PRICE } from '../generator/workload.ts';
import type { Traces } from '../probes/database.ts';

// As in the service: room for an updated row on the same page, so that no index is touched.
export const USAGE_SCHEMA = `
  create table customers (
    id uuid primary key default uuidv7(),
    external_id text not null unique,
    granted bigint not null,
    consumed bigint not null default 0
  ) with (fillfactor = 50);
  create table events (
    id uuid primary key,
    customer_id uuid not null,
    value bigint not null,
    at timestamptz not null default now()
  );`;

/**
 * One index for each that the service has and a refund or a checkout touches. The processor's
 * tables are the service's own.
 */
const MONEY_SCHEMA = `
  create table products (
    id uuid primary key default uuidv7(),
    name text not null,
    status text not null,
    amount bigint not null,
    currency text not null,
    type text not null
  );
  create table checkouts (
    id uuid primary key,
    token text not null unique,
    product_id uuid not null references products,
    status text not null,
    type text not null,
    customer_email text,
    customer_name text,
    external_customer_id text,
    client_reference_id text,
    metadata jsonb not null,
    success_url text,
    cancel_url text,
    amount bigint not null,
    currency text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null
  );
  create table invoices (
    id uuid primary key default uuidv7(),
    total bigint not null,
    amount_refunded bigint not null default 0,
    sequence bigint not null default 1,
    updated_at timestamptz not null default now()
  ) with (fillfactor = 50);
  create table payments (
    id uuid primary key default uuidv7(),
    invoice_id uuid not null references invoices,
    status text not null default 'succeeded',
    amount bigint not null,
    currency text not null,
    refunded bigint not null default 0,
    reserved bigint not null default 0,
    sequence bigint not null default 1,
    check (refunded >= 0 and reserved >= 0 and refunded + reserved <= amount)
  ) with (fillfactor = 50);
  create table refunds (
    id uuid primary key,
    payment_id uuid not null references payments,
    amount bigint not null,
    currency text not null,
    status text not null,
    reason text not null,
    processor_reference text,
    created_at timestamptz not null,
    settled_at timestamptz
  ) with (fillfactor = 70);
  create index refunds_of_payment on refunds (payment_id, id);
  create index refunds_open on refunds (created_at) where status = 'pending';
  create table outbox (
    id uuid primary key,
    type text not null,
    object_id uuid not null,
    sequence bigint not null,
    at timestamptz not null,
    data jsonb not null,
    unique (object_id, sequence)
  );
  create index outbox_listed on outbox (at desc, id desc);`;

const USAGE: Traces = { rows: 'events', flushed: false };

export const TRACES: Readonly<Record<Shape, Traces>> = {
  check: USAGE,
  track: USAGE,
  ingest: USAGE,
  mixed: USAGE,
  refund: { rows: 'refunds', flushed: false },
  checkout: { rows: 'checkouts', flushed: false },
};

/** A product, and payments for it. */
export async function seedMoney(
  sql: Sql,
): Promise<{ readonly product: string; readonly payments: readonly string[] }> {
  await sql.unsafe(MONEY_SCHEMA);
  await sql.unsafe(SANDBOX_SCHEMA);
  const amount = String(parseMoney(PRICE, CURRENCY));
  const [product] = await sql<{ id: string }[]>`
    insert into products (name, status, amount, currency, type)
    values ('bench', 'active', ${amount}, ${CURRENCY}, 'one_time') returning id`;
  const payments = await sql<{ id: string }[]>`
    with issued as (
      insert into invoices (total) select ${amount} from generate_series(1, ${PAYMENTS}) returning id
    )
    insert into payments (invoice_id, amount, currency) select id, ${amount}, ${CURRENCY} from issued returning id`;
  await sql`
    insert into sandbox_charges (key, status, amount, currency, method, refunds, created_at)
    select id::text, 'succeeded', amount, currency, '{}', 'succeed', now() from payments`;
  await sql`vacuum analyze payments, invoices, sandbox_charges`;
  return { product: product?.id ?? '', payments: payments.map(({ id }) => id) };
}
