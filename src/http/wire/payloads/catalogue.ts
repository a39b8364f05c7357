// The catalog of events (docs/spec/contract.md#events-of-the-contract): every type with what it
// means, what its data says, and a sample.
import type { EventType } from '../../../records/events.ts';
import { AUTO_TOPUP_PAYLOADS } from './auto-topups.ts';
import { CUSTOMER_PAYLOADS } from './customers.ts';
import { INVOICE_PAYLOADS } from './invoices.ts';
import { METERING_PAYLOADS } from './metering.ts';
import { ORGANISATION_PAYLOADS } from './organisation.ts';
import type { Payload, SampleData } from './payload.ts';
import { PAYMENT_PAYLOADS } from './payments.ts';
import { SAMPLE } from './samples.ts';
import { SUBSCRIPTION_PAYLOADS } from './subscriptions.ts';

export const EVENT_CATALOGUE: Readonly<Record<EventType, Payload>> = {
  ...PAYMENT_PAYLOADS,
  ...INVOICE_PAYLOADS,
  ...SUBSCRIPTION_PAYLOADS,
  ...CUSTOMER_PAYLOADS,
  ...METERING_PAYLOADS,
  ...AUTO_TOPUP_PAYLOADS,
  ...ORGANISATION_PAYLOADS,
};

/** The type's own fields, as an event about `objectId` could say them. */
export function sampleData(type: EventType, objectId: string): SampleData {
  return EVENT_CATALOGUE[type].sample(objectId);
}

/** The customer of a sample's object. */
export function accountOf(type: EventType, objectId: string): string | null {
  const [objectType] = EVENT_CATALOGUE[type].about;
  if (objectType === 'CUSTOMER') return objectId;
  return objectType === 'ORGANIZATION' ? null : SAMPLE.customerId;
}
