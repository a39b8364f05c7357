import { type Static, Type } from '@sinclair/typebox';
import { decimal } from '../../../ledger/kernel/decimal.ts';
import { CREDIT_COSTS_MAX, SCALE_MAX } from '../../../ledger/limits.ts';
import type { GivenCost } from '../../metering/credit-costs.ts';
import type { MeterPatch, MeterRecord, NewMeter } from '../../records/meters.ts';
import type { Fixed } from '../../metering/put-meter.ts';
import { Metadata } from './metadata.ts';
import { FeatureKey } from './usage-fields.ts';
import { Body, Name, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const SLUG_FORM = 'must be 1 to 64 of a-z, 0-9, _ and -, and begin with a letter or digit';
const Slug = Type.String({ pattern: SLUG.source, error: SLUG_FORM });

const Property = (description?: string) =>
  Type.String({ minLength: 1, maxLength: 40, ...(description !== undefined && { description }) });
const Unit = Type.String({ minLength: 1, maxLength: 40 });
const Description = Type.String({ maxLength: 1000 });

export const Aggregation = oneOf(['sum', 'count', 'max', 'last', 'unique'], {
  description: 'How the events of a period add up to its usage.',
});

export const MeterStatus = oneOf(['active', 'archived']);

/** Fields that the consumption of a meter depends on: they cannot be changed. */
const FIXED = {
  event_name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Default: the slug.' }),
  ),
  aggregation: Type.Optional(Aggregation),
  value_property: Type.Optional(
    Property('The name of the value in the metadata of usage: a number or a decimal string.'),
  ),
  unique_property: Type.Optional(
    Property(
      'The name of what `unique` counts in the metadata of usage, by its text: 7 and "7" are ' +
        'the same.',
    ),
  ),
  scale: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 9,
      default: 6,
      description: 'Decimals of a quantity. Default of a pool of credits: 9.',
    }),
  ),
  carry: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'For `last` alone: each period begins with the level of the one before, such as seats or ' +
        'stored bytes. Without it each begins with nothing.',
    }),
  ),
};

const Cost = Type.String({
  pattern: '^\\d{1,15}(\\.\\d{1,15})?$',
  description: 'Credits a unit: a decimal above 0.',
  examples: ['0.5'],
  error: 'must be a decimal string such as "0.5"',
});

const COSTS = 'For a pool of credits: the cost of a unit of each feature that it pays for.';

export const CreditCostCreate = Body({ feature_key: FeatureKey, cost: Cost });
export const CreditCost = Type.Object({ feature_key: FeatureKey, cost: Cost });

const CreditCosts = Type.Array(CreditCostCreate, {
  maxItems: CREDIT_COSTS_MAX,
  description: `${COSTS} Another list counts for each customer from the next period of the pool on.`,
  error: `must be a list of at most ${CREDIT_COSTS_MAX} costs`,
});

const CHANGEABLE = {
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
  unit: Type.Optional(Nullable(Unit)),
  metadata: Type.Optional(Metadata),
  status: Type.Optional(MeterStatus),
  credit_costs: Type.Optional(CreditCosts),
};

export const MeterCreate = Body(
  {
    slug: Slug,
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    ...FIXED,
    unit: Type.Optional(Unit),
    metadata: Type.Optional(Metadata),
    credit_costs: Type.Optional(CreditCosts),
  },
  { slug: 'api-calls', name: 'API calls', unit: 'calls', scale: 0 },
);

export const MeterChange = Body(CHANGEABLE, { name: 'Calls' }, ['slug', ...Object.keys(FIXED)]);

export const MeterPut = Body(
  { slug: Type.Optional(Slug), ...FIXED, ...CHANGEABLE },
  { name: 'API calls', unit: 'calls', scale: 0 },
);

/** What is wrong with a slug; null where it is valid. */
export function slugFault(text: string): string | null {
  return SLUG.test(text) ? null : SLUG_FORM;
}

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
  carry: Type.Boolean({
    description: 'Whether each period begins with the level of the one before.',
  }),
  metadata: Metadata,
  status: MeterStatus,
  credit_costs: Type.Array(CreditCost, {
    description: `${COSTS} Empty for every other meter.`,
  }),
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
    scale: body.scale ?? (isPool(body) ? SCALE_MAX : 6),
    carry: body.carry ?? false,
    metadata: body.metadata ?? {},
  };
}

const isPool = ({ credit_costs: costs = [] }: Pick<Static<typeof MeterPut>, 'credit_costs'>) =>
  costs.length > 0;

/** undefined where none were given. */
export function toGivenCosts({
  credit_costs: costs,
}: Pick<Static<typeof MeterPut>, 'credit_costs'>): readonly GivenCost[] | undefined {
  return costs?.map(({ feature_key: featureKey, cost }) => ({ featureKey, cost }));
}

/** The meter that a PUT creates. */
export function toPutMeter(
  { description, unit, ...body }: Static<typeof MeterPut>,
  slug: string,
  id: string,
): NewMeter {
  const words = { ...(description && { description }), ...(unit && { unit }) };
  return toNewMeter({ ...body, ...words, slug }, id);
}

export function toFixed(body: Static<typeof MeterPut>): Partial<Fixed> {
  return Object.fromEntries(
    Object.entries(FIXED_NAMES).flatMap(([field, name]) =>
      body[name] === undefined ? [] : [[field, body[name]]],
    ),
  );
}

export const FIXED_NAMES = {
  eventName: 'event_name',
  aggregation: 'aggregation',
  valueProperty: 'value_property',
  uniqueProperty: 'unique_property',
  scale: 'scale',
  carry: 'carry',
} as const satisfies Record<keyof Fixed, keyof typeof FIXED>;

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
    carry: meter.carry,
    metadata: meter.metadata,
    status: meter.status,
    credit_costs: meter.creditCosts.map(({ slug, scale, rate }) => ({
      feature_key: slug,
      cost: decimal(BigInt(rate), meter.scale - scale),
    })),
    created_at: meter.createdAt.toISOString(),
    updated_at: meter.updatedAt.toISOString(),
  };
}
