import type { Table } from './resource.ts';

export const webhookEndpoints = {
  /** Register a webhook endpoint. */
  create: 'createWebhookEndpoint',
  /** List webhook endpoints, newest first. */
  list: 'listWebhookEndpoints',
  /** Get a webhook endpoint. */
  retrieve: 'getWebhookEndpoint',
  /** Change a webhook endpoint. */
  update: 'updateWebhookEndpoint',
  /** Delete a webhook endpoint. */
  del: 'deleteWebhookEndpoint',
  /** Replace the secret of a webhook endpoint. */
  rotateSecret: 'rotateWebhookEndpointSecret',
  /** Send a sample event to a webhook endpoint. */
  test: 'sendSampleEvent',
  /** Send a range of events to a webhook endpoint again. */
  replay: 'replayEvents',
  /** List what was and is owed to a webhook endpoint, newest first. */
  listDeliveries: 'listDeliveries',
} as const satisfies Table;

export const deliveries = {
  /** Get a delivery, with all its attempts. */
  retrieve: 'getDelivery',
  /** Send a delivery now. */
  retry: 'retryDelivery',
} as const satisfies Table;

export const partnerWebhookEndpoints = {
  /** Register a group's webhook endpoint. */
  create: 'createPartnerWebhookEndpoint',
  /** List the group's webhook endpoints, newest first. */
  list: 'listPartnerWebhookEndpoints',
  /** Get a group's webhook endpoint. */
  retrieve: 'getPartnerWebhookEndpoint',
  /** Change a group's webhook endpoint. */
  update: 'updatePartnerWebhookEndpoint',
  /** Delete a group's webhook endpoint. */
  del: 'deletePartnerWebhookEndpoint',
  /** Replace the secret of a group's webhook endpoint. */
  rotateSecret: 'rotatePartnerWebhookEndpointSecret',
} as const satisfies Table;
