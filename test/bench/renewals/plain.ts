// The plain way to renew: one transaction for each subscription, with the best pool size. No
// processor is called, and no allowance is granted.
import { ids } from '../../../src/platform/ids.ts';
import { openPool, type Transaction } from '../../../src/platform/postgres/postgres.ts';
import { metered } from './meter.ts';

export type PlainSettings = {
  readonly databaseUrl: string;
  readonly pool: number;
  readonly count: number;
  /** The parent of all other PostgreSQL processes. */
  readonly postmaster: number;
};

const AMOUNT = 3000n;
// One index for each that the service has and a renewal touches.
const SCHEMA = `
  create table subscriptions (
    id uuid primary key,
    customer_id uuid not null,
    period_end timestamptz not null,
    period_start timestamptz not null,
    amount bigint not null,
    sequence bigint not null
  ) with (fillfactor = 70);
  create index subscriptions_due on subscriptions (period_end);
  create table counters (id int primary key, last bigint not null) with (fillfactor = 10);
  insert into counters values (1, 0);
  create table invoices (
    id uuid primary key,
    number text not null unique,
    status text not null,
    total bigint not null,
    customer_id uuid not null,
    subscription_id uuid not null,
    lines jsonb not null,
    created_at timestamptz not null
  );
  create index invoices_of_customer on invoices (customer_id, created_at);
  create index invoices_of_subscription on invoices (subscription_id, created_at);
  create table charges (
    id uuid primary key,
    invoice_id uuid not null,
    customer_id uuid not null,
    subscription_id uuid not null,
    amount bigint not null,
    status text not null,
    created_at timestamptz not null
  );
  create index charges_of_customer on charges (customer_id, id);
  create index charges_of_invoice on charges (invoice_id);
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

type Subscription = {
  readonly customerId: string;
  readonly amount: bigint;
  readonly sequence: bigint;
  readonly periodEnd: Date;
};

const settings = JSON.parse(process.env['BENCH_PLAIN'] ?? '{}') as PlainSettings;
const { pool, count, postmaster } = settings;
const sql = openPool(settings.databaseUrl, { max: pool, applicationName: 'plain renewals' });

async function renew(transaction: Transaction, id: string): Promise<void> {
  const [subscription] = await transaction<Subscription[]>`
    select customer_id as "customerId", amount, sequence, period_end as "periodEnd"
    from subscriptions where id = ${id} for update`;
  if (subscription === undefined) throw new Error('the subscription is gone');
  const { customerId, amount, sequence, periodEnd: at } = subscription;
  const [invoiceId, chargeId] = [ids.next(), ids.next()];
  const lines = [{ type: 'recurring', description: 'bench', quantity: 1, amount: String(amount) }];
  await transaction`
    update subscriptions set period_start = period_end, period_end = period_end + interval '1 month', sequence = sequence + 1
    where id = ${id}`;
  await transaction`
    insert into charges (id, invoice_id, customer_id, subscription_id, amount, status, created_at)
    values (${chargeId}, ${invoiceId}, ${customerId}, ${id}, ${amount}, 'succeeded', ${at})`;
  const data = {
    subscriptionId: id,
    invoiceId,
    customerId,
    amount: String(amount),
    currency: 'USD',
    lines,
  };
  const events = [
    { id: ids.next(), type: 'invoice.created', object_id: invoiceId, sequence: 1 },
    { id: ids.next(), type: 'invoice.updated', object_id: invoiceId, sequence: 2 },
    { id: ids.next(), type: 'payment.succeeded', object_id: id, sequence: Number(sequence) + 1 },
  ].map((event) => ({ ...event, at: at.toISOString(), data }));
  await transaction`insert into outbox select * from jsonb_populate_recordset(null::outbox, ${transaction.json(events)})`;
  // The counter last: its row lock blocks all other renewals until the commit.
  await transaction`
    with taken as (update counters set last = last + 1 where id = 1 returning last)
    insert into invoices (id, number, status, total, customer_id, subscription_id, lines, created_at)
    select ${invoiceId}, 'INV-2026-' || lpad(last::text, 6, '0'), 'paid', ${amount}, ${customerId}, ${id},
      ${transaction.json(lines)}, ${at} from taken`;
}

await sql.unsafe(SCHEMA);
const due = await sql<{ id: string }[]>`
  insert into subscriptions (id, customer_id, period_start, period_end, amount, sequence)
  select uuidv7(), uuidv7(), now() - interval '31 days', now() - interval '1 hour' * n / ${count}::int, ${AMOUNT}, 2
  from generate_series(1, ${count}::int) n returning id`;
await sql`vacuum analyze`;
const left = due.values();
async function renewSome(): Promise<void> {
  for (const { id } of left) await sql.begin((transaction) => renew(transaction, id));
}
await Promise.all(
  Array.from({ length: pool }, () => sql.begin((transaction) => transaction`select 1`)),
);
const taken = metered({ server: process.pid, postmaster });
await Promise.all(Array.from({ length: pool }, renewSome));
console.log(JSON.stringify(taken(0)));
await sql.end();
