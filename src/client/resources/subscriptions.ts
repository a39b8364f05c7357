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
  /** Preview a change of a subscription. */
  previewChange: 'previewSubscriptionChange',
  /** Cancel a subscription. */
  cancel: 'cancelSubscription',
  /** Preview the cancellation of a subscription. */
  previewCancel: 'previewSubscriptionCancel',
  /** Take back a scheduled cancellation. */
  uncancel: 'uncancelSubscription',
  /** Take back a change that waits. */
  unschedule: 'unscheduleSubscription',
  /** Pause a subscription. */
  pause: 'pauseSubscription',
  /** Resume a subscription. */
  resume: 'resumeSubscription',
  /** Preview the resume of a subscription. */
  previewResume: 'previewSubscriptionResume',
  /** End a trial now. */
  endTrial: 'endTrial',
  /** Preview the end of a trial. */
  previewEndTrial: 'previewTrialEnd',
} as const satisfies Table;
