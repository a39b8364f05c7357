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
        'As sent with the checkout that began what the event is about; without one, what you call the customer now. So is ' +
        '`metadata`: of the checkout or the subscription that began it, else of the customer.',
    }),
  ),
  metadata: Metadata,
};

/** What all events carry (docs/spec/events.md#envelope). */
export function commonFields(type: TSchema, about: TSchema = oneOf(OBJECT_TYPES)) {
  return {
    id: Type.String({ ...Uuid, description: "The event's id, again." }),
    eventType: type,
    objectId: Type.String({ ...Uuid, description: 'What it is about.' }),
    objectType: about,
    accountId: Nullable(Type.String({ ...Uuid, description: 'The customer, where there is one.' })),
    organizationId: Uuid,
    timestamp: Type.String({
      ...Timestamp,
      description: 'As on the envelope. Of the events of one object a later one has a later time.',
    }),
    mode: oneOf(['test', 'live']),
    sequence: Type.Integer({ description: '1, 2, 3 … for each object, without a gap.' }),
    test: Type.Optional(
      Type.Literal(true, { description: 'A sample that was asked for: nothing of it happened.' }),
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
