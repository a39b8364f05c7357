import type { Table } from './resource.ts';

export const decisions = {
  /** Why usage was allowed or denied: by an id, a key, or a customer and an instant. */
  find: 'listDecisions',
} as const satisfies Table;
