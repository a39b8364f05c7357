// The customer that a body names, by one of its two ids.
import type { Executor } from '../platform/postgres/postgres.ts';
import {
  type CustomerRecord,
  findCustomer,
  findCustomerByExternalId,
} from '../records/customers.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Issue } from './edge/errors.ts';

export type NamedCustomer = {
  readonly customer_id?: string;
  readonly external_customer_id?: string;
};

const ONE_OF = 'must be given unless external_customer_id is: exactly one of the two';

/** What is wrong with a body that names no customer or two; null where it names one. */
export function namingIssue(body: NamedCustomer): Issue | null {
  const isOne = (body.customer_id === undefined) !== (body.external_customer_id === undefined);
  return isOne ? null : { path: ['customer_id'], message: ONE_OF };
}

export async function findNamedCustomer(
  sql: Executor,
  scope: Tenant,
  { customer_id: id, external_customer_id: externalId }: NamedCustomer,
): Promise<CustomerRecord | null> {
  if (id === undefined) return findCustomerByExternalId(sql, scope, externalId ?? '');
  const customer = await findCustomer(sql, scope, id);
  return customer?.id === id.toLowerCase() ? customer : null;
}
