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
  const given = value as Readonly<Record<string, unknown>>;
  // On each item of a batch: an array of pairs would cost as much again.
  for (const name of Object.keys(given)) {
    const field = given[name];
    const isOurs = typeof field === 'object' && field !== null && !NAMED_BY_CALLERS.has(name);
    fields[nameOf(name)] = isOurs ? renamed(field, nameOf) : field;
  }
  return fields;
}
