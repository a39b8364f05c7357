import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import type { Executor, Json, Transaction } from '../platform/postgres/postgres.ts';
import { insertEvent } from './events.ts';
import { type Page, pageOf } from './page.ts';
import { prefixed } from './prefixed.ts';
import { isUuid } from './uuid.ts';

/** A postal address, as it is printed. */
export type Address = {
  readonly line1: string | null;
  readonly line2: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly postalCode: string | null;
  readonly country: string | null;
};

export type CustomerRecord = {
  readonly id: string;
  readonly externalCustomerId: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly billingAddress: Address | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type NewCustomer = Pick<
  CustomerRecord,
  'id' | 'externalCustomerId' | 'email' | 'name' | 'billingAddress' | 'metadata'
> & {
  /** Whether only the buyer has said that the address belongs to the customer. */
  readonly selfNamed?: boolean;
};

/** What may change; undefined leaves it as it is. */
export type CustomerPatch = {
  readonly [field in keyof Omit<NewCustomer, 'id' | 'selfNamed'>]?:
    | CustomerRecord[field]
    | undefined;
};

/** What `customer.updated` tells. */
export const ANNOUNCED = ['externalCustomerId', 'email', 'name', 'billingAddress'] as const;

const columns = (sql: Executor) => sql`
  id, external_customer_id as "externalCustomerId", email, name, billing_address as "billingAddress", metadata,
  created_at as "createdAt", updated_at as "updatedAt"`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  organisation_id = ${organisationId} and mode = ${mode}`;

/** Announces it too. `eventId` and `customer.id` are new. */
export async function insertCustomer(
  sql: Transaction,
  scope: Tenant,
  options: { readonly customer: NewCustomer; readonly eventId: string; readonly now: number },
): Promise<CustomerRecord | 'external_id_taken'> {
  const { customer, eventId, now } = options;
  const at = new Date(now);
  const [row] = await sql<CustomerRecord[]>`
    insert into customers (id, organisation_id, mode, external_customer_id, email, name, billing_address,
      metadata, self_named, event_sequence, created_at, updated_at)
    values (${customer.id}, ${scope.organisationId}, ${scope.mode}, ${customer.externalCustomerId},
      ${customer.email}, ${customer.name}, ${orNull(sql, customer.billingAddress)}, ${sql.json(customer.metadata)},
      ${customer.selfNamed ?? false}, 1, ${at}, ${at})
    on conflict (organisation_id, mode, external_customer_id) do nothing
    returning ${columns(sql)}`;
  if (row === undefined) return 'external_id_taken';
  await announce(sql, scope, {
    customer: row,
    type: 'customer.created',
    eventId,
    sequence: 1n,
    extra: {},
  });
  return row;
}

/** By id or external id. Where one customer's external id is another's id, the id wins. */
export async function findCustomer(
  sql: Executor,
  scope: Tenant,
  reference: string,
): Promise<CustomerRecord | null> {
  if (isUuid(reference)) {
    const [byId] = await sql<CustomerRecord[]>`
      select ${columns(sql)} from customers where ${inScope(sql, scope)} and id = ${reference}`;
    if (byId !== undefined) return byId;
  }
  return findCustomerByExternalId(sql, scope, reference);
}

export async function findCustomerByExternalId(
  sql: Executor,
  scope: Tenant,
  externalId: string,
): Promise<CustomerRecord | null> {
  const [row] = await sql<CustomerRecord[]>`
    select ${columns(sql)} from customers
    where ${inScope(sql, scope)} and external_customer_id = ${externalId}`;
  return row ?? null;
}

/**
 * Locks the address: until the transaction ends no other one looks for its customer in order to
 * make one.
 */
export async function lockEmail(
  sql: Transaction,
  { organisationId, mode }: Tenant,
  email: string,
): Promise<void> {
  const name = `${organisationId} ${mode} ${email.toLowerCase()}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 1))`;
}

/** The oldest of the customers that the merchant knows by this address; case does not matter. */
export async function findCustomerByEmail(
  sql: Executor,
  scope: Tenant,
  email: string,
): Promise<CustomerRecord | null> {
  const [row] = await sql<CustomerRecord[]>`
    select ${columns(sql)} from customers
    where ${inScope(sql, scope)} and lower(email) = lower(${email}) and not self_named
    order by id limit 1`;
  return row ?? null;
}

/** Newest first; up to one row more than `limit`. */
export async function listCustomers(
  sql: Executor,
  scope: Tenant,
  options: Page & {
    readonly externalCustomerId?: string | undefined;
    readonly email?: string | undefined;
    /**
     * Case does not matter. Of those that match, the first `PREFIXED_MAX` in alphabetical order.
     */
    readonly emailPrefix?: string | undefined;
  },
): Promise<CustomerRecord[]> {
  const { externalCustomerId, email, emailPrefix } = options;
  return sql<CustomerRecord[]>`
    select ${columns(sql)} from customers
    where ${emailPrefix === undefined ? inScope(sql, scope) : sql`id = any (array(${prefixed(sql, scope, { table: 'customers', column: 'email', prefix: emailPrefix })}))`}
      ${externalCustomerId === undefined ? sql`` : sql`and external_customer_id = ${externalCustomerId}`}
      ${email === undefined ? sql`` : sql`and lower(email) = lower(${email}) and email = ${email}`}
    ${pageOf(sql, 'customers', options)}`;
}

/**
 * Announces changes of fields that others may have copied. A change of metadata alone has no event.
 */
export async function updateCustomer(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly id: string;
    readonly patch: CustomerPatch;
    readonly eventId: string;
    readonly now: number;
  },
): Promise<CustomerRecord | 'not_found' | 'external_id_taken'> {
  const { id, patch, eventId, now } = options;
  const [before] = await sql<(CustomerRecord & { sequence: bigint })[]>`
    select ${columns(sql)}, event_sequence as sequence
    from customers where ${inScope(sql, scope)} and id = ${id} for no key update`;
  if (before === undefined) return 'not_found';
  const changed = ANNOUNCED.filter(
    (field) => patch[field] !== undefined && !Bun.deepEquals(patch[field], before[field]),
  );
  const isSame = patch.metadata === undefined || Bun.deepEquals(patch.metadata, before.metadata);
  if (changed.length === 0 && isSame) return before;
  const after = patched(before, patch);
  const sequence = before.sequence + (changed.length > 0 ? 1n : 0n);
  // Events of a customer ascend in time, even where the clock stands still or goes back.
  const at = new Date(Math.max(now, before.updatedAt.getTime() + 1));
  const row = await unlessTaken(sql, async (savepoint) => {
    const [updated] = await savepoint<CustomerRecord[]>`
      update customers set external_customer_id = ${after.externalCustomerId}, email = ${after.email},
        name = ${after.name}, billing_address = ${orNull(savepoint, after.billingAddress)},
        metadata = ${sql.json(after.metadata)}, self_named = self_named and ${patch.email === undefined},
        event_sequence = ${sequence}, updated_at = ${at}
      where id = ${id} returning ${columns(sql)}`;
    return updated ?? 'not_found';
  });
  if (typeof row === 'string' || changed.length === 0) return row;
  const extra = { billingAddress: row.billingAddress, changes: changed };
  await announce(sql, scope, { customer: row, type: 'customer.updated', eventId, sequence, extra });
  await notifyChange(sql, 'customer', id);
  return row;
}

/** The constraint decides. A query before the insert would leave time for another insert. */
async function unlessTaken<T>(
  sql: Transaction,
  task: (savepoint: Transaction) => Promise<T>,
): Promise<T | 'external_id_taken'> {
  try {
    return (await sql.savepoint(task)) as T;
  } catch (error) {
    const taken =
      error instanceof Error &&
      'constraint_name' in error &&
      error.constraint_name === 'customers_external_id_once';
    if (taken) return 'external_id_taken';
    throw error;
  }
}

async function announce(
  sql: Transaction,
  scope: Tenant,
  event: {
    customer: CustomerRecord;
    type: 'customer.created' | 'customer.updated';
    eventId: string;
    sequence: bigint;
    extra: Readonly<Record<string, Json>>;
  },
): Promise<void> {
  const { customer, type, eventId, sequence, extra } = event;
  const { id, externalCustomerId, email, name, metadata, updatedAt } = customer;
  await insertEvent(sql, scope, {
    id: eventId,
    type,
    objectType: 'CUSTOMER',
    objectId: id,
    accountId: id,
    sequence,
    at: updatedAt,
    data: { externalCustomerId, email, name, metadata, ...extra },
  });
}

function patched<T extends CustomerRecord>(before: T, patch: CustomerPatch): T {
  const { externalCustomerId, email, name, billingAddress, metadata } = patch;
  return {
    ...before,
    ...(externalCustomerId !== undefined && { externalCustomerId }),
    ...(email !== undefined && { email }),
    ...(name !== undefined && { name }),
    ...(billingAddress !== undefined && { billingAddress }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** SQL's null, not JSON's. */
function orNull(sql: Transaction, address: Address | null) {
  return address === null ? null : sql.json(address);
}
