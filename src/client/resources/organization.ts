import type { Table } from './resource.ts';

export const organization = {
  /** Get the organization and its settings. */
  retrieve: 'getOrganization',
  /** Change the settings of the organization. */
  update: 'updateOrganization',
} as const satisfies Table;
