import { type Static, Type } from '@sinclair/typebox';
import type {
  Address,
  CustomerPatch,
  CustomerRecord,
  NewCustomer,
} from '../../records/customers.ts';
import { isStorableText } from '../edge/json.ts';
import { validator } from '../edge/validate.ts';
import { SAMPLE } from './payloads/samples.ts';
import { Metadata } from './metadata.ts';
import {
  Body,
  Country,
  Email,
  ExternalCustomerId,
  Line,
  Name,
  Nullable,
  Timestamp,
  Uuid,
} from './values.ts';

export const BillingAddressCreate = Type.Object(
  {
    line1: Type.Optional(Nullable(Line)),
    line2: Type.Optional(Nullable(Line)),
    city: Type.Optional(Nullable(Line)),
    state: Type.Optional(Nullable(Line)),
    postal_code: Type.Optional(Nullable(Line)),
    country: Type.Optional(Nullable(Country)),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'As invoices print it. Replaced as a whole.',
  },
);

const EXTERNAL_ID = validator(ExternalCustomerId);

export const CustomerCreate = Body(
  {
    email: Type.Optional(Email),
    name: Type.Optional(Name),
    billing_address: Type.Optional(BillingAddressCreate),
    external_customer_id: Type.Optional(ExternalCustomerId),
    metadata: Type.Optional(Metadata),
  },
  { external_customer_id: 'user-1', email: SAMPLE.email, name: 'Ada' },
);

export const CustomerChange = Body(
  {
    email: Type.Optional(Nullable(Email)),
    name: Type.Optional(Nullable(Name)),
    billing_address: Type.Optional(Nullable(BillingAddressCreate)),
    external_customer_id: Type.Optional(Nullable(ExternalCustomerId)),
    metadata: Type.Optional(Metadata),
  },
  { email: SAMPLE.email },
);

export const BillingAddress = Type.Object({
  line1: Nullable(Line),
  line2: Nullable(Line),
  city: Nullable(Line),
  state: Nullable(Line),
  postal_code: Nullable(Line),
  country: Nullable(Country),
});

export const Customer = Type.Object({
  id: Uuid,
  external_customer_id: Nullable(ExternalCustomerId),
  email: Nullable(Email),
  name: Nullable(Name),
  billing_address: Nullable(BillingAddress),
  metadata: Metadata,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function toNewCustomer(body: Static<typeof CustomerCreate>, id: string): NewCustomer {
  return {
    id,
    externalCustomerId: body.external_customer_id ?? null,
    email: body.email ?? null,
    name: body.name ?? null,
    billingAddress: addressOf(body.billing_address ?? null),
    metadata: body.metadata ?? {},
  };
}

/** What is wrong with the id in a path; null where it is valid. */
export function externalIdFault(text: string): string | null {
  // U+FFFD replaces each invalid byte, so different names would become the same.
  if (text.includes('\uFFFD')) return 'is not valid UTF-8';
  if (!isStorableText(text)) return 'must not have a NUL character or half of a surrogate pair';
  return EXTERNAL_ID.Check(text) ? null : 'must have 1 to 255 characters';
}

/** The customer that a PUT creates: null, which clears a field, is ignored here. */
export function toPutCustomer(
  patch: CustomerPatch,
  { id, externalCustomerId }: { readonly id: string; readonly externalCustomerId: string },
) {
  const { email = null, name = null, billingAddress = null, metadata = {} } = patch;
  return { id, externalCustomerId, email, name, billingAddress, metadata };
}

export function toCustomerPatch(body: Static<typeof CustomerChange>): CustomerPatch {
  const { external_customer_id: externalCustomerId, email, name, metadata } = body;
  const { billing_address: address } = body;
  const billingAddress = address === undefined ? undefined : addressOf(address);
  return { externalCustomerId, email, name, billingAddress, metadata };
}

function addressOf(given: Static<typeof BillingAddressCreate> | null): Address | null {
  if (given === null) return null;
  const { line1 = null, line2 = null, city = null, state = null, country = null } = given;
  const address = { line1, line2, city, state, postalCode: given.postal_code ?? null, country };
  // An address of nulls only is no address.
  return Object.values(address).some((value) => value !== null) ? address : null;
}

function fromAddress({ postalCode, ...address }: Address) {
  return { ...address, postal_code: postalCode };
}

export function fromCustomer(customer: CustomerRecord): Static<typeof Customer> {
  return {
    id: customer.id,
    external_customer_id: customer.externalCustomerId,
    email: customer.email,
    name: customer.name,
    billing_address: customer.billingAddress && fromAddress(customer.billingAddress),
    metadata: customer.metadata,
    created_at: customer.createdAt.toISOString(),
    updated_at: customer.updatedAt.toISOString(),
  };
}
