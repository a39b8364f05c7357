// Mails to buyers: a row for each, until it is sent or given up.
//
// How it works: the row is written in the transaction of what the mail tells, under an id that
// follows from that, so each mail is owed once. A claim ends by itself, so a killed process's mails
// are due again. All times are the database's own: an organisation's clock may be moved, and
// servers need not agree.
// Holds: nothing is sent later than MAIL_WINDOW_MS after it was written, tried or not.
// Does not: keep an address once the mail is settled; the invoice has it.
import { unreachable } from '../../ledger/kernel/assert.ts';
import { fromJson, type JsonOf } from '../../ledger/store/json.ts';
import type { OpenInvoice } from '../../ledger/subscriptions/subscription.ts';
import type { Executor, Json, Transaction } from '../platform/postgres/postgres.ts';
import { tell } from '../platform/postgres/tell.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

const MAIL_WINDOW_MS = 24 * 3_600_000;
/** When a killed process's mail is due again: well beyond the deadline of an attempt. */
const CLAIM_MS = 180_000;
/** Rows of one statement. */
const GIVEN_UP_MAX = 500;

/** What a mail says of an invoice. */
export type InvoiceMail = {
  readonly id: string;
  readonly invoiceId: string;
} & (
  | { readonly kind: 'receipt' }
  /** The refunded amount, in the currency's smallest unit. */
  | { readonly kind: 'refund'; readonly amount: bigint }
);

/** To the buyer, where an address is known. */
export async function oweInvoiceMails(
  sql: Transaction,
  mails: readonly InvoiceMail[],
): Promise<void> {
  if (mails.length === 0) return;
  const rows = mails.map((mail) => ({
    id: mail.id,
    invoice_id: mail.invoiceId,
    kind: mail.kind,
    data: mail.kind === 'refund' ? { amount: String(mail.amount) } : {},
  }));
  await sql`
    insert into mails (id, organisation_id, mode, kind, invoice_id, recipient, data)
    select m.id, i.organisation_id, i.mode, m.kind, i.id, i.buyer ->> 'email', m.data
    from jsonb_to_recordset(${sql.json(rows)}) as m (id uuid, invoice_id uuid, kind text, data jsonb)
    join invoices i on i.id = m.invoice_id
    -- A payment that came for a void invoice has no receipt.
    where i.buyer ->> 'email' is not null and i.status = 'paid'
    order by m.id on conflict (id) do nothing`;
  tell(sql, 'tollhouse_mails');
}

/** What a mail says of a subscription whose invoice is not paid. */
export type DunningMail = {
  readonly id: string;
  readonly subscriptionId: string;
} &
  /** The invoice whose charge failed; null where there was nothing to charge it to. */
  (
    | { readonly kind: 'charge_failed'; readonly invoiceId: string | null }
    | { readonly kind: 'blocked' | 'ended' }
  );

/**
 * To the customer's current address. There is no mail about an invoice that is not collected, such
 * as one of a refused change of plan.
 */
export async function oweDunningMail(sql: Transaction, mail: DunningMail): Promise<void> {
  const { id, kind, subscriptionId } = mail;
  await sql`
    insert into mails (id, organisation_id, mode, kind, invoice_id, recipient, data)
    select ${id}, s.organisation_id, s.mode, ${kind}, (chased.open ->> 'invoiceId')::uuid, c.email,
      jsonb_build_object('plan', p.name, 'open', chased.open)
    from subscriptions s join customers c on c.id = s.customer_id join products p on p.id = s.product_id
    ${
      kind === 'ended'
        ? sql`cross join (select null::jsonb as open) as chased`
        : sql`cross join lateral (
            select o as open from jsonb_array_elements(s.open) as o
            where o -> 'dunning' <> 'null' ${kind === 'charge_failed' ? chargedInVain(sql, mail.invoiceId) : sql``}
            order by o -> 'dunning' -> 'failedAt' limit 1) as chased`
    }
    where s.id = ${subscriptionId} and c.email is not null
    on conflict (id) do nothing`;
  tell(sql, 'tollhouse_mails');
}

const chargedInVain = (sql: Executor, invoiceId: string | null) =>
  invoiceId === null
    ? sql`and not exists (select from payments where invoice_id = (o ->> 'invoiceId')::uuid)`
    : sql`and o ->> 'invoiceId' = ${invoiceId}`;

/** A mail to send now. */
export type DueMail = Tenant & {
  readonly id: string;
  readonly invoiceId: string | null;
  readonly recipient: string;
  readonly attempts: number;
} & (
    | { readonly kind: 'receipt' }
    | { readonly kind: 'refund'; readonly amount: bigint }
    | {
        readonly kind: 'charge_failed' | 'blocked' | 'ended';
        /** The plan's name. */
        readonly plan: string;
        /** The unpaid invoice as it was then; null where the subscription has ended. */
        readonly open: OpenInvoice | null;
      }
  );

type Row = Tenant &
  Pick<DueMail, 'id' | 'kind' | 'invoiceId' | 'recipient' | 'attempts'> & {
    readonly data: Readonly<Record<string, Json>>;
  };

/**
 * One mail of each organisation that has some due and is not `busy`: the earliest. Organisations
 * come in the order of their ids, after `after`, so each has its turn, however many mails another
 * has.
 */
export async function claimMails(
  sql: Executor,
  options: {
    readonly claim: string;
    readonly atMost: number;
    readonly busy: readonly string[];
    /** null: from the first one on. */
    readonly after: string | null;
  },
): Promise<DueMail[]> {
  const { claim, atMost, busy, after } = options;
  const next = (before: ReturnType<Executor>) => sql`
    select organisation_id from mails
    where status = 'pending' and organisation_id > ${before} order by organisation_id limit 1`;
  const rows = await sql<Row[]>`
    with recursive owing as (
      (${next(sql`coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')`)})
      union all
      select (${next(sql`o.organisation_id`)}) from owing o where o.organisation_id is not null
    ), due as (
      select first.id from owing o cross join lateral (
        select id from mails m
        where m.organisation_id = o.organisation_id and m.status = 'pending' and m.next_at <= now()
          and m.written_at > now() - ${MAIL_WINDOW_MS} * interval '1 ms'
        order by m.next_at limit 1
      ) as first
      where o.organisation_id <> all(${[...busy]}::uuid[]) limit ${atMost}
    ), free as (
      select id from mails where id in (select id from due) and status = 'pending' and next_at <= now()
      for update skip locked
    )
    update mails m set claim = ${claim}, attempts = m.attempts + 1, next_at = now() + ${CLAIM_MS} * interval '1 ms'
    from free where m.id = free.id
    returning m.id, m.organisation_id as "organisationId", m.mode, m.kind, m.invoice_id as "invoiceId", m.recipient, m.attempts, m.data`;
  return rows.map(mailOf);
}

function mailOf({ data, kind, ...row }: Row): DueMail {
  switch (kind) {
    case 'receipt':
      return { ...row, kind };
    case 'refund':
      return { ...row, kind, amount: BigInt(data['amount'] as string) };
    case 'charge_failed':
    case 'blocked':
    case 'ended': {
      const open = fromJson<OpenInvoice | null>(
        (data['open'] ?? null) as JsonOf<OpenInvoice | null>,
      );
      return { ...row, kind, plan: data['plan'] as string, open };
    }
    default:
      return unreachable(kind);
  }
}

/**
 * Sent; refused for good; dropped, because its reason is gone; or to be tried again. Without its
 * claim it changes nothing.
 */
export type MailVerdict =
  | { readonly kind: 'sent' | 'refused' | 'dropped' }
  | { readonly kind: 'deferred'; readonly waitMs: number };

export async function settleMail(
  sql: Executor,
  { id, claim }: { readonly id: string; readonly claim: string },
  verdict: MailVerdict,
): Promise<void> {
  const what =
    verdict.kind === 'deferred'
      ? sql`next_at = now() + ${verdict.waitMs} * interval '1 ms'`
      : sql`status = ${verdict.kind}, settled_at = now(), recipient = null`;
  await sql`
    update mails set claim = null, ${what} where id = ${id} and claim = ${claim} and status = 'pending'`;
}

/** Gives up the mails that nobody could send in time; returns their ids. */
export async function giveUpMails(sql: Executor): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with late as (
      select id from mails
      where status = 'pending' and written_at <= now() - ${MAIL_WINDOW_MS} * interval '1 ms'
        and (claim is null or next_at <= now())
      limit ${GIVEN_UP_MAX} for update skip locked
    )
    update mails m set status = 'given_up', settled_at = now(), claim = null, recipient = null
    from late where m.id = late.id returning m.id`;
  return rows.map((row) => row.id);
}
