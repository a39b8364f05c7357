// The fields that bodies about usage share.
import { Type } from '@sinclair/typebox';
import { ExternalCustomerId, Uuid } from './values.ts';

/**
 * A quantity in a request: a JSON number or a decimal string, with no more decimals than its meter.
 */
export const Quantity = Type.Union(
  [Type.Number(), Type.String({ pattern: '^-?\\d{1,15}(\\.\\d{1,15})?$' })],
  { error: 'must be a number or a decimal string' },
);

export const FeatureKey = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The slug of the meter.',
});

/** A caller's key of an event: one key counts once for a customer. */
export const EventKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x7e\\u00a0-\\uffff]+$',
  error: 'must be 1 to 255 printable characters',
});

export const WHO = {
  customer_id: Type.Optional(Uuid),
  external_customer_id: Type.Optional(ExternalCustomerId),
};
