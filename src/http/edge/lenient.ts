// What is taken of a body beyond its schema, and means what the schema says.
//
// Holds: null for a field that may be left out is as if it were, as clients write whatever they have no value for; but where the field
// left out would do more than was meant (`AskedFor`), and where null means something of its own. A currency may be in lower case.
// Costs: nothing for a body that fits and has no currency.
import type { TSchema } from '@sinclair/typebox';

const ASKED_FOR = Symbol('asked for');

/** A field in which null is refused: left out, it would widen what is done. */
export const AskedFor = <T extends TSchema>(schema: T): T => ({ ...schema, [ASKED_FOR]: true });

type Fields = Readonly<Record<string, TSchema>>;

/** The value without the nulls that mean nothing; the same one where it has none. */
export function withoutNulls(schema: TSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (items === null) return value;
    const given: readonly unknown[] = value;
    const cleaned = given.map((item) => withoutNulls(items, item));
    return cleaned.some((item, index) => item !== given[index]) ? cleaned : value;
  }
  const fields = fieldsOf(schema);
  if (fields === null || typeof value !== 'object' || value === null) return value;
  const required = (objectOf(schema)?.['required'] ?? []) as string[];
  const entries = Object.entries(value).flatMap(([name, item]: [string, unknown]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return [[name, item] as const];
    if (item !== null) return [[name, withoutNulls(field, item)] as const];
    const isMeant = required.includes(name) || ASKED_FOR in field || takesNull(field);
    return isMeant ? [[name, item] as const] : [];
  });
  const before = Object.values(value);
  const isSame =
    entries.length === before.length && entries.every(([, item], at) => item === before[at]);
  return isSame ? value : Object.fromEntries(entries);
}

/** Whether a currency stands in it anywhere. */
export function hasCurrency(schema: TSchema): boolean {
  if (schema['format'] === 'iso-4217') return true;
  const fields = fieldsOf(schema);
  if (fields !== null) return Object.values(fields).some(hasCurrency);
  const items = itemsOf(schema);
  return items !== null && hasCurrency(items);
}

/** Writes the currencies of a value that fits as they are kept. */
export function upperCurrencies(schema: TSchema, value: unknown): void {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (items !== null) for (const item of value) upperCurrencies(items, item);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const record = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(fieldsOf(schema) ?? {})) {
    const item = record[name];
    if (typeof item === 'string' && hasCurrency(field)) record[name] = item.toUpperCase();
    else if (typeof item === 'object') upperCurrencies(field, item);
  }
}

function itemsOf(schema: TSchema): TSchema | null {
  return (schema['items'] as TSchema | undefined) ?? null;
}

function fieldsOf(schema: TSchema): Fields | null {
  return (objectOf(schema)?.['properties'] as Fields | undefined) ?? null;
}

/** The object that it is, or may be. */
function objectOf(schema: TSchema): TSchema | undefined {
  const members = (schema['anyOf'] ?? [schema]) as TSchema[];
  return members.find(({ properties }) => properties !== undefined);
}

function takesNull(schema: TSchema): boolean {
  const members = (schema['anyOf'] ?? [schema]) as TSchema[];
  return members.some(({ type }) => type === 'null');
}
