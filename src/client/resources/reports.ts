import type { Table } from './resource.ts';

export const reports = {
  /** List payouts of the connected accounts, newest first. */
  payouts: 'listPayouts',
} as const satisfies Table;
