import type { Table } from './resource.ts';

export const reports = {
  /** How the day goes, beside the same weekday a week before. */
  overview: 'getOverview',
  /** List payouts of the connected accounts, newest first. */
  payouts: 'listPayouts',
  /** List how deliveries fare, by webhook endpoint, newest first. */
  webhookHealth: 'listWebhookHealth',
} as const satisfies Table;
