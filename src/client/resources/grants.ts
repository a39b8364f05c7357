import type { Table } from './resource.ts';

export const grants = {
  /** Grant a customer units of a feature. */
  create: 'createGrant',
  /** Take back what is left of a grant. */
  voidGrant: 'voidGrant',
} as const satisfies Table;
