import type { Table } from './resource.ts';

export const alerts = {
  /** Make an alert for a threshold of usage. */
  create: 'createAlert',
  /** List alerts, newest first. */
  list: 'listAlerts',
  /** Get an alert. */
  retrieve: 'getAlert',
  /** What alerts a customer has, and which have fired. */
  listOfCustomer: 'listCustomerAlerts',
  /** Delete an alert. */
  del: 'deleteAlert',
} as const satisfies Table;
