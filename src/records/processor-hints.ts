// What processors said has changed, until they were asked what it has become.
//
//     open ──claimed──▶ put off, 1 min to 1 h ──asked──▶ settled
//
// Holds: an event of a processor is one hint, however often it is sent. A hint that is claimed is
// claimed by nobody else until its time has come again, so a crash costs that time alone.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export type NewHint = {
  readonly eventId: string;
  /** The name of the account that sent it: `stripe:acct_…`. */
  readonly processor: string;
  /** A charge, its disputes, or a refund; by our key of the charge or the refund. */
  readonly about: 'charge' | 'refund' | 'dispute';
  readonly subject: string;
};

export type ProcessorHint = NewHint & {
  /** How many times it was claimed, with this one. */
  readonly tries: number;
};

/** Whether it is news. */
export async function insertHint(
  sql: Executor,
  { organisationId, mode }: Tenant,
  { eventId, processor, about, subject }: NewHint,
): Promise<boolean> {
  const { count } = await sql`
    insert into processor_hints (organisation_id, mode, event_id, processor, about, subject)
    values (${organisationId}, ${mode}, ${eventId}, ${processor}, ${about}, ${subject})
    on conflict do nothing`;
  return count > 0;
}

/** Tenants with hints that are due. */
export function listHinted(sql: Executor, atMost: number): Promise<Tenant[]> {
  return sql<Tenant[]>`
    select distinct organisation_id as "organisationId", mode from processor_hints
    where settled_at is null and next_at <= now() limit ${atMost}`;
}

/** Hints that are due, oldest first, put off for whoever does not settle them. */
export function claimHints(
  sql: Executor,
  { organisationId, mode }: Tenant,
  atMost: number,
): Promise<ProcessorHint[]> {
  return sql<ProcessorHint[]>`
    with due as (
      select event_id from processor_hints
      where organisation_id = ${organisationId} and mode = ${mode} and settled_at is null and next_at <= now()
      order by next_at limit ${atMost} for update skip locked
    )
    update processor_hints h
    set tries = tries + 1, next_at = now() + least(interval '1 min' * 2 ^ least(tries, 10), interval '1 h')
    from due where h.organisation_id = ${organisationId} and h.mode = ${mode} and h.event_id = due.event_id
    returning h.event_id as "eventId", processor, about, subject, tries`;
}

export async function settleHints(
  sql: Executor,
  { organisationId, mode }: Tenant,
  eventIds: readonly string[],
): Promise<void> {
  await sql`
    update processor_hints set settled_at = now()
    where organisation_id = ${organisationId} and mode = ${mode} and event_id = any(${eventIds}::text[])`;
}
