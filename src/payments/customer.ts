// The customer of a payment.
//
// Holds: a checkout has one customer, and asking again gives the same one. With an API key, the
// customer is found by its id, else by the merchant's own id, else by an e-mail address that the
// merchant has confirmed; otherwise it is new. Without a key, each payment makes a new customer: a
// typed address proves nothing.
import { must } from '../../ledger/kernel/assert.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import { type CheckoutRecord, lockPayer, setPayer } from '../records/checkouts.ts';
import {
  type CustomerRecord,
  findCustomer,
  findCustomerByEmail,
  findCustomerByExternalId,
  insertCustomer,
  lockEmail,
  updateCustomer,
} from '../records/customers.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

export type Buyer = {
  readonly email: string;
  readonly name: string | null;
  readonly externalCustomerId: string | null;
};

type Known = { readonly id: string; readonly changed: boolean };
type Matching = { readonly buyer: Buyer; readonly ids: Ids; readonly now: number };

export async function customerOf(
  sql: Transaction,
  scope: Tenant,
  { checkoutId, ...matching }: Matching & { readonly checkoutId: string },
): Promise<Known> {
  const { source, customerId } = await lockPayer(sql, checkoutId);
  if (customerId !== null) {
    const named = must(await findCustomer(sql, scope, customerId), 'the customer of a checkout');
    if (source === 'api') return complete(sql, scope, { ...matching, found: named });
    return { id: named.id, changed: false };
  }
  const known =
    source === 'api'
      ? await matchCustomer(sql, scope, matching)
      : await makeUnverified(sql, scope, matching);
  await setPayer(sql, checkoutId, known.id);
  return known;
}

/**
 * The one that an attempt would be of if it were paid now: also what is declined is found by its
 * customer. null where that one is not made yet.
 */
export async function knownCustomerOf(
  sql: Transaction,
  checkout: CheckoutRecord,
  email: string,
): Promise<string | null> {
  const { source, customerId, externalCustomerId } = checkout;
  if (customerId !== null || source !== 'api') return customerId;
  return (await findMatch(sql, checkout, { email, externalCustomerId }))?.id ?? null;
}

/**
 * Finds the customer by the merchant's own id if there is one, else by e-mail address. Otherwise
 * makes a new one.
 */
async function matchCustomer(sql: Transaction, scope: Tenant, matching: Matching): Promise<Known> {
  const { email, externalCustomerId } = matching.buyer;
  // Two concurrent payments of a new buyer get one customer: the external id is unique, and the
  // address is locked.
  if (externalCustomerId === null) await lockEmail(sql, scope, email);
  const found = await findMatch(sql, scope, matching.buyer);
  if (found !== null) return complete(sql, scope, { ...matching, found });
  const made = await makeCustomer(sql, scope, { ...matching, selfNamed: false });
  // Another transaction has just made the customer with this external id. It is visible: the insert
  // waited for that commit.
  return made ?? matchCustomer(sql, scope, matching);
}

async function findMatch(
  sql: Transaction,
  scope: Tenant,
  { email, externalCustomerId }: Omit<Buyer, 'name'>,
): Promise<CustomerRecord | null> {
  return externalCustomerId === null
    ? findCustomerByEmail(sql, scope, email)
    : findCustomerByExternalId(sql, scope, externalCustomerId);
}

async function makeUnverified(sql: Transaction, scope: Tenant, matching: Matching): Promise<Known> {
  const buyer = { ...matching.buyer, externalCustomerId: null };
  const made = await makeCustomer(sql, scope, { ...matching, buyer, selfNamed: true });
  return must(made, 'a customer without an external id is new');
}

/** null where there is one of this external id. */
async function makeCustomer(
  sql: Transaction,
  scope: Tenant,
  { buyer, ids, now, selfNamed }: Matching & { readonly selfNamed: boolean },
): Promise<Known | null> {
  const made = await insertCustomer(sql, scope, {
    customer: { id: ids.next(), ...buyer, billingAddress: null, metadata: {}, selfNamed },
    eventId: ids.next(),
    now,
  });
  return made === 'external_id_taken' ? null : { id: made.id, changed: false };
}

/** Known fields stay as the merchant set them; missing ones are filled in. */
async function complete(
  sql: Transaction,
  scope: Tenant,
  { found, buyer, ids, now }: Matching & { readonly found: CustomerRecord },
): Promise<Known> {
  const patch = {
    ...(found.email === null && { email: buyer.email }),
    ...(found.name === null && buyer.name !== null && { name: buyer.name }),
  };
  if (Object.keys(patch).length === 0) return { id: found.id, changed: false };
  await updateCustomer(sql, scope, { id: found.id, patch, eventId: ids.next(), now });
  return { id: found.id, changed: true };
}
