// What an action changed: the fields that differ between two states of an object, bounded and
// without secrets.
import type { Json } from '../platform/postgres/postgres.ts';
import { redact } from './redact.ts';

export type Fields = Readonly<Record<string, Json>>;

export type Difference = { readonly before: Fields | null; readonly after: Fields | null };

/** Of the JSON of one field, and of all of one state. */
const FIELD_BYTES_MAX = 2048;
const STATE_BYTES_MAX = 16_384;

/** It changes with every change, and `at` says it. */
const ALWAYS = 'updated_at';

/**
 * Of two states the fields that differ; all of one where there is no other. Anything but an object
 * has no fields.
 */
export function differenceOf(before: unknown, after: unknown): Difference {
  const [was, is] = [objectOf(before), objectOf(after)];
  if (was === null || is === null) {
    return { before: was && bounded(was), after: is && bounded(is) };
  }
  const names = Object.keys({ ...was, ...is }).filter(
    (name) => name !== ALWAYS && JSON.stringify(was[name]) !== JSON.stringify(is[name]),
  );
  return { before: bounded(was, names), after: bounded(is, names) };
}

type State = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): State | null {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as State) : null;
}

function bounded(state: State, names: readonly string[] = Object.keys(state)): Fields {
  const fields: Record<string, Json> = {};
  let room = STATE_BYTES_MAX;
  for (const name of names) {
    if (state[name] === undefined) continue;
    // Text, and read again: what is measured is what is stored.
    const text = JSON.stringify(redact({ [name]: state[name] }));
    const bytes = Buffer.byteLength(text);
    if (bytes > FIELD_BYTES_MAX || bytes > room) {
      fields[name.slice(0, 100)] = `[left out: ${bytes} bytes]`;
      if (room <= 0) break;
      room -= 200;
      continue;
    }
    room -= bytes;
    Object.assign(fields, JSON.parse(text) as Fields);
  }
  return fields;
}
