import type { Table } from './resource.ts';

export const discounts = {
  /** Create a discount code. */
  create: 'createDiscount',
  /** List discounts, newest first. */
  list: 'listDiscounts',
  /** Delete a discount. */
  del: 'deleteDiscount',
} as const satisfies Table;
