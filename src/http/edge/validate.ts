// The schemas that validate are the schemas of the OpenAPI document. Nothing is coerced, defaulted
// or stripped.
import { FormatRegistry, Kind, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';
import { TypeCompiler, type TypeCheck } from '@sinclair/typebox/compiler';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { assert } from '../../../ledger/kernel/assert.ts';
import type { Issue } from './errors.ts';

/** Enough to correct a form, and a bound on the answer to a hostile body. */
export const ISSUES_MAX = 50;

// Documents the format only: `timeOf` checks it.
FormatRegistry.Set('date-time', () => true);

/** Why a value does not fit; paths are relative to the value. */
type Issues = (value: unknown) => readonly Issue[];

type Rule = { readonly name: string };

const RULES = new Map<string, Issues>();

/**
 * A check in code: for what a schema cannot express, or only by a pattern or comparison that is
 * slow on a hostile value. `fits` is the fast check, for what is called often.
 */
export function rule(
  name: string,
  issues: Issues,
  fits: (value: unknown) => boolean = (value) => issues(value).length === 0,
): Rule {
  assert(!RULES.has(name), 'each rule has a name of its own');
  RULES.set(name, issues);
  TypeRegistry.Set(name, (_schema, value) => fits(value));
  return { name };
}

/** A schema that is checked by a rule alone. The document shows `shown`. */
export function ruled<T>({ name }: Rule, shown: object) {
  return Type.Unsafe<T>({ ...shown, [Kind]: name });
}

export type Validator<T extends TSchema> = TypeCheck<T>;

export function validator<T extends TSchema>(schema: T): Validator<T> {
  const check = TypeCompiler.Compile(schema);
  for (const example of (schema['examples'] ?? []) as unknown[]) {
    assert(check.Check(example), 'what the document shows is taken');
  }
  return check;
}

/** Why `value` does not fit: one issue for each place, the first that was found there. */
export function issuesOf(
  check: TypeCheck<TSchema>,
  value: unknown,
  max: number = ISSUES_MAX,
): Issue[] {
  const issues = new Map<string, Issue>();
  for (const error of exact(check.Errors(value))) {
    for (const issue of issuesIn(error)) {
      const place = issue.path.join('\0');
      if (!issues.has(place)) issues.set(place, issue);
      if (issues.size === max) return [...issues.values()];
    }
    // The items of a list that is too long are not checked: they may be anything, and many.
    if (error.type === ValueErrorType.ArrayMaxItems) break;
  }
  return [...issues.values()];
}

function issuesIn(error: ValueError): readonly Issue[] {
  const path = segments(error.path);
  const issues = error.type === ValueErrorType.Kind ? RULES.get(error.schema[Kind]) : undefined;
  if (issues === undefined) return [{ path, message: messageOf(error) }];
  return issues(error.value).map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

/** For what may be null: why it is not the other, rather than "neither that nor null". */
function* exact(errors: Iterable<ValueError>): Iterable<ValueError> {
  for (const error of errors) {
    const members = error.type === ValueErrorType.Union ? (error.schema['anyOf'] as TSchema[]) : [];
    const at = members.findIndex(({ type }) => type !== 'null');
    const member = members[at];
    const isNullable = members.length === 2 && members[1 - at]?.['type'] === 'null';
    const isMeant = isNullable && member !== undefined && isMeantAs(member, error);
    const within = isMeant ? error.errors[at] : undefined;
    if (within === undefined) yield error;
    else yield* exact(within);
  }
}

/**
 * Whether the value is of the kind of the schema, or the schema's own error text fits any value.
 */
function isMeantAs({ type, error }: TSchema, { value }: ValueError): boolean {
  if (typeof error === 'string') return true;
  if (type === 'object' || type === 'array') return typeof value === 'object' && value !== null;
  return type === 'string' && typeof value === 'string';
}

/** Splits a JSON pointer. */
function segments(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const MESSAGES: Partial<Record<ValueErrorType, (schema: TSchema) => string>> = {
  [ValueErrorType.ObjectRequiredProperty]: () => 'is required',
  [ValueErrorType.ObjectAdditionalProperties]: () => 'is not a known field',
  [ValueErrorType.ObjectMinProperties]: () => 'must not be empty',
  [ValueErrorType.StringMinLength]: (schema) =>
    schema['minLength'] === 1
      ? 'must not be empty'
      : `must have at least ${schema['minLength']} characters`,
  [ValueErrorType.StringMaxLength]: (schema) =>
    `must have at most ${schema['maxLength']} characters`,
  [ValueErrorType.StringPattern]: () => 'is not written as it must be',
  [ValueErrorType.ArrayMinItems]: (schema) => `must have at least ${schema['minItems']} items`,
  [ValueErrorType.ArrayMaxItems]: (schema) => `must have at most ${schema['maxItems']} items`,
  [ValueErrorType.IntegerMinimum]: (schema) => `must be at least ${schema['minimum']}`,
  [ValueErrorType.IntegerMaximum]: (schema) => `must be at most ${schema['maximum']}`,
  [ValueErrorType.NumberMinimum]: (schema) => `must be at least ${schema['minimum']}`,
  [ValueErrorType.NumberMaximum]: (schema) => `must be at most ${schema['maximum']}`,
  [ValueErrorType.Union]: unionMessage,
  [ValueErrorType.String]: () => 'must be a string',
  [ValueErrorType.Object]: () => 'must be an object',
  [ValueErrorType.Array]: () => 'must be an array',
  [ValueErrorType.Integer]: () => 'must be a whole number',
  [ValueErrorType.Number]: () => 'must be a number',
  [ValueErrorType.Boolean]: () => 'must be true or false',
};

function messageOf({ type, schema, message, path }: ValueError): string {
  if (type === ValueErrorType.ObjectRequiredProperty) return 'is required';
  if (type === ValueErrorType.ObjectAdditionalProperties && isImmutable(schema, path)) {
    return 'cannot be changed';
  }
  // The schema's own error text wins.
  if (typeof schema['error'] === 'string') return schema['error'];
  return MESSAGES[type]?.(schema) ?? message;
}

/** Fields that a record has, and that no change may name. */
export const IMMUTABLE = Symbol('immutable');

function isImmutable(schema: TSchema, path: string): boolean {
  const names = (schema as { readonly [IMMUTABLE]?: readonly string[] })[IMMUTABLE] ?? [];
  return names.includes(path.slice(path.lastIndexOf('/') + 1));
}

function unionMessage(schema: TSchema): string {
  const members = (schema['anyOf'] ?? []) as TSchema[];
  const names = members.map((member) =>
    String(member['const'] ?? member['type'] ?? 'something else'),
  );
  return `must be ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}`;
}
