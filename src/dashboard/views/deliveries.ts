// Deliveries of an endpoint: the list, and one of them with each attempt.
import type { Delivery, DeliveryAttempt, Endpoint, Event } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { button, facts, heading, link, section } from '../parts/parts.ts';
import { filters, filterSelect, pager, table } from '../parts/tables.ts';
import { badge, code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

type Option = { readonly value: string; readonly label: string };

const any = { value: '', label: 'any' };
const options = (values: readonly string[]): Option[] => [
  any,
  ...values.map((value) => ({ value, label: value })),
];

export function deliveriesPage(
  place: Place,
  of: {
    readonly endpoints: readonly Endpoint[];
    /** The one whose deliveries these are; null where there is no endpoint. */
    readonly endpointId: string | null;
    readonly page: { readonly data: readonly Delivery[]; readonly hasMore: boolean };
    readonly statuses: readonly string[];
    readonly types: readonly string[];
  },
): Html {
  const { endpoints, endpointId, page, statuses, types } = of;
  const known = endpoints.map(({ id, url }) => ({ value: id, label: url }));
  const isKnown = endpointId === null || known.some(({ value }) => value === endpointId);
  return html`${heading('Deliveries', {
    under: 'Deliveries to one endpoint.',
    actions: [button(place, '/webhooks', 'Endpoints')],
  })}
  ${filters([
    filterSelect(place, {
      name: 'endpoint',
      label: 'Endpoint',
      value: endpointId ?? '',
      options: isKnown ? known : [...known, { value: endpointId, label: endpointId }],
    }),
    filterSelect(place, { name: 'status', label: 'State', options: options(statuses) }),
    filterSelect(place, { name: 'event_type', label: 'Event', options: options(types) }),
  ])}
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

export function deliveryPage(
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
