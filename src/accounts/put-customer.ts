// PUT of a customer: created under the merchant's own id, or changed if it exists.
//
// Holds: of two concurrent calls one creates it, and the other changes it. The unique constraint on
// the external id decides, not a query before.
import type { Transaction } from '../platform/postgres/postgres.ts';
import {
  type CustomerPatch,
  type CustomerRecord,
  insertCustomer,
  type NewCustomer,
  updateCustomer,
} from '../records/customers.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/** A second try is needed only if the customer is renamed at the same moment. */
const TRIES_MAX = 3;

/**
 * `customer` is what is made; `patch` is of it what the caller gave. 'renamed': other calls give
 * the name away and take it.
 */
export async function putCustomer(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly customer: NewCustomer & { readonly externalCustomerId: string };
    readonly patch: CustomerPatch;
    readonly eventId: string;
    readonly now: number;
  },
): Promise<{ readonly customer: CustomerRecord; readonly isNew: boolean } | 'renamed'> {
  const { customer, patch, eventId, now } = options;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const made = await insertCustomer(sql, scope, { customer, eventId, now });
    if (made !== 'external_id_taken') return { customer: made, isNew: true };
    const [there] = await sql<{ id: string }[]>`
      select id from customers where organisation_id = ${scope.organisationId} and mode = ${scope.mode}
        and external_customer_id = ${customer.externalCustomerId} for no key update`;
    if (there === undefined) continue;
    const changed = await updateCustomer(sql, scope, { id: there.id, patch, eventId, now });
    if (typeof changed !== 'string') return { customer: changed, isNew: false };
  }
  return 'renamed';
}
