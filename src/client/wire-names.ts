// Bodies and answers with the names of the wire, and with ours.
//
// Holds: what callers name themselves (metadata) goes both ways as it is, and so does every value.
// A field keeps its name where it has the form already, as in the data of events.
import { toCamel, toSnake } from './casing.ts';
import { NAMED_BY_CALLERS } from './operations.ts';

/** A body or a query for the wire. */
export function toWire(value: unknown): unknown {
  return renamed(value, toSnake);
}

/** An answer from the wire. */
export function fromWire(value: unknown): unknown {
  return renamed(value, toCamel);
}

function renamed(value: unknown, nameOf: (name: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, nameOf));
  // A date, for example, knows its own form.
  if ('toJSON' in value) return value;
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    fields[nameOf(name)] = NAMED_BY_CALLERS.has(name) ? field : renamed(field, nameOf);
  }
  return fields;
}
