// Tries of customers to replace their payment method. A try is asked about at the processor that it
// began with.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export type MethodAttempt = {
  /** Its key at the processor. */
  readonly id: string;
  readonly customerId: string;
  readonly processor: string;
  readonly createdAt: Date;
};

/** Begins a try. One that has begun stays as it is, and is returned. */
export async function beginMethodAttempt(
  sql: Executor,
  scope: Tenant,
  attempt: MethodAttempt,
): Promise<MethodAttempt> {
  const { organisationId, mode } = scope;
  const { id, customerId, processor, createdAt } = attempt;
  const { count } = await sql`
    insert into method_attempts (id, organisation_id, mode, customer_id, processor, created_at)
    values (${id}, ${organisationId}, ${mode}, ${customerId}, ${processor}, ${createdAt})
    on conflict (id) do nothing`;
  return (count === 0 ? await findMethodAttempt(sql, scope, id) : null) ?? attempt;
}

export async function findMethodAttempt(
  sql: Executor,
  { organisationId, mode }: Tenant,
  id: string,
): Promise<MethodAttempt | null> {
  const [row] = await sql<MethodAttempt[]>`
    select id, customer_id as "customerId", processor, created_at as "createdAt" from method_attempts
    where id = ${id} and organisation_id = ${organisationId} and mode = ${mode}`;
  return row ?? null;
}
