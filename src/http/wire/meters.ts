import { type Static, Type } from '@sinclair/typebox';
import type { MeterPatch, MeterRecord, NewMeter } from '../../records/meters.ts';
import { Metadata } from './metadata.ts';
import { Body, Name, Nullable, Timestamp, Uuid } from './values.ts';

const Slug = Type.String({
  pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
  error: 'must be 1 to 64 of a-z, 0-9, _ and -, and begin with a letter or digit',
});

const Property = (description?: string) =>
  Type.String({ minLength: 1, maxLength: 40, ...(description !== undefined && { description }) });
const Unit = Type.String({ minLength: 1, maxLength: 40 });
const Description = Type.String({ maxLength: 1000 });

const Aggregation = Type.Union(
  [
    Type.Literal('sum'),
    Type.Literal('count'),
    Type.Literal('max'),
    Type.Literal('last'),
    Type.Literal('unique'),
  ],
  { description: 'How the events of a period become its consumption.' },
);

const Status = Type.Union([Type.Literal('active'), Type.Literal('archived')]);

export const MeterCreate = Body(
  {
    slug: Slug,
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    event_name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Default: the slug.' }),
    ),
    aggregation: Type.Optional(Aggregation),
    value_property: Type.Optional(
      Property('Where the value stands in the metadata of usage: a number or a decimal string.'),
    ),
    unique_property: Type.Optional(
      Property('What `unique` counts in the metadata of usage, by its text: 7 and "7" are one.'),
    ),
    unit: Type.Optional(Unit),
    scale: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 9, default: 6, description: 'Decimals of a quantity.' }),
    ),
    metadata: Type.Optional(Metadata),
  },
  { slug: 'api-calls', name: 'API calls', unit: 'calls', scale: 0 },
);

export const MeterChange = Body(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Nullable(Description)),
    unit: Type.Optional(Nullable(Unit)),
    metadata: Type.Optional(Metadata),
    status: Type.Optional(Status),
  },
  { name: 'Calls' },
  ['slug', 'event_name', 'aggregation', 'value_property', 'unique_property', 'scale'],
);

export const Meter = Type.Object({
  id: Uuid,
  slug: Slug,
  name: Name,
  description: Nullable(Description),
  event_name: Type.String(),
  aggregation: Aggregation,
  value_property: Nullable(Property()),
  unique_property: Nullable(Property()),
  unit: Nullable(Unit),
  scale: Type.Integer(),
  metadata: Metadata,
  status: Status,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function toNewMeter(body: Static<typeof MeterCreate>, id: string): NewMeter {
  return {
    id,
    slug: body.slug,
    name: body.name ?? body.slug,
    description: body.description ?? null,
    eventName: body.event_name ?? body.slug,
    aggregation: body.aggregation ?? 'sum',
    valueProperty: body.value_property ?? null,
    uniqueProperty: body.unique_property ?? null,
    unit: body.unit ?? null,
    scale: body.scale ?? 6,
    metadata: body.metadata ?? {},
  };
}

export function toMeterPatch(body: Static<typeof MeterChange>): MeterPatch {
  const { name, description, unit, metadata, status } = body;
  return { name, description, unit, metadata, status };
}

export function fromMeter(meter: MeterRecord): Static<typeof Meter> {
  return {
    id: meter.id,
    slug: meter.slug,
    name: meter.name,
    description: meter.description,
    event_name: meter.eventName,
    aggregation: meter.aggregation,
    value_property: meter.valueProperty,
    unique_property: meter.uniqueProperty,
    unit: meter.unit,
    scale: meter.scale,
    metadata: meter.metadata,
    status: meter.status,
    created_at: meter.createdAt.toISOString(),
    updated_at: meter.updatedAt.toISOString(),
  };
}
