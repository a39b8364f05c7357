// Deliveries: what each endpoint was and is owed, and every attempt.
import { TollhouseError } from '../client/index.ts';
import { confirmPage } from './parts/confirm.ts';
import { deliveriesPage, deliveryPage } from './views/deliveries.ts';
import { DELIVERY_STATUSES } from '../records/deliveries.ts';
import { EVENT_TYPES } from '../records/events.ts';
import { choiceOf, pageOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './serve/typed.ts';

/** Endpoints to choose from: more than an organisation has, unless it is configured so. */
const ENDPOINTS_SHOWN = 200;

const section = 'webhooks';

export const DELIVERY_PAGES: readonly DashboardPage[] = [
  {
    path: '/deliveries',
    title: 'Deliveries',
    section,
    needs: ['listWebhookEndpoints', 'listDeliveries'],
    show: showAll,
  },
  {
    path: '/deliveries/:id',
    title: 'Delivery',
    section,
    needs: ['getDelivery', 'getWebhookEndpoint', 'getEvent'],
    show: showOne,
  },
  {
    path: '/deliveries/:id/retry',
    title: 'Send a delivery now',
    section,
    needs: ['getDelivery', 'retryDelivery'],
    show: askRetry,
    act: { needs: ['retryDelivery'], run: retry },
  },
];

async function showAll({ api, query, place }: Visit) {
  const { data: endpoints } = await api.webhookEndpoints.list({ limit: ENDPOINTS_SHOWN });
  const endpointId = query.get('endpoint') ?? endpoints[0]?.id ?? null;
  const asked = {
    ...pageOf(query),
    ...given({
      status: choiceOf(query, 'status', DELIVERY_STATUSES),
      eventType: choiceOf(query, 'event_type', EVENT_TYPES),
    }),
  };
  const page =
    endpointId === null
      ? { data: [], hasMore: false }
      : await api.webhookEndpoints.listDeliveries(endpointId, asked);
  const statuses = DELIVERY_STATUSES;
  return deliveriesPage(place, { endpoints, endpointId, page, statuses, types: EVENT_TYPES });
}

async function showOne({ api, place, params: { id = '' } }: Visit) {
  const delivery = await api.deliveries.retrieve(id);
  const [endpoint, event] = await Promise.all([
    ifThere(api.webhookEndpoints.retrieve(delivery.endpointId)),
    ifThere(api.events.retrieve(delivery.eventId)),
  ]);
  return deliveryPage(place, { delivery, endpoint, event });
}

/** null where it is gone: an endpoint may be deleted, and events are not kept for ever. */
async function ifThere<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof TollhouseError && error.status === 404) return null;
    throw error;
  }
}

async function askRetry({ api, place, params: { id = '' } }: Visit) {
  const delivery = await api.deliveries.retrieve(id);
  const back = `/deliveries/${delivery.id}`;
  return confirmPage(place, {
    title: 'Send now',
    under: delivery.eventType,
    text: 'It is sent whatever its state is. One that has succeeded or failed starts its retry schedule again.',
    submit: 'Send now',
    to: `${back}/retry`,
    back,
  });
}

async function retry({ api, key, params: { id = '' } }: Visit) {
  const sent = await api.deliveries.retry(id, given({ idempotencyKey: key }));
  return { to: `/deliveries/${sent.id}`, notice: 'sent' } as const;
}
