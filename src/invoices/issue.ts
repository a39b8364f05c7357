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
import { eventRow } from '../records/events.ts';
import { invoiceEvent } from './events.ts';
import {
  type Buyer,
  type Changed,
  findInvoice,
  invoiceColumns,
  type InvoiceLine,
  invoiceOf,
  type InvoiceRecord,
  type InvoiceRow,
  type StoredLine,
} from '../records/invoices.ts';
import { INVOICE_TRANSITIONS } from './transitions.ts';
import { isUuid } from '../records/uuid.ts';

/**
 * An amount is `quantity` times `unitAmount`. A line without a unit, such as a proration, has
 * quantity 1.
 */
export type NewInvoiceLine = Omit<InvoiceLine, 'id' | 'amount'>;

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
  const [made] = await insertDrafts(sql, [{ scope, invoice, now }]);
  if (made !== undefined) return made;
  return must(await findInvoice(sql, scope, invoice.id), 'the invoice with this id, in its scope');
}

/**
 * Issues invoices, numbers and announces them in the order given, for any organisations. Call it
 * last in the transaction. A second call with the same id, even at the same time, returns the
 * invoice as it is and takes no number.
 */
export async function issueInvoices(
  sql: Transaction,
  issuances: readonly Issuance[],
): Promise<InvoiceRecord[]> {
  const drafts = new Map((await insertDrafts(sql, issuances)).map((draft) => [draft.id, draft]));
  const due: Numbering[] = [];
  for (const { invoice, paidAt, eventId, now } of issuances) {
    const draft = drafts.get(invoice.id);
    if (draft === undefined) continue;
    due.push({ draft, paidAt, eventId, at: new Date(now) });
    drafts.delete(invoice.id);
  }
  const issued = new Map((await numberDrafts(sql, due)).map((invoice) => [invoice.id, invoice]));
  return Promise.all(
    issuances.map(async ({ scope, invoice: { id } }) =>
      must(
        issued.get(id) ?? (await findInvoice(sql, scope, id)),
        'the invoice with this id, in its scope',
      ),
    ),
  );
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
  const numbering = { draft: { ...draft, dueAt }, paidAt: null, eventId, at };
  const [issued] = await numberDrafts(sql, [numbering]);
  return { kind: 'done', invoice: must(issued, 'the invoice that was a draft') };
}

const sellerOf = (sql: Executor) => sql`
  s.seller || jsonb_build_object('name', coalesce(s.seller->>'name', s.name, o.name))`;

/**
 * Returns the new ones. A conflict waits for the transaction that is making the same invoice,
 * before a number is taken. In one order, so that two never deadlock.
 */
async function insertDrafts(
  sql: Transaction,
  drafts: readonly Pick<Issuance, 'scope' | 'invoice' | 'now'>[],
): Promise<InvoiceRecord[]> {
  const rows = await sql<InvoiceRow[]>`
    insert into invoices (id, organisation_id, mode, status, currency, subtotal, discount_total, tax_total, total, amount_paid,
      amount_refunded, billing_reason, customer_id, subscription_id, checkout_id, payment_id, period_start, period_end, due_at,
      lines, attempts, seller, buyer, event_sequence, created_at, updated_at)
    select i.id, i.organisation_id, i.mode, 'draft', currency, subtotal, discount_total, 0, total, 0, 0, billing_reason,
      customer_id, subscription_id, checkout_id, payment_id, period_start, period_end, due_at, lines, i.attempts, ${sellerOf(sql)},
      i.buyer || jsonb_build_object('address', c.billing_address), 0, i.created_at, i.created_at
    from jsonb_populate_recordset(null::invoices, ${sql.json(drafts.map(rowOf))}) as i
    join organisations o on o.id = i.organisation_id
    join organisation_settings s on s.organisation_id = i.organisation_id and s.mode = i.mode
    left join customers c on c.id = i.customer_id
    order by i.id
    on conflict (id) do nothing returning ${invoiceColumns(sql)}`;
  return rows.map(invoiceOf);
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
    subtotal: String(subtotal),
    discount_total: String(discountTotal),
    total: String(subtotal - discountTotal),
    billing_reason: invoice.billingReason,
    customer_id: invoice.customerId,
    subscription_id: invoice.subscriptionId,
    checkout_id: invoice.checkoutId,
    payment_id: invoice.paymentId,
    period_start: invoice.periodStart?.toISOString() ?? null,
    period_end: invoice.periodEnd?.toISOString() ?? null,
    due_at: invoice.dueAt?.toISOString() ?? null,
    lines,
    attempts: invoice.attempts ?? 0,
    buyer: { name, email, externalCustomerId },
    created_at: new Date(now).toISOString(),
  };
}

function storedLine(line: NewInvoiceLine, id: string): StoredLine {
  const { type, description, quantity, unitAmount, period } = line;
  assert(Number.isSafeInteger(quantity) && quantity > 0, 'a quantity counts');
  assert(type !== 'credit' || unitAmount < 0n, 'a credit gives back');
  assert(!['fixed', 'recurring'].includes(type) || unitAmount >= 0n, 'a price is not negative');
  assert(period === null || period.start < period.end, 'a period has a length');
  return {
    id,
    type,
    description,
    quantity,
    unitAmount: String(unitAmount),
    amount: String(unitAmount * BigInt(quantity)),
    period: period && { start: period.start.toISOString(), end: period.end.toISOString() },
  };
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
  readonly paidAt: Date | null;
  readonly eventId: string;
  readonly at: Date;
};

/** Issues drafts that are locked or new, in the order given. */
async function numberDrafts(
  sql: Transaction,
  numberings: readonly Numbering[],
): Promise<InvoiceRecord[]> {
  if (numberings.length === 0) return [];
  const issues = numberings.map(({ draft, paidAt: paid, eventId, at }) => {
    const paidAt = draft.total === 0n ? (paid ?? at) : paid;
    const dueAt = draft.dueAt ?? at;
    const settled = paidAt === null ? 0n : draft.total;
    const status = paidAt === null ? 'open' : 'paid';
    const issued = { ...draft, status, amountPaid: settled, paidAt, dueAt } as const;
    return { issued, eventId, at };
  });
  const numbers = await takeNumbers(
    sql,
    issues.map(({ issued, eventId, at }) => ({
      id: issued.id,
      organisation_id: issued.organisationId,
      mode: issued.mode,
      status: issued.status,
      amount_paid: String(issued.amountPaid),
      paid_at: issued.paidAt?.toISOString() ?? null,
      due_at: issued.dueAt.toISOString(),
      at: at.toISOString(),
      event: eventRow(invoiceEvent(issued, { id: eventId, sequence: 1n, at })),
    })),
  );
  return issues.map(({ issued, at }) => ({
    ...issued,
    ...must(numbers.get(issued.id), 'every draft is issued'),
    updatedAt: at,
  }));
}

/**
 * Numbers, announces and issues drafts in one statement. All others who issue for the organisation
 * wait from here to the commit.
 *
 * - `drafts`: in the order given. `nth` counts them within their organisation and mode; none is
 *   issued before an earlier one.
 * - `counters`: each moves on by the number of its drafts, once. `previously` is when it last gave
 *   a number.
 * - `counted`: each draft's place in its counter, and when it is issued: never before the invoice
 *   with the number before it.
 * - `numbered`: the place as a number, with the year.
 * - `announced`: the `invoice.created` events, with the number.
 * - `issued`: the drafts become invoices.
 */
async function takeNumbers(
  sql: Transaction,
  drafts: readonly Readonly<Record<string, Json>>[],
): Promise<ReadonlyMap<string, { readonly number: string; readonly issuedAt: Date }>> {
  const rows = await sql<{ id: string; number: string; issuedAt: Date }[]>`
    with drafts as (
      select d.*, row_number() over so_far as nth, max(at) over so_far as latest
      from rows from (jsonb_to_recordset(${sql.json(drafts)}) as (id uuid, organisation_id uuid, mode mode, status text,
        amount_paid bigint, paid_at timestamptz, due_at timestamptz, at timestamptz, event jsonb)) with ordinality
        as d (id, organisation_id, mode, status, amount_paid, paid_at, due_at, at, event, place)
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
    ), announced as (
      insert into events (id, organisation_id, mode, type, object_type, object_id, account_id, sequence, at, data)
      select e.id, e.organisation_id, e.mode, e.type, e.object_type, e.object_id, e.account_id, e.sequence, e.at,
        e.data || jsonb_build_object('number', n.number)
      from numbered n, jsonb_populate_record(null::events, n.event) as e
    ), issued as (
      update invoices i set number = n.number, status = n.status, amount_paid = n.amount_paid, paid_at = n.paid_at,
        due_at = n.due_at, issued_at = n.issued_at, event_sequence = 1, updated_at = n.at
      from numbered n where i.id = n.id returning i.id, i.number, i.issued_at
    )
    select id, number, issued_at as "issuedAt" from issued`;
  return new Map(rows.map(({ id, ...taken }) => [id, taken]));
}
