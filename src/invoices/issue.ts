// How an invoice is made: drafted, numbered, announced.
//
// How it works: a number is taken from a counter's row, which a rollback puts back. A transaction
// that takes one holds that row until the commit, so it takes its numbers last, and once.
//
// Holds: the numbers of an organisation's mode have no gap and no repetition, and their dates
// ascend. Seller and buyer are copied when the number is taken, and never change after that.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { assert, must } from '../../ledger/kernel/assert.ts';
import type { Executor, Json, Transaction } from '../platform/postgres/postgres.ts';
import { type RowOfFields, rowsOf } from '../platform/postgres/rows.ts';
import { eventRow, tellOfEvents } from '../records/events.ts';
import { invoiceEvent } from './events.ts';
import {
  type Buyer,
  type Changed,
  echo,
  findInvoice,
  invoiceColumns,
  invoiceOf,
  type InvoiceRecord,
  type InvoiceRow,
  type PlainLine,
  type StoredLine,
  type UsageLine,
} from '../records/invoices.ts';
import { INVOICE_TRANSITIONS } from './transitions.ts';
import { isUuid } from '../records/uuid.ts';

/**
 * An amount is `quantity` times `unitAmount`. A line without a unit, such as a proration, has
 * quantity 1.
 */
export type NewPlainLine = Omit<PlainLine, 'id' | 'amount'>;
export type NewUsageLine = Omit<UsageLine, 'id'>;
export type NewInvoiceLine = NewPlainLine | NewUsageLine;

export type NewInvoice = Pick<
  InvoiceRecord,
  | 'currency'
  | 'discountTotal'
  | 'billingReason'
  | 'customerId'
  | 'subscriptionId'
  | 'checkoutId'
  | 'paymentId'
  | 'periodStart'
  | 'periodEnd'
  | 'dueAt'
> & {
  /** Derived from what is billed, so that the same is billed once. */
  readonly id: string;
  /** The buyer's address is the customer's. */
  readonly buyer: Omit<Buyer, 'address'>;
  /** The total is never negative: excess credit carries over. */
  readonly lines: readonly NewInvoiceLine[];
  /** Attempts to collect it that begin with it; none by default. */
  readonly attempts?: number;
};

export type Issuance = {
  readonly scope: Tenant;
  readonly invoice: NewInvoice;
  /** When it was paid in full. null leaves it open, unless there is nothing to pay. */
  readonly paidAt: Date | null;
  readonly eventId: string;
  readonly now: number;
};

/**
 * Makes a draft: no number, no event. A second call with the same id returns the invoice as it is.
 */
export async function draftInvoice(
  sql: Transaction,
  { scope, invoice, now }: Pick<Issuance, 'scope' | 'invoice' | 'now'>,
): Promise<InvoiceRecord> {
  const unpaid = { status: 'draft', amount_paid: 0n, paid_at: null };
  const row = { ...rowOf({ scope, invoice, now }), ...unpaid, event_id: null, event_data: null };
  const [made] = await sql<InvoiceRow[]>`
    insert into invoices (${columnsOfNew(sql)}, event_sequence, updated_at)
    select ${valuesOfNew(sql)}, 0, i.created_at
    from unnest(${rowsOf(sql, NEW_INVOICE, [row])}::new_invoices[]) as i ${parties(sql)}
    on conflict (id) do nothing returning ${invoiceColumns(sql)}`;
  if (made !== undefined) return invoiceOf(made);
  return must(await findInvoice(sql, scope, invoice.id), 'the invoice with this id, in its scope');
}

/**
 * Issues invoices, numbers and announces them in the order given, for any organisations, in one
 * statement. Call it once in a transaction, and late: all others who issue for them wait for its
 * end. A second call with the same id, even at the same time, leaves the invoice as it is and takes
 * no number.
 */
export async function issueInvoices(
  sql: Transaction,
  issuances: readonly Issuance[],
): Promise<void> {
  if (issuances.length === 0) return;
  // Of one id the first counts.
  const due = new Map(issuances.toReversed().map((one) => [one.invoice.id, one]));
  const inOrder = [...new Set(issuances.map(({ invoice: { id } }) => id))].map((id) =>
    must(due.get(id), 'what is issued'),
  );
  // Who issues the same one waits here, before a number is taken, and then finds it. In one order,
  // so that two never deadlock.
  const sorted = [...due.keys()].toSorted();
  await sql`select pg_advisory_xact_lock(hashtextextended(id, 0)) from unnest(${sorted}::text[]) as id`;
  const issued = await insertIssued(sql, inOrder.map(issuedRowOf));
  for (const { scope, invoice } of inOrder) {
    if (issued.has(invoice.id)) continue;
    must(await findInvoice(sql, scope, invoice.id), 'the invoice with this id, in its scope');
  }
}

/** Issues a draft. Call it last in the transaction. */
export async function finalizeInvoice(
  sql: Transaction,
  scope: Tenant,
  options: { readonly id: string; readonly eventId: string; readonly now: number },
): Promise<Changed | 'not_found'> {
  const { id, eventId, now } = options;
  if (!isUuid(id)) return 'not_found';
  const draft = await freezeParties(sql, scope, id);
  if (draft === null) {
    const invoice = await findInvoice(sql, scope, id);
    if (invoice === null) return 'not_found';
    return { kind: invoice.status === 'open' ? 'done' : 'invalid_state', invoice };
  }
  const at = new Date(Math.max(now, draft.updatedAt.getTime()));
  // Not due before there is an invoice to pay.
  const dueAt = draft.dueAt !== null && draft.dueAt > at ? draft.dueAt : at;
  const invoice = await numberDraft(sql, { draft: { ...draft, dueAt }, eventId, at });
  return { kind: 'done', invoice };
}

const sellerOf = (sql: Executor) => sql`
  s.seller || jsonb_build_object('name', coalesce(s.seller->>'name', s.name, o.name))`;

/** Of `i`, an invoice that is being made. */
const parties = (sql: Executor) => sql`
  join organisations o on o.id = i.organisation_id
  join organisation_settings s on s.organisation_id = i.organisation_id and s.mode = i.mode
  left join customers c on c.id = i.customer_id`;

const columnsOfNew = (sql: Executor) => sql`
  id, organisation_id, mode, status, currency, subtotal, discount_total, tax_total, total, amount_paid, amount_refunded,
  billing_reason, customer_id, subscription_id, checkout_id, payment_id, period_start, period_end, due_at, paid_at, lines,
  attempts, seller, buyer, created_at`;

const valuesOfNew = (sql: Executor) => sql`
  i.id, i.organisation_id, i.mode, i.status, i.currency, i.subtotal, i.discount_total, 0, i.total, i.amount_paid, 0,
  i.billing_reason, i.customer_id, i.subscription_id, i.checkout_id, i.payment_id, i.period_start, i.period_end, i.due_at,
  i.paid_at, i.lines, i.attempts, ${sellerOf(sql)}, i.buyer || jsonb_build_object('address', c.billing_address), i.created_at`;

/** The type `new_invoices`: an invoice, and what announces it. */
const NEW_INVOICE = {
  id: 'uuid',
  organisation_id: 'uuid',
  mode: 'enum',
  status: 'text',
  currency: 'text',
  subtotal: 'bigint',
  discount_total: 'bigint',
  total: 'bigint',
  amount_paid: 'bigint',
  billing_reason: 'text',
  customer_id: 'uuid',
  subscription_id: 'uuid',
  checkout_id: 'uuid',
  payment_id: 'uuid',
  period_start: 'time',
  period_end: 'time',
  due_at: 'time',
  paid_at: 'time',
  lines: 'jsonb',
  attempts: 'integer',
  buyer: 'jsonb',
  created_at: 'time',
  event_id: 'uuid',
  event_data: 'jsonb',
} as const;

type NewRow = RowOfFields<typeof NEW_INVOICE>;

/** A new invoice as it is issued. */
function issuedRowOf(issuance: Issuance): NewRow {
  const { scope, invoice, paidAt: paid, eventId, now } = issuance;
  const row = rowOf(issuance);
  const { total } = row;
  const at = new Date(now);
  const paidAt = total === 0n ? (paid ?? at) : paid;
  const dueAt = invoice.dueAt ?? at;
  const status = paidAt === null ? 'open' : 'paid';
  const amountPaid = paidAt === null ? 0n : total;
  // The statement adds the number and the echo.
  const own = { ...invoice, ...scope, number: null, echo: null, taxTotal: 0n };
  const announced = { ...own, status, total, amountPaid, dueAt } as const;
  return {
    ...row,
    status,
    amount_paid: amountPaid,
    paid_at: paidAt?.getTime() ?? null,
    due_at: dueAt.getTime(),
    event_id: eventId,
    event_data: invoiceEvent(announced, { id: eventId, sequence: 1n, at }).data,
  };
}

function rowOf({ scope, invoice, now }: Pick<Issuance, 'scope' | 'invoice' | 'now'>) {
  const { id, discountTotal } = invoice;
  const { name, email, externalCustomerId } = invoice.buyer;
  const lines = invoice.lines.map((line, index) => storedLine(line, `${id}-${index + 1}`));
  const subtotal = lines.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  assert(lines.length > 0, 'an invoice has a line');
  assert(discountTotal >= 0n && discountTotal <= subtotal, 'a total is never negative');
  return {
    id,
    organisation_id: scope.organisationId,
    mode: scope.mode,
    currency: invoice.currency,
    subtotal,
    discount_total: discountTotal,
    total: subtotal - discountTotal,
    billing_reason: invoice.billingReason,
    customer_id: invoice.customerId,
    subscription_id: invoice.subscriptionId,
    checkout_id: invoice.checkoutId,
    payment_id: invoice.paymentId,
    period_start: invoice.periodStart?.getTime() ?? null,
    period_end: invoice.periodEnd?.getTime() ?? null,
    due_at: invoice.dueAt?.getTime() ?? null,
    lines,
    attempts: invoice.attempts ?? 0,
    buyer: { name, email, externalCustomerId },
    created_at: now,
  };
}

function storedLine(line: NewInvoiceLine, id: string): StoredLine {
  if (!('unitAmount' in line)) {
    assert(line.type !== 'usage' || line.amount >= 0n, 'usage is not given back');
    const money = { amount: String(line.amount), billed: String(line.billed) };
    return { ...line, ...money, id, period: storedPeriod(line.period) };
  }
  const { type, description, quantity, unitAmount, period } = line;
  assert(Number.isSafeInteger(quantity) && quantity > 0, 'a quantity counts');
  assert(!['fixed', 'recurring'].includes(type) || unitAmount >= 0n, 'a price is not negative');
  assert(period === null || period.start < period.end, 'a period has a length');
  return {
    id,
    type,
    description,
    quantity,
    unitAmount: String(unitAmount),
    amount: String(unitAmount * BigInt(quantity)),
    period: period && storedPeriod(period),
  };
}

function storedPeriod({ start, end }: { readonly start: Date; readonly end: Date }) {
  return { start: start.toISOString(), end: end.toISOString() };
}

/** The draft, locked, with seller and buyer as they are now; null where it is not a draft. */
async function freezeParties(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  id: string,
): Promise<InvoiceRecord | null> {
  const [row] = await sql<InvoiceRow[]>`
    update invoices i set
      seller = (select ${sellerOf(sql)} from organisations o join organisation_settings s on s.organisation_id = o.id
        where o.id = i.organisation_id and s.mode = i.mode),
      buyer = i.buyer || coalesce((select jsonb_build_object('name', c.name, 'email', c.email,
        'externalCustomerId', c.external_customer_id, 'address', c.billing_address)
        from customers c where c.id = i.customer_id), '{}')
    where organisation_id = ${organisationId} and mode = ${mode} and id = ${id}
      and status = any(${[...INVOICE_TRANSITIONS.finalize.from]})
    returning ${invoiceColumns(sql)}`;
  return row === undefined ? null : invoiceOf(row);
}

type Numbering = {
  readonly draft: InvoiceRecord;
  readonly eventId: string;
  readonly at: Date;
};

/** Issues a draft that is locked. */
async function numberDraft(
  sql: Transaction,
  { draft, eventId, at }: Numbering,
): Promise<InvoiceRecord> {
  // What costs nothing is paid.
  const paidAt = draft.total === 0n ? at : null;
  const status = paidAt === null ? 'open' : 'paid';
  const issued = { ...draft, status, amountPaid: 0n, paidAt } as const;
  const row = {
    id: issued.id,
    organisation_id: issued.organisationId,
    mode: issued.mode,
    at: at.toISOString(),
    invoice: {
      status,
      paid_at: paidAt?.toISOString() ?? null,
      due_at: issued.dueAt?.toISOString() ?? null,
    },
    event: eventRow(invoiceEvent(issued, { id: eventId, sequence: 1n, at })),
  };
  const [taken] = await sql<{ number: string; issuedAt: Date }[]>`
    ${numbering(sql, draftsOf(sql, row))}, announced as (
      insert into events (${eventColumns(sql)}) select ${eventValues(sql)}, e.data || jsonb_build_object('number', n.number)
      from numbered n, jsonb_populate_record(null::events, n.event) as e
    )
    update invoices i set number = n.number, status = f.status, paid_at = f.paid_at, due_at = f.due_at,
      issued_at = n.issued_at, event_sequence = 1, updated_at = n.at
    from numbered n cross join lateral jsonb_populate_record(null::invoices, n.invoice) as f
    where i.id = n.id returning i.number, i.issued_at as "issuedAt"`;
  tellOfEvents(sql);
  return { ...issued, ...must(taken, 'the number of a draft'), updatedAt: at };
}

/** The ids of those that were not there. */
async function insertIssued(
  sql: Transaction,
  rows: readonly NewRow[],
): Promise<ReadonlySet<string>> {
  const asked = sql`
    select d.*, d.created_at as at, d.ordinality as place
    from unnest(${rowsOf(sql, NEW_INVOICE, rows)}::new_invoices[]) with ordinality as d
    where not exists (select from invoices known where known.id = d.id)`;
  const issued = await sql<{ id: string }[]>`
    ${numbering(sql, asked)}, announced as (
      insert into events (${eventColumns(sql)})
      select i.event_id, i.organisation_id, i.mode, 'invoice.created', 'INVOICE', i.id, i.customer_id, 1, i.at,
        i.event_data || jsonb_build_object('number', i.number) || ${echo(sql)}
      from numbered i
    )
    insert into invoices (${columnsOfNew(sql)}, number, issued_at, event_sequence, updated_at)
    select ${valuesOfNew(sql)}, i.number, i.issued_at, 1, i.at from numbered i ${parties(sql)}
    returning id`;
  tellOfEvents(sql);
  return new Set(issued.map(({ id }) => id));
}

/** A draft as it is issued, and its event. */
const draftsOf = (sql: Executor, draft: Json) => sql`
  select d.*, 1 as place from jsonb_to_record(${sql.json(draft)})
    as d (id uuid, organisation_id uuid, mode mode, at timestamptz, invoice jsonb, event jsonb)`;

const eventColumns = (sql: Executor) => sql`
  id, organisation_id, mode, type, object_type, object_id, account_id, sequence, at, data`;
const eventValues = (sql: Executor) => sql`
  e.id, e.organisation_id, e.mode, e.type, e.object_type, e.object_id, e.account_id, e.sequence, e.at`;

/**
 * The start of a statement that issues: it takes the numbers. All others who issue for the
 * organisation wait from here to the commit.
 *
 * - `drafts`: in the order of their `place`. `nth` counts them within their organisation and mode;
 *   none is issued before an earlier one.
 * - `counters`: each moves on by the number of its drafts, once. `previously` is when it last gave
 *   a number.
 * - `counted`: each draft's place in its counter, and when it is issued: never before the invoice
 *   with the number before it.
 * - `numbered`: the place as a number, with the year.
 */
function numbering(sql: Transaction, drafts: ReturnType<typeof draftsOf>) {
  return sql`
    with drafts as (
      select d.*, row_number() over so_far as nth, max(at) over so_far as latest from (${drafts}) as d
      window so_far as (partition by organisation_id, mode order by place)
    ), counters as (
      insert into invoice_counters as counter (organisation_id, mode, last, issued_at)
      select organisation_id, mode, count(*), max(at) from drafts group by organisation_id, mode order by organisation_id, mode
      on conflict (organisation_id, mode) do update set last = counter.last + excluded.last,
        issued_at = greatest(counter.issued_at, excluded.issued_at)
      returning organisation_id, mode, last, old.issued_at as previously
    ), counted as (
      select d.*, c.last - count(*) over (partition by d.organisation_id, d.mode) + d.nth as place_in_counter,
        greatest(d.latest, c.previously) as issued_at
      from drafts d join counters c on c.organisation_id = d.organisation_id and c.mode = d.mode
    ), numbered as (
      select *, 'INV-' || to_char(issued_at at time zone 'UTC', 'FMYYYY') || '-'
        || lpad(place_in_counter::text, greatest(length(place_in_counter::text), 6), '0') as number
      from counted
    )`;
}
