// Metadata: pairs of text that a caller attaches to an object
// (docs/spec/contract.md#limits-of-the-contract), and on usage numbers and booleans too.
//
// Holds: lengths count characters; half of a surrogate pair is none. Counting takes time linear in
// the text, and stops at twice the bound. No regular expression runs on it.
import type { Scalar } from '../../../ledger/kernel/transfers.ts';
import type { Issue } from '../edge/errors.ts';
import { rule, ruled } from '../edge/validate.ts';

const PAIRS_MAX = 50;
const KEY_LENGTH_MAX = 40;
const VALUE_LENGTH_MAX = 500;
const TEXT = { type: 'string', maxLength: VALUE_LENGTH_MAX };

export type Metadata = Readonly<Record<string, string>>;

export const Metadata = pairsOf<Record<string, string>>('Metadata', textFault, TEXT);

/** Metadata of usage. A number is a double, kept and shown as JSON writes it: 1.0 is 1. */
export const UsageMetadata = pairsOf<Record<string, Scalar>>('UsageMetadata', scalarFault, {
  anyOf: [TEXT, { type: 'number', format: 'double' }, { type: 'boolean' }],
});

/** What is wrong with a value; null where it is valid. */
type Fault = (value: unknown) => string | null;

function pairsOf<T>(name: string, fault: Fault, shown: object) {
  const check = rule(
    name,
    (value) => issues(value, fault),
    (value) => fits(value, fault),
  );
  return ruled<T>(check, {
    type: 'object',
    maxProperties: PAIRS_MAX,
    propertyNames: { minLength: 1, maxLength: KEY_LENGTH_MAX },
    additionalProperties: shown,
  });
}

function fits(value: unknown, fault: Fault): boolean {
  if (!isRecord(value)) return false;
  let pairs = 0;
  for (const key in value) {
    pairs += 1;
    if (pairs > PAIRS_MAX || keyFault(key) !== null || fault(value[key]) !== null) return false;
  }
  return true;
}

function issues(value: unknown, fault: Fault): Issue[] {
  if (!isRecord(value)) return [{ path: [], message: 'must be an object' }];
  const pairs = Object.entries(value);
  if (pairs.length > PAIRS_MAX) {
    return [{ path: [], message: `must have at most ${PAIRS_MAX} pairs` }];
  }
  return pairs.flatMap(([key, item]) => {
    const message = keyFault(key) ?? fault(item);
    return message === null ? [] : [{ path: [shortened(key)], message }];
  });
}

function keyFault(key: string): string | null {
  if (key === '') return 'must have a key that is not empty';
  if (hasAtMost(key, KEY_LENGTH_MAX)) return null;
  return `must have a key of at most ${KEY_LENGTH_MAX} characters`;
}

function scalarFault(value: unknown): string | null {
  if (typeof value === 'string') return textFault(value);
  // JSON can hold a number beyond a double: 1e400.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is too large a number';
  if (typeof value === 'number' || typeof value === 'boolean') return null;
  return 'must be a string, a number or a boolean';
}

function textFault(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string';
  if (hasAtMost(value, VALUE_LENGTH_MAX)) return null;
  return `must have at most ${VALUE_LENGTH_MAX} characters`;
}

function hasAtMost(text: string, max: number): boolean {
  if (text.length <= max) return true;
  // A character takes two units at most.
  if (text.length > 2 * max) return false;
  let count = 0;
  for (const _character of text) count += 1;
  return count <= max;
}

/** A caller's key in our answer, shortened. */
function shortened(key: string): string {
  return key.length <= 2 * KEY_LENGTH_MAX ? key : `${key.slice(0, 2 * KEY_LENGTH_MAX)}…`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
