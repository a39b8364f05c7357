// The bounds in time of a list.
import type { Issue } from '../edge/errors.ts';
import { timeOf } from './usage.ts';

export type FromTo = { readonly from: Date | null; readonly to: Date | null };

/** The bounds of a query, or what is wrong with them. */
export function fromTo(query: {
  readonly from?: string;
  readonly to?: string;
}): FromTo | readonly Issue[] {
  const issues: Issue[] = [];
  const read = (name: 'from' | 'to'): Date | null => {
    const text = query[name];
    const at = text === undefined ? null : timeOf(text);
    if (text !== undefined && at === null) {
      issues.push({ path: [name], message: 'must be an ISO 8601 time with a zone' });
    }
    return at === null ? null : new Date(at);
  };
  const times = { from: read('from'), to: read('to') };
  return issues.length > 0 ? issues : times;
}
