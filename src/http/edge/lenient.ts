// What a body may hold beyond its schema.
//
// Holds: null in an optional field means that the field is left out, because clients send null for
// values they do not have. Exceptions: a field whose absence would widen what is done (`AskedFor`),
// and a field in which null has a meaning. A currency may be in lower case.
// Costs: nothing for a body that fits its schema and has no currency.
import type { TSchema } from '@sinclair/typebox';

const ASKED_FOR = Symbol('asked for');
const LEFT_OUT = Symbol('left out');

/** A field that refuses null: without the field, the operation would do more. */
export const AskedFor = <T extends TSchema>(schema: T): T => ({ ...schema, [ASKED_FOR]: true });

type Fields = Readonly<Record<string, TSchema>>;

/** The value without the nulls that mean nothing; the same object where there are none. */
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
  const given = value as Readonly<Record<string, unknown>>;
  const changed = new Map<string, unknown>();
  // By the fields of the schema: a hostile object has many more.
  for (const [name, field] of Object.entries(fields)) {
    if (!Object.hasOwn(given, name)) continue;
    const item = given[name];
    if (item !== null) {
      const cleaned = withoutNulls(field, item);
      if (cleaned !== item) changed.set(name, cleaned);
    } else if (!required.includes(name) && !(ASKED_FOR in field) && !takesNull(field)) {
      changed.set(name, LEFT_OUT);
    }
  }
  if (changed.size === 0) return value;
  return Object.fromEntries(
    Object.entries(given)
      .map(([name, item]) => [name, changed.has(name) ? changed.get(name) : item] as const)
      .filter(([, item]) => item !== LEFT_OUT),
  );
}

/** Whether the schema has a currency anywhere. */
export function hasCurrency(schema: TSchema): boolean {
  if (schema['format'] === 'iso-4217') return true;
  const fields = fieldsOf(schema);
  if (fields !== null) return Object.values(fields).some(hasCurrency);
  const items = itemsOf(schema);
  return items !== null && hasCurrency(items);
}

/** Changes the currencies of a valid value to upper case. */
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

/** The object schema that this is, or one of whose alternatives is. */
function objectOf(schema: TSchema): TSchema | undefined {
  const members = (schema['anyOf'] ?? [schema]) as TSchema[];
  return members.find(({ properties }) => properties !== undefined);
}

function takesNull(schema: TSchema): boolean {
  const members = (schema['anyOf'] ?? [schema]) as TSchema[];
  return members.some(({ type }) => type === 'null');
}
