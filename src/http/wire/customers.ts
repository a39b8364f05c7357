import { type Static, Type } from '@sinclair/typebox';
import type { CustomerPatch, CustomerRecord, NewCustomer } from '../../records/customers.ts';
import {
  Body,
  Email,
  ExternalCustomerId,
  Metadata,
  Name,
  Nullable,
  Timestamp,
  Uuid,
} from './values.ts';

export const CustomerCreate = Body({
  email: Type.Optional(Email),
  name: Type.Optional(Name),
  external_customer_id: Type.Optional(ExternalCustomerId),
  metadata: Type.Optional(Metadata),
});

export const CustomerChange = Body({
  email: Type.Optional(Nullable(Email)),
  name: Type.Optional(Nullable(Name)),
  external_customer_id: Type.Optional(Nullable(ExternalCustomerId)),
  metadata: Type.Optional(Metadata),
});

export const Customer = Type.Object({
  id: Uuid,
  external_customer_id: Nullable(ExternalCustomerId),
  email: Nullable(Email),
  name: Nullable(Name),
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
    metadata: body.metadata ?? {},
  };
}

export function toCustomerPatch(body: Static<typeof CustomerChange>): CustomerPatch {
  const { external_customer_id: externalCustomerId, email, name, metadata } = body;
  return { externalCustomerId, email, name, metadata };
}

export function fromCustomer(customer: CustomerRecord): Static<typeof Customer> {
  return {
    id: customer.id,
    external_customer_id: customer.externalCustomerId,
    email: customer.email,
    name: customer.name,
    metadata: customer.metadata,
    created_at: customer.createdAt.toISOString(),
    updated_at: customer.updatedAt.toISOString(),
  };
}
