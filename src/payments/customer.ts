// Whose payment it is: the merchant's customer of that name, or of that address, or a new one.
import type { Ids } from '../../ledger/ports.ts';
import type { Transaction } from '../platform/postgres.ts';
import {
  type CustomerRecord,
  findCustomerByEmail,
  findCustomerByExternalId,
  insertCustomer,
  lockEmail,
  updateCustomer,
} from '../records/customers.ts';
import type { Scope } from '../records/scope.ts';

export type Buyer = {
  readonly email: string;
  readonly name: string | null;
  readonly externalCustomerId: string | null;
};

/**
 * The merchant's own id decides where there is one, else the e-mail address. A customer who is known keeps what the merchant knows
 * of him; what is missing is filled in. Asking again gives the same customer.
 */
export async function matchCustomer(
  sql: Transaction,
  scope: Scope,
  options: { readonly buyer: Buyer; readonly ids: Ids; readonly now: number },
): Promise<{ readonly id: string; readonly changed: boolean }> {
  const { buyer, ids, now } = options;
  // Two payments at once of a new buyer are one customer's: the external id is unique, an address is locked.
  if (buyer.externalCustomerId === null) await lockEmail(sql, scope, buyer.email);
  const found = await find(sql, scope, buyer);
  if (found !== null) {
    const patch = {
      ...(found.email === null && { email: buyer.email }),
      ...(found.name === null && buyer.name !== null && { name: buyer.name }),
    };
    if (Object.keys(patch).length === 0) return { id: found.id, changed: false };
    await updateCustomer(sql, scope, { id: found.id, patch, eventId: ids.next(), now });
    return { id: found.id, changed: true };
  }
  const made = await insertCustomer(sql, scope, {
    customer: { id: ids.next(), ...buyer, billingAddress: null, metadata: {} },
    eventId: ids.next(),
    now,
  });
  // Somebody else made the customer of this external id just now: it is visible, because the insert waited for that commit.
  return made === 'external_id_taken'
    ? matchCustomer(sql, scope, options)
    : { id: made.id, changed: false };
}

function find(sql: Transaction, scope: Scope, buyer: Buyer): Promise<CustomerRecord | null> {
  const { externalCustomerId, email } = buyer;
  return externalCustomerId === null
    ? findCustomerByEmail(sql, scope, email)
    : findCustomerByExternalId(sql, scope, externalCustomerId);
}
