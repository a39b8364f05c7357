import type { Table } from './resource.ts';

export const grants = {
  /** Grant a customer units of a feature. */
  create: 'createGrant',
  /** What a customer may use of each feature, grant by grant. */
  list: 'listGrants',
  /** Take back what is left of a grant. */
  voidGrant: 'voidGrant',
} as const satisfies Table;
