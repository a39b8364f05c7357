// An event of each type, as it is sent and read.
import { type TObject, Type } from '@sinclair/typebox';
import {
  EVENT_TYPES,
  envelopeOf,
  type EventEnvelope,
  type EventType,
} from '../../../records/events.ts';
import { Timestamp, Uuid, oneOf } from '../values.ts';
import { accountOf, EVENT_CATALOGUE, sampleData } from './catalogue.ts';
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

/** What an event of this type looks like. */
export function sampleEnvelope(type: EventType): EventEnvelope {
  const objectId = '01976c2e-5f00-7a10-8000-0000000000ff';
  const objectType = EVENT_CATALOGUE[type].about[0];
  return envelopeOf({
    id: '01976c2e-5f00-7a10-8000-0000000000fe',
    type,
    objectType,
    objectId,
    accountId: accountOf(type, objectId),
    organisationId: '01976c2e-5f00-7a10-8000-0000000000fd',
    mode: 'test',
    sequence: 1n,
    at: new Date('2026-11-21T12:00:00.000Z'),
    data: sampleData(type, objectId),
  });
}
