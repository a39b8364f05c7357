// What an id is the id of.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export type NamedObject = { readonly type: string; readonly id: string };

/** The object of the tenant with that id; null where it has none. */
export async function findObject(
  sql: Executor,
  { organisationId, mode }: Tenant,
  id: string,
): Promise<NamedObject | null> {
  const [found] = await sql<NamedObject[]>`
    with found as (
      select 'payment' as type, id, organisation_id, mode from payments where id = ${id}
      union all select 'refund', r.id, p.organisation_id, p.mode from refunds r
        join payments p on p.id = r.payment_id where r.id = ${id}
      union all select 'invoice', id, organisation_id, mode from invoices where id = ${id}
      union all select 'subscription', id, organisation_id, mode from subscriptions where id = ${id}
      union all select 'customer', id, organisation_id, mode from customers where id = ${id}
      union all select 'checkout', id, organisation_id, mode from checkouts where id = ${id}
      union all select 'grant', id, organisation_id, mode from grants where id = ${id}
      union all select 'event', id, organisation_id, mode from events where id = ${id})
    select type, id from found where organisation_id = ${organisationId} and mode = ${mode} limit 1`;
  return found ?? null;
}

/** What the newest change under a request id was made to; null for none. */
export async function findChangedObject(
  sql: Executor,
  { organisationId, mode }: Tenant,
  requestId: string,
): Promise<NamedObject | null> {
  const [found] = await sql<NamedObject[]>`
    select object_type as type, object_id as id from audit_log
    where organisation_id = ${organisationId} and (mode is null or mode = ${mode}) and request_id = ${requestId}
      and object_id is not null
    order by at desc limit 1`;
  return found ?? null;
}
