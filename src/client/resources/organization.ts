import type { Table } from './resource.ts';

export const organization = {
  /** Get the organization and its settings. */
  retrieve: 'getOrganization',
  /** Change the settings of the organization. */
  update: 'updateOrganization',
  /** Give the organization a logo. */
  putLogo: 'putLogo',
  /** Get what the logo is. */
  retrieveLogo: 'getLogo',
  /** Remove the logo of the organization. */
  deleteLogo: 'deleteLogo',
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
