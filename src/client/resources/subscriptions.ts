import type { Table } from './resource.ts';

export const subscriptions = {
  /** Start a subscription by hand. */
  create: 'createSubscription',
  /** List subscriptions, newest first. */
  list: 'listSubscriptions',
  /** Get a subscription. */
  retrieve: 'getSubscription',
  /** Preview the next invoice of a subscription. */
  upcomingInvoice: 'getUpcomingInvoice',
  /** Change the price or the quantity of a subscription. */
  change: 'changeSubscription',
  /** Cancel a subscription. */
  cancel: 'cancelSubscription',
  /** Take back a scheduled cancellation. */
  uncancel: 'uncancelSubscription',
  /** Pause a subscription. */
  pause: 'pauseSubscription',
  /** Resume a subscription. */
  resume: 'resumeSubscription',
  /** End a trial now. */
  endTrial: 'endTrial',
} as const satisfies Table;
