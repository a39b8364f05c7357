// The named schemas of the OpenAPI document. A schema is named after the export of its wire module,
// so that clients get a type `Checkout`; a list of it is `CheckoutList`. The schemas themselves do
// not know their names, so validation is not changed and not slower.
import {
  type SchemaOptions,
  type TLiteral,
  type TObject,
  type TSchema,
  type TUnion,
  TypeGuard,
} from '@sinclair/typebox';
import { assert } from '../../../ledger/kernel/assert.ts';
import type { DocumentDecoration } from 'elysia';
import { EXAMPLES } from './examples.ts';
import * as annotations from '../wire/annotations.ts';
import * as apiKeys from '../wire/api-keys.ts';
import * as auditLog from '../wire/audit-log.ts';
import * as balances from '../wire/balances.ts';
import * as branding from '../wire/branding.ts';
import * as checkouts from '../wire/checkouts.ts';
import * as credit from '../wire/credit.ts';
import * as customers from '../wire/customers.ts';
import * as decisions from '../wire/decisions.ts';
import * as discounts from '../wire/discounts.ts';
import * as entitlements from '../wire/entitlements.ts';
import * as errors from '../wire/errors.ts';
import * as events from '../wire/events.ts';
import * as grants from '../wire/grants.ts';
import * as health from '../wire/health.ts';
import * as invoices from '../wire/invoices.ts';
import * as metering from '../wire/metering.ts';
import * as metadata from '../wire/metadata.ts';
import * as people from '../wire/members.ts';
import * as meters from '../wire/meters.ts';
import * as organization from '../wire/organization.ts';
import * as paidBy from '../wire/paid-by.ts';
import * as overview from '../wire/overview.ts';
import * as pay from '../wire/pay.ts';
import { EVENT_ENVELOPES } from '../wire/payloads/envelopes.ts';
import * as customerPayloads from '../wire/payloads/customers.ts';
import * as subscriptionPayloads from '../wire/payloads/subscriptions.ts';
import * as payments from '../wire/payments.ts';
import * as payouts from '../wire/payouts.ts';
import * as portalTokens from '../wire/portal-tokens.ts';
import * as portal from '../wire/portal.ts';
import * as processors from '../wire/processors.ts';
import * as products from '../wire/products.ts';
import * as reservations from '../wire/reservations.ts';
import * as rollover from '../wire/rollover.ts';
import * as security from '../wire/security.ts';
import * as alerts from '../wire/alerts.ts';
import * as autoTopups from '../wire/auto-topups.ts';
import * as spendCap from '../wire/spend-cap.ts';
import * as subscriptionPreviews from '../wire/subscription-previews.ts';
import * as subscriptions from '../wire/subscriptions.ts';
import * as testClock from '../wire/test-clock.ts';
import * as usageEvents from '../wire/usage-events.ts';
import * as usagePrices from '../wire/usage-prices.ts';
import * as usageSeries from '../wire/usage-series.ts';
import * as common from '../wire/values.ts';
import * as webhookHealth from '../wire/webhook-health.ts';
import * as webhooks from '../wire/webhooks.ts';

/** A schema as Elysia's types for OpenAPI want it. */
export type JsonSchema = NonNullable<
  Exclude<NonNullable<DocumentDecoration['parameters']>[number], { $ref: string }>['schema']
>;

const MODULES: readonly object[] = [
  annotations,
  apiKeys,
  auditLog,
  balances,
  branding,
  checkouts,
  credit,
  customerPayloads,
  customers,
  decisions,
  discounts,
  entitlements,
  errors,
  events,
  grants,
  health,
  invoices,
  metadata,
  people,
  metering,
  meters,
  organization,
  overview,
  paidBy,
  pay,
  payments,
  payouts,
  portal,
  portalTokens,
  processors,
  products,
  reservations,
  rollover,
  security,
  subscriptionPayloads,
  spendCap,
  alerts,
  autoTopups,
  subscriptionPreviews,
  subscriptions,
  testClock,
  common,
  usageEvents,
  usagePrices,
  usageSeries,
  webhookHealth,
  webhooks,
];

type Named = { readonly name: string; readonly schema: TSchema };

/**
 * Keywords allowed beside a reference: they describe this place, and do not change what is valid.
 */
const ANNOTATIONS = new Set(['description', 'default', 'examples', 'deprecated']);

/** Schemas inside a schema, by keyword. */
const WITHIN = ['items', 'additionalProperties'];

/** Standard keywords for clients that do not know our formats. */
const OWN_FORMATS: Readonly<Record<string, object>> = {
  'iso-4217': { pattern: '^[A-Za-z]{3}$' },
};

const INT32_MAX = 2_147_483_647;

const NAMED = namedSchemas();

/** Gathers the named schemas that a document refers to. */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>();

  /** Plain JSON Schema: references for what has a name, without what is TypeBox's or our own. */
  of(schema: TSchema): JsonSchema {
    const named = NAMED.get(bodyOf(schema)) ?? listOf(schema);
    if (named === undefined) return this.#plain(schema);
    const beside = besideOf(schema, named.schema);
    if (beside === null) return this.#plain(schema);
    if (!this.#schemas.has(named.name)) {
      // Set before its parts are visited: a schema may refer to itself.
      this.#schemas.set(named.name, {});
      const example = EXAMPLES.get(named.schema) ?? listExample(named.schema);
      this.#schemas.set(named.name, {
        ...this.#plain(named.schema),
        ...(example !== undefined && { examples: [example] }),
      });
    }
    return { $ref: `#/components/schemas/${named.name}`, ...beside };
  }

  /** By name, in the order of the alphabet. */
  all(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #plain(schema: TSchema): JsonSchema {
    const { anyOf: _anyOf, discriminator: _tag, error: _error, ...rest } = schema;
    const plain = Object.entries(rest).map(([key, value]) => [key, this.#keyword(key, value)]);
    const members = this.#alternatives(schema);
    const own = typeof rest['format'] === 'string' ? OWN_FORMATS[rest['format']] : undefined;
    const format = numberFormat(rest);
    return { ...Object.fromEntries(plain), ...members, ...own, ...format } as JsonSchema;
  }

  /**
   * A closed set of words becomes an `enum`, which code generators understand; a tagged union names
   * its tag as discriminator.
   */
  #alternatives({ anyOf, discriminator }: TSchema): object {
    if (anyOf === undefined) return {};
    const members = anyOf as TSchema[];
    const words = wordsOf(members);
    if (words !== null) return words;
    const schemas = members.map((member) => this.of(member));
    if (discriminator === undefined) return { anyOf: schemas };
    const propertyName = String(discriminator);
    const mapping = members.flatMap((member, index) => {
      const { $ref } = schemas[index] as { $ref: string };
      const tag = (member as TObject).properties[propertyName] as TLiteral<string> | TUnion;
      const literals = 'anyOf' in tag ? (tag.anyOf as TLiteral<string>[]) : [tag];
      return literals.map(({ const: word }) => [word, $ref] as const);
    });
    return {
      oneOf: schemas,
      discriminator: { propertyName, mapping: Object.fromEntries(mapping) },
    };
  }

  #keyword(key: string, value: unknown): unknown {
    if (WITHIN.includes(key) && TypeGuard.IsSchema(value)) return this.of(value);
    if (key !== 'properties') return value;
    const fields = Object.entries(value as Record<string, TSchema>);
    return Object.fromEntries(fields.map(([name, field]) => [name, this.of(field)]));
  }
}

function namedSchemas(): Map<unknown, Named> {
  const found = new Map<unknown, Named>();
  const names = new Set<string>();
  const add = (name: string, schema: TSchema): void => {
    const other = found.get(bodyOf(schema));
    assert(other === undefined, `${name} has a name of its own, not ${other?.name}'s`);
    assert(!names.has(name), `one schema is called ${name}`);
    names.add(name);
    found.set(bodyOf(schema), { name, schema });
  };
  for (const [name, value] of MODULES.flatMap((module) => Object.entries(module))) {
    if (isNamed(value)) add(name, value);
  }
  for (const [type, envelope] of Object.entries(EVENT_ENVELOPES)) {
    add(`${pascal(type)}Event`, envelope.schema);
    add(`${pascal(type)}Data`, envelope.data);
  }
  return found;
}

/** Excludes plain strings and numbers, however bounded. */
function isNamed(value: unknown): value is TSchema {
  return TypeGuard.IsSchema(value) && (value['type'] === 'object' || value['anyOf'] !== undefined);
}

/** What a copy (Type.Optional makes one) shares with its schema. */
function bodyOf(schema: TSchema): unknown {
  return schema['properties'] ?? schema['anyOf'] ?? schema['additionalProperties'] ?? schema;
}

/** The annotations of a copy; null where it is another schema. */
function besideOf(copy: TSchema, schema: TSchema): Record<string, unknown> | null {
  const beside: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(copy), ...Object.keys(schema)])) {
    if (copy[key] === schema[key] || key === 'error') continue;
    if (!ANNOTATIONS.has(key) || copy[key] === undefined) return null;
    beside[key] = copy[key];
  }
  return beside;
}

/** A page of something that has a name. */
function listOf(schema: TSchema): Named | undefined {
  const { data, has_more: more } = (schema['properties'] ?? {}) as Record<string, TSchema>;
  const item: unknown = data?.['items'];
  if (more === undefined || !TypeGuard.IsSchema(item)) return undefined;
  const named = NAMED.get(bodyOf(item));
  return named && { name: `${named.name}List`, schema };
}

/** How wide a number is, for languages that have several. */
function numberFormat({ type, maximum = Number.MAX_SAFE_INTEGER }: SchemaOptions): object {
  if (type === 'number') return { format: 'double' };
  if (type === 'integer') return { format: Number(maximum) <= INT32_MAX ? 'int32' : 'int64' };
  return {};
}

/** A page of one. */
function listExample(schema: TSchema): unknown {
  const { data } = (schema['properties'] ?? {}) as Record<string, TSchema>;
  const item = listOf(schema) && NAMED.get(bodyOf(data?.['items'] as TSchema));
  const example = item && EXAMPLES.get(item.schema);
  return example && { data: [example], limit: 50, offset: 0, has_more: false };
}

/** null where it is not of words alone. */
function wordsOf(members: readonly TSchema[]): object | null {
  const values = members.map((member): unknown =>
    member['type'] === 'null' ? null : member['const'],
  );
  if (!values.every((value) => value === null || typeof value === 'string')) return null;
  const type = values.includes(null) ? ['string', 'null'] : 'string';
  return { type, enum: values };
}

/** `payment.refund_failed` as `PaymentRefundFailed`. */
export function pascal(type: string): string {
  return type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
