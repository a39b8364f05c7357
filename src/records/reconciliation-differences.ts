// Differences between an account at a processor and these books: found, seen again, and resolved
// when they are not seen any more.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export const DIFFERENCE_KINDS = ['missing', 'extra', 'amount', 'currency', 'state'] as const;

/**
 * `missing`: we have it, and the processor does not. `extra`: the reverse, of what is ours by its
 * key or its charge.
 */
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** What is compared: each is asked about by its ids. */
export type Compared = {
  readonly subject: 'charge' | 'refund' | 'dispute';
  /** Our id, where we have it; else the processor's. */
  readonly key: string;
  /** The processor's id, where it has one. */
  readonly reference: string | null;
  /** The payment that it belongs to, where that is known. */
  readonly paymentId: string | null;
};

export type Found = {
  readonly kind: DifferenceKind;
  readonly ours: string | null;
  readonly theirs: string | null;
};

export type Difference = Tenant &
  Compared &
  Found & {
    readonly id: string;
    readonly processor: string;
    readonly foundAt: Date;
    readonly seenAt: Date;
  };

/**
 * What was found of it now: others of it are resolved. Returns those that were not known before.
 */
export async function recordDifferences(
  sql: Executor,
  {
    accountId,
    ids,
    of,
    found,
  }: {
    readonly accountId: string;
    readonly ids: Ids;
    readonly of: Compared;
    readonly found: readonly Found[];
  },
): Promise<readonly DifferenceKind[]> {
  const { subject, key, reference, paymentId } = of;
  await sql`
    update reconciliation_differences set resolved_at = now()
    where account_id = ${accountId} and subject = ${subject} and key = ${key} and resolved_at is null
      and kind <> all(${found.map(({ kind }) => kind)}::text[])`;
  const news: DifferenceKind[] = [];
  for (const { kind, ours, theirs } of found) {
    const [row] = await sql<{ isNew: boolean }[]>`
      insert into reconciliation_differences as d (id, account_id, subject, key, kind, reference, payment_id, ours, theirs)
      values (${ids.next()}, ${accountId}, ${subject}, ${key}, ${kind}, ${reference}, ${paymentId}, ${ours}, ${theirs})
      on conflict (account_id, subject, key, kind) where resolved_at is null
      do update set seen_at = now(), ours = excluded.ours, theirs = excluded.theirs,
        reference = coalesce(excluded.reference, d.reference), payment_id = coalesce(excluded.payment_id, d.payment_id)
      returning (xmax = 0) as "isNew"`;
    if (row?.isNew === true) news.push(kind);
  }
  return news;
}

type OpenDifference = Compared & { readonly id: string };

/** Of an account, those that are not resolved, in the order of their ids. */
export function listOpenOf(
  sql: Executor,
  accountId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<OpenDifference[]> {
  return sql<OpenDifference[]>`
    select id, subject, key, reference, payment_id as "paymentId" from reconciliation_differences
    where account_id = ${accountId} and resolved_at is null ${after === null ? sql`` : sql`and id > ${after}`}
    order by id limit ${limit}`;
}

/** Those that are neither resolved nor accepted. */
export function listDifferences(
  sql: Executor,
  { accountIds, limit }: { readonly accountIds: readonly string[]; readonly limit: number },
): Promise<Difference[]> {
  return sql<Difference[]>`
    select d.id, d.subject, d.key, d.reference, d.payment_id as "paymentId", d.kind, d.ours, d.theirs, d.found_at as "foundAt",
      d.seen_at as "seenAt", a.organisation_id as "organisationId", a.mode, a.type || ':' || a.account as processor
    from reconciliation_differences d join processor_accounts a on a.id = d.account_id
    where d.resolved_at is null and d.accepted_at is null and d.account_id = any(${[...accountIds]}::uuid[])
    order by d.found_at, d.id limit ${limit}`;
}

/** Whether it was open: nobody is told of it any more. */
export async function acceptDifference(sql: Executor, id: string): Promise<boolean> {
  const { count } = await sql`
    update reconciliation_differences set accepted_at = now() where id = ${id} and resolved_at is null and accepted_at is null`;
  return count === 1;
}
