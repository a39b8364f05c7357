import type { Table } from './resource.ts';

export const customers = {
  /** Create a customer. */
  create: 'createCustomer',
  /** List customers, newest first. */
  list: 'listCustomers',
  /** Get a customer. */
  retrieve: 'getCustomer',
  /** Create a customer, or change it where it is there. */
  put: 'putCustomer',
  /** Change a customer. */
  update: 'updateCustomer',
  /** What a customer has of each feature in the current period. */
  listBalances: 'listBalances',
  /** Set the spend cap of a customer. */
  putSpendCap: 'putSpendCap',
  /** Get the spend cap of a customer. */
  retrieveSpendCap: 'getSpendCap',
  /** Remove the spend cap of a customer. */
  delSpendCap: 'deleteSpendCap',
  /** Get the credit of a customer. */
  retrieveCredit: 'getCredit',
  /** List what changed the credit of a customer, newest first. */
  listCreditEntries: 'listCreditEntries',
  /** Top a customer up automatically. */
  putAutoTopup: 'putAutoTopup',
  /** Get the automatic top-up of a feature. */
  retrieveAutoTopup: 'getAutoTopup',
  /** List the automatic top-ups of a customer. */
  listAutoTopups: 'listAutoTopups',
  /** Remove the automatic top-up of a feature. */
  delAutoTopup: 'deleteAutoTopup',
} as const satisfies Table;
