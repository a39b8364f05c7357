// Deliveries of an endpoint: what it was and is owed, and each attempt.
import { TollhouseError } from '../client/index.ts';
import type { Delivery, DeliveryAttempt, Endpoint, Event } from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { button, facts, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filters, pager, table } from './parts/tables.ts';
import { badge, code, instant } from './parts/values.ts';
import { pageOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { choice, pick } from './form/field.ts';
import { drawFilters, readFilters } from './form/form.ts';
import { type Html, html } from '../pages/html.ts';
import { DELIVERY_STATUSES } from '../records/deliveries.ts';
import { EVENT_TYPES } from '../records/events.ts';

/** Endpoints to choose from: more than an organisation has, unless it is configured so. */
const ENDPOINTS_SHOWN = 200;

export const DELIVERY_PAGES: readonly DashboardPage[] = [
  {
    path: '/deliveries',
    title: 'Deliveries',
    section: 'webhooks',
    needs: ['listWebhookEndpoints', 'listDeliveries'],
    show: showAll,
  },
  {
    path: '/deliveries/:id',
    title: 'Delivery',
    section: 'webhooks',
    needs: ['getDelivery', 'getWebhookEndpoint', 'getEvent'],
    show: showOne,
  },
  {
    path: '/deliveries/:id/retry',
    title: 'Send a delivery now',
    section: 'webhooks',
    needs: ['getDelivery', 'retryDelivery'],
    show: askRetry,
    act: { needs: ['retryDelivery'], run: retry },
  },
];

async function showAll({ api, query, place }: Visit) {
  const { data: endpoints } = await api.webhookEndpoints.list({ limit: ENDPOINTS_SHOWN });
  const { endpoint, ...narrowed } = readFilters({ query, place }, DELIVERY_FILTERS);
  const endpointId = endpoint ?? endpoints[0]?.id ?? null;
  const asked = { ...pageOf(query), ...narrowed };
  const page =
    endpointId === null
      ? { data: [], hasMore: false }
      : await api.webhookEndpoints.listDeliveries(endpointId, asked);
  return deliveriesPage(place, { endpoints, endpointId, page });
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

const DELIVERY_FILTERS = {
  endpoint: pick({ label: 'Endpoint' }),
  status: choice({ label: 'State', values: DELIVERY_STATUSES, none: 'any', called: (one) => one }),
  eventType: choice({ label: 'Event', values: EVENT_TYPES, none: 'any', called: (one) => one }),
};

function deliveriesPage(
  place: Place,
  of: {
    readonly endpoints: readonly Endpoint[];
    /** The one whose deliveries these are; null where there is no endpoint. */
    readonly endpointId: string | null;
    readonly page: { readonly data: readonly Delivery[]; readonly hasMore: boolean };
  },
): Html {
  const { endpoints, endpointId, page } = of;
  const known = endpoints.map(({ id, url }) => ({ value: id, label: url }));
  const isKnown = endpointId === null || known.some(({ value }) => value === endpointId);
  return html`${heading('Deliveries', {
    under: 'Deliveries to one endpoint.',
    actions: [button(place, '/webhooks', 'Endpoints')],
  })}
  ${filters(
    drawFilters(place, DELIVERY_FILTERS, {
      values: { endpoint: endpointId },
      options: {
        endpoint: isKnown ? known : [...known, { value: endpointId, label: endpointId }],
      },
    }),
  )}
  ${table({
    caption: 'Deliveries, newest first',
    columns: [
      'Event',
      'State',
      { label: 'Attempts', isNumber: true },
      'Last attempt',
      'Response',
      'Next attempt',
    ],
    rows: page.data.map((delivery) => [
      link(place, `/deliveries/${delivery.id}`, delivery.eventType),
      badge(delivery.status),
      String(delivery.attempts.length),
      instant(place, delivery.attempts.at(-1)?.at ?? null),
      answerOf(delivery.attempts.at(-1)),
      instant(place, delivery.nextAttemptAt),
    ]),
    empty: 'No deliveries match these filters.',
  })}
  ${pager(place, { hasMore: page.hasMore, last: page.data.at(-1)?.id })}`;
}

function answerOf(attempt: DeliveryAttempt | undefined): string | null {
  if (attempt === undefined) return null;
  return attempt.statusCode === null ? (attempt.error ?? 'none') : String(attempt.statusCode);
}

function deliveryPage(
  place: Place,
  of: {
    readonly delivery: Delivery;
    /** null: it was deleted. */
    readonly endpoint: Endpoint | null;
    /** null: it is not kept any more. */
    readonly event: Event | null;
  },
): Html {
  const { delivery, endpoint, event } = of;
  const mayRetry = place.may('retryDelivery') && endpoint?.status === 'enabled';
  return html`${heading(`Delivery of ${delivery.eventType}`, {
    actions: [mayRetry ? button(place, `/deliveries/${delivery.id}/retry`, 'Send now') : null],
  })}
  ${facts([
    ['State', badge(delivery.status)],
    ['Id', code(delivery.id)],
    [
      'Endpoint',
      endpoint === null
        ? html`${code(delivery.endpointId)} (deleted)`
        : link(place, `/webhooks/${endpoint.id}`, endpoint.url),
    ],
    [
      'Event',
      event === null
        ? html`${code(delivery.eventId)} (no longer stored)`
        : link(place, `/events/${event.id}`, code(event.id)),
    ],
    delivery.nextAttemptAt === null
      ? null
      : ['Next attempt', instant(place, delivery.nextAttemptAt)],
  ])}
  ${section(
    'Attempts',
    delivery.attempts.length === 0
      ? html`<p class="empty">None yet.</p>`
      : delivery.attempts.toReversed().map((attempt) => attemptOf(place, attempt)),
  )}
  ${section('Request', requestOf(delivery, { endpoint, event }))}`;
}

function attemptOf(place: Place, attempt: DeliveryAttempt): Html {
  const { statusCode, error, responseHead } = attempt;
  const isGood = statusCode !== null && statusCode >= 200 && statusCode < 300;
  return html`<div class="card">
    ${facts([
      ['When', instant(place, attempt.at)],
      [
        'Response',
        html`${badge(isGood ? 'delivered' : 'failed')}
        ${statusCode === null ? 'none' : String(statusCode)}`,
      ],
      error === null ? null : ['Error', error],
      ['Duration', `${attempt.durationMs} ms`],
    ])}
    ${
      responseHead === null || responseHead === ''
        ? html`<p class="muted">The response had no body.</p>`
        : html`<p class="muted">Start of the response:</p>
            <pre tabindex="0">${responseHead}</pre>`
    }
  </div>`;
}

/** As it is sent each time, but for the time and the signature of an attempt. */
function requestOf(
  delivery: Delivery,
  { endpoint, event }: { readonly endpoint: Endpoint | null; readonly event: Event | null },
): Html {
  const head = [
    `POST ${endpoint?.url ?? '(deleted)'}`,
    'content-type: application/json',
    `webhook-id: ${delivery.eventId}`,
    'webhook-timestamp: (of the attempt)',
    'webhook-signature: (of the attempt)',
  ].join('\n');
  const body = event === null ? '(no longer stored)' : JSON.stringify(event, null, 2);
  return html`<pre tabindex="0">
${head}

${body}</pre>`;
}
