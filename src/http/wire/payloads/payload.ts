// The `data` of events, as data: for each type a schema and a sample. The schemas are part of the
// OpenAPI document, and the tests check every event that is written against them.
import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { type EventType, OBJECT_TYPES, type ObjectType } from '../../../records/events.ts';
import { Metadata } from '../metadata.ts';
import { Nullable, Timestamp, Uuid, oneOf } from '../values.ts';

export type Payload = {
  readonly meaning: string;
  /** The types of the object; the first one is the usual. */
  readonly about: readonly [ObjectType, ...ObjectType[]];
  /** The fields of this type, beside those of all events. */
  readonly fields: TProperties;
  readonly sample: (objectId: string) => SampleData;
};

export type SampleData = { readonly [field: string]: SampleValue };
type SampleValue = string | number | boolean | null | readonly SampleValue[] | SampleData;

/** The payloads of some types. */
export type Payloads = { readonly [type in EventType]?: Payload };

/** What every event about a customer, or about an object of a customer, returns. */
export const ECHO = {
  externalCustomerId: Nullable(
    Type.String({
      description:
        'As sent with the checkout that the event results from, else the current external id ' +
        'of the customer. The same holds for `metadata`: of the checkout or the subscription, ' +
        'else of the customer.',
    }),
  ),
  metadata: Metadata,
};

/** What all events carry (docs/spec/events.md#envelope). */
export function commonFields(type: TSchema, about: TSchema = oneOf(OBJECT_TYPES)) {
  return {
    id: Type.String({ ...Uuid, description: 'The id of the event.' }),
    eventType: type,
    objectId: Type.String({
      ...Uuid,
      description: 'The id of the object that the event is about.',
    }),
    objectType: about,
    accountId: Nullable(Type.String({ ...Uuid, description: 'The customer, if there is one.' })),
    organizationId: Uuid,
    timestamp: Type.String({
      ...Timestamp,
      description: 'The same as on the envelope. It increases for each object.',
    }),
    mode: oneOf(['test', 'live']),
    sequence: Type.Integer({ description: '1, 2, 3 … for each object, without a gap.' }),
    test: Type.Optional(
      Type.Literal(true, { description: 'A requested sample: it did not happen.' }),
    ),
  };
}

/** The `data` of events of this type. */
export function dataSchema(type: EventType, { about, fields }: Payload): TObject {
  const common = commonFields(
    Type.Literal(type),
    about.length === 1 ? Type.Literal(about[0]) : oneOf(about),
  );
  return Type.Object({ ...common, ...fields });
}
