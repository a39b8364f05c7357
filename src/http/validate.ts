// The schemas that validate are the schemas of the OpenAPI document. Nothing is coerced, defaulted or stripped.
import { FormatRegistry, type TSchema } from '@sinclair/typebox';
import { TypeCompiler, type TypeCheck } from '@sinclair/typebox/compiler';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { assert } from '../../ledger/assert.ts';
import type { Issue } from './errors.ts';

/** Enough to mend a form, and a bound on what a hostile body can make us write. */
const ISSUES_MAX = 50;

// Said in the document; a `pattern` beside it is what checks.
for (const format of ['uuid', 'email', 'date-time']) FormatRegistry.Set(format, () => true);

export type Validator<T extends TSchema> = TypeCheck<T>;

export function validator<T extends TSchema>(schema: T): Validator<T> {
  const check = TypeCompiler.Compile(schema);
  for (const example of (schema['examples'] ?? []) as unknown[]) {
    assert(check.Check(example), 'what the document shows is taken');
  }
  return check;
}

/** Why `value` does not fit: one issue for each place, the first that was found there. */
export function issuesOf(check: TypeCheck<TSchema>, value: unknown): Issue[] {
  const issues = new Map<string, Issue>();
  for (const error of exact(check.Errors(value))) {
    if (issues.has(error.path)) continue;
    issues.set(error.path, { path: segments(error.path), message: messageOf(error) });
    if (issues.size === ISSUES_MAX) break;
  }
  return [...issues.values()];
}

/** Of an object that may be null: what is wrong within it, rather than that it is not one of the two. */
function* exact(errors: Iterable<ValueError>): Iterable<ValueError> {
  for (const error of errors) {
    const members = error.type === ValueErrorType.Union ? (error.schema['anyOf'] as TSchema[]) : [];
    const at = members.length === 2 ? members.findIndex(({ type }) => type === 'object') : -1;
    const isObject = typeof error.value === 'object' && error.value !== null;
    const within = isObject ? error.errors[at] : undefined;
    if (within !== undefined && members[1 - at]?.['type'] === 'null') yield* exact(within);
    else yield error;
  }
}

/** A JSON pointer as the list that it stands for. */
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
  [ValueErrorType.StringPattern]: (schema) => `must match ${schema['pattern']}`,
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

function messageOf({ type, schema, message }: ValueError): string {
  if (type === ValueErrorType.ObjectRequiredProperty) return 'is required';
  // A schema's own words win.
  if (typeof schema['error'] === 'string') return schema['error'];
  return MESSAGES[type]?.(schema) ?? message;
}

function unionMessage(schema: TSchema): string {
  const members = (schema['anyOf'] ?? []) as TSchema[];
  const names = members.map((member) =>
    String(member['const'] ?? member['type'] ?? 'something else'),
  );
  return `must be ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}`;
}
