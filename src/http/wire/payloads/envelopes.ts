// An event of each type, as it is sent and read.
import { type TObject, Type } from '@sinclair/typebox';
import { EVENT_TYPES, type EventType } from '../../../records/events.ts';
import { Timestamp, Uuid, oneOf } from '../values.ts';
import { EVENT_CATALOGUE } from './catalogue.ts';
import { commonFields, dataSchema } from './payload.ts';

/** What all types have in common. */
export const EVENT_ENVELOPE = Type.Object({
  id: Uuid,
  type: oneOf(EVENT_TYPES),
  timestamp: Timestamp,
  data: Type.Object(commonFields(oneOf(EVENT_TYPES)), {
    description: "What all events carry; the type's own fields stand beside it.",
  }),
});

type Envelope = { readonly schema: TObject; readonly data: TObject };

export const EVENT_ENVELOPES = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, envelope(type)]),
) as Readonly<Record<EventType, Envelope>>;

function envelope(type: EventType): Envelope {
  const data = dataSchema(type, EVENT_CATALOGUE[type]);
  const schema = Type.Object({ id: Uuid, type: Type.Literal(type), timestamp: Timestamp, data });
  return { schema, data };
}
