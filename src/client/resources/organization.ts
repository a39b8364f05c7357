import type { Table } from './resource.ts';

export const organization = {
  /** Get the organization and its settings. */
  retrieve: 'getOrganization',
  /** Change the settings of the organization. */
  update: 'updateOrganization',
  /** Get what is asked of members. */
  retrieveSecurity: 'getSecurity',
  /** Change what is asked of members. */
  updateSecurity: 'updateSecurity',
  /** Connect a Stripe account, or replace its key. */
  connectProcessor: 'connectProcessor',
  /** Get the connected Stripe account. */
  retrieveProcessor: 'getProcessor',
  /** Disconnect the Stripe account. */
  disconnectProcessor: 'disconnectProcessor',
} as const satisfies Table;
