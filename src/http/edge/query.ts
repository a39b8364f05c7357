import type { TObject } from '@sinclair/typebox';
import type { Issue } from './errors.ts';
import { isStorableText } from './json.ts';
import { ISSUES_MAX, issuesOf, type Validator } from './validate.ts';

/**
 * The query parameters. A name that comes twice or is unknown is refused, like a field of a body.
 */
export function readQuery<T extends TObject>(
  address: string,
  schema: T,
  check: Validator<T>,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; issues: Issue[] } {
  const start = address.indexOf('?');
  return readPairs(start === -1 ? '' : address.slice(start + 1), schema, check);
}

/** The fields of an HTML form, which are encoded like query parameters. */
export function readPairs<T extends TObject>(
  pairs: string,
  schema: T,
  check: Validator<T>,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; issues: Issue[] } {
  // Without a prototype, so that no name has a meaning of its own.
  const values = Object.create(null) as Record<string, string | number>;
  const issues: Issue[] = [];
  for (const [name, text] of new URLSearchParams(pairs)) {
    if (issues.length === ISSUES_MAX) break;
    if (name in values) issues.push({ path: [name], message: 'is given more than once' });
    if (!isStorableText(text)) issues.push({ path: [name], message: 'holds a NUL character' });
    const isNumber = schema.properties[name]?.['type'] === 'integer' && /^-?\d{1,15}$/.test(text);
    values[name] = isNumber ? Number(text) : text;
  }
  if (issues.length > 0) return { ok: false, issues };
  if (check.Check(values)) return { ok: true, value: values };
  return { ok: false, issues: issuesOf(check, values) };
}
