// Followups of customers: charges that their automatic top-ups ordered, and that a payment method
// was stored. A flush writes the first, the transaction of the method the second; the transaction
// that does the task deletes them.
import { fromJson, type JsonOf } from '../../ledger/store/json.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { TopUpOrder } from '../../ledger/topups/order.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { isAlive, isDue, isOfCustomer, type Owing } from './followups.ts';

/** The customer's automatic top-ups must hear of it. */
export type MethodStored = {
  readonly id: string;
  readonly kind: 'method_stored';
  readonly at: number;
  readonly methodId: string;
  /** By meter, how many charges had begun before it. */
  readonly begun: Readonly<Record<string, number>>;
};

/** `isGivenUp`: there was nothing to charge, and that charge never begins. */
export type OrderedTopUp = TopUpOrder & { readonly isGivenUp?: true };

export type OwedByCustomer = {
  readonly scope: Tenant;
  readonly followup: OrderedTopUp | MethodStored;
  readonly customer: {
    readonly id: string;
    readonly name: string | null;
    readonly email: string | null;
    readonly externalCustomerId: string | null;
    readonly metadata: Readonly<Record<string, string>>;
  };
};

type Row = Tenant &
  Pick<OwedByCustomer, 'customer'> & {
    readonly id: string;
    readonly kind: string;
    readonly at: Date;
    readonly data: object;
  };

/** Those of some customers, locked for this transaction. They stay until they are deleted. */
export async function lockCustomerFollowups(
  sql: Transaction,
  customerIds: readonly string[],
): Promise<OwedByCustomer[]> {
  // Every transaction that locks several does it in this order.
  const sorted = customerIds.toSorted();
  await sql`select pg_advisory_xact_lock(hashtextextended(id, 0)) from unnest(${sorted}::text[]) as id`;
  const rows = await sql<Row[]>`
    select f.id, f.kind, f.at, f.data, c.organisation_id as "organisationId", c.mode,
      jsonb_build_object('id', c.id, 'name', c.name, 'email', c.email, 'externalCustomerId', c.external_customer_id,
        'metadata', c.metadata) as customer
    from followups f join customers c on c.id = f.customer_id
    where f.customer_id = any(${sorted}::uuid[]) and ${isOfCustomer(sql, 'f')} and ${isAlive(sql)}
    order by f.at, f.id`;
  const marked = await markMethodsStored(sql, rows);
  return rows.map(({ id, kind, at, data: found, organisationId, mode, customer }) => {
    const data = marked.get(id) ?? found;
    return {
      scope: { organisationId, mode },
      customer,
      followup: fromJson<OwedByCustomer['followup']>({
        id,
        kind,
        at: at.getTime(),
        ...data,
      } as JsonOf<OwedByCustomer['followup']>),
    };
  });
}

/**
 * What is told of a stored payment method: how many charges of each top-up had begun before it, as
 * of the first time. Whoever comes later tells the same. A charge that is ordered and has not begun
 * takes the new method anyway; one that was given up never begins.
 */
async function markMethodsStored(
  sql: Transaction,
  rows: readonly Pick<Row, 'id' | 'kind' | 'data'>[],
): Promise<ReadonlyMap<string, object>> {
  const unmarked = rows.filter(({ kind, data }) => kind === 'method_stored' && !('begun' in data));
  if (unmarked.length === 0) return new Map();
  const ids = unmarked.map(({ id }) => id);
  const marked = await sql<Pick<Row, 'id' | 'data'>[]>`
    update followups f set data = f.data || jsonb_build_object('begun', (
      select coalesce(jsonb_object_agg(t.meter_id, t.ordered - (exists (
        select from followups ordered where ordered.customer_id = t.customer_id and ordered.kind = 'top_up'
          and ordered.data ->> 'meterId' = t.meter_id::text and not ordered.data ? 'isGivenUp'))::int), '{}')
      from auto_topups t where t.slot = f.slot and t.customer_id = f.customer_id))
    where f.id = any(${ids}::uuid[]) returning f.id, f.data`;
  return new Map(marked.map(({ id, data }) => [id, data]));
}

/** Whoever comes later tells the same, even where a method has been stored since. */
export async function giveTopUpsUp(sql: Transaction, ids: readonly string[]): Promise<void> {
  await sql`
    update followups set data = data || '{"isGivenUp": true}' where id = any(${ids}::uuid[])`;
}

/** Owes it to the customer's automatic top-ups that another method is stored, where it has any. */
export async function oweMethodStored(
  sql: Executor,
  stored: { readonly customerId: string; readonly methodId: string },
  { ids, now }: { readonly ids: Ids; readonly now: number },
): Promise<void> {
  const { customerId, methodId } = stored;
  await sql`
    insert into followups (slot, id, kind, customer_id, data, at)
    select slot, ${ids.derive('method_stored', methodId)}, 'method_stored', customer_id, ${sql.json({ methodId })}, ${new Date(now)}
    from auto_topups where customer_id = ${customerId} and jsonb_typeof(settings) = 'object' limit 1`;
}

/** Customers with followups. */
export async function listCustomersOwing(
  sql: Executor,
  { olderThanMs, atMost, scope }: Owing,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct c.id from followups f join customers c on c.id = f.customer_id
    where f.written_at < now() - ${olderThanMs} * interval '1 ms' and ${isOfCustomer(sql, 'f')} and ${isDue(sql)}
      ${scope === null ? sql`` : sql`and c.organisation_id = ${scope.organisationId} and c.mode = ${scope.mode}`}
    limit ${atMost}`;
  return rows.map((row) => row.id);
}
