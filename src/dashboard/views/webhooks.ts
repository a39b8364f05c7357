// Webhook endpoints: the list with how each fares, one of them, and the forms about it.
import { NAMED_EVENTS } from '../../../ledger/event.ts';
import type { Endpoint, RotatedSecret, WebhookCounts, WebhookHealth } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { shownOnce } from '../parts/once.ts';
import { field, form, select } from '../parts/forms.ts';
import { button, type Cell, facts, heading, link, section } from '../parts/parts.ts';
import { pager, table } from '../parts/tables.ts';
import { badge, code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { ticks } from '../parts/ticks.ts';

export const pathOf = ({ id }: { readonly id: string }): string => `/webhooks/${id}`;

/** Of those that were sent: how many of a hundred the receiver has. null where none was sent. */
function successOf({ delivered, retrying, exhausted }: WebhookCounts): string | null {
  const sent = delivered + retrying + exhausted;
  if (sent === 0) return null;
  // 99.96 is not all of them.
  const tenths = Math.floor((delivered * 1000) / sent);
  return `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

function rate(counts: WebhookCounts | undefined): Cell {
  if (counts === undefined) return null;
  const success = successOf(counts);
  const { delivered, retrying, exhausted } = counts;
  return success === null
    ? html`<span class="muted">nothing sent</span>`
    : html`${success} <span class="muted">of ${delivered + retrying + exhausted}</span>`;
}

export function webhooksPage(
  place: Place,
  {
    endpoints,
    health,
  }: {
    readonly endpoints: { readonly data: readonly Endpoint[]; readonly hasMore: boolean };
    readonly health: readonly WebhookHealth[];
  },
): Html {
  const fares = new Map(health.map((one) => [one.id, one]));
  const actions = place.may('createWebhookEndpoint')
    ? [button(place, '/webhooks/new', 'New endpoint', false)]
    : [];
  return html`${heading('Webhooks', {
    under: 'Your URLs that receive events.',
    actions,
  })}
  ${table({
    caption: 'Webhook endpoints, newest first',
    columns: [
      'URL',
      'State',
      { label: 'Success today', isNumber: true },
      { label: 'Success in 7 days', isNumber: true },
      'Events',
    ],
    rows: endpoints.data.map((endpoint) => [
      link(place, pathOf(endpoint), endpoint.url),
      badge(stateOf(endpoint)),
      rate(fares.get(endpoint.id)?.today),
      rate(fares.get(endpoint.id)?.week),
      typesOf(endpoint),
    ]),
    empty: 'No webhook endpoints yet.',
  })}
  ${pager(place, { hasMore: endpoints.hasMore, last: endpoints.data.at(-1)?.id })}`;
}

/** One that is enabled, and to which nothing gets through, is failing. */
function stateOf({ status, failingSince }: Endpoint): string {
  return status === 'enabled' && failingSince !== null ? 'failing' : status;
}

function typesOf({ eventTypes }: Endpoint): string {
  if (eventTypes.includes('*')) return 'all';
  return eventTypes.length === 1 ? (eventTypes[0] ?? '') : `${eventTypes.length} types`;
}

const WHY_DISABLED = {
  gone: 'It answered 410 Gone.',
  failing: 'All deliveries failed for a day.',
} as const;

export function webhookPage(
  place: Place,
  { endpoint, health }: { readonly endpoint: Endpoint; readonly health: WebhookHealth | undefined },
): Html {
  const path = pathOf(endpoint);
  return html`${heading(endpoint.url, {
    under: endpoint.description,
    actions: [
      offered(place, 'updateWebhookEndpoint', `${path}/change`, 'Change'),
      endpoint.status === 'enabled'
        ? offered(place, 'updateWebhookEndpoint', `${path}/disable`, 'Disable')
        : offered(place, 'updateWebhookEndpoint', `${path}/enable`, 'Enable'),
      offered(place, 'sendSampleEvent', `${path}/sample`, 'Send a sample'),
      offered(place, 'replayEvents', `${path}/replay`, 'Replay events'),
      offered(place, 'rotateWebhookEndpointSecret', `${path}/rotate`, 'Rotate secret'),
      offered(place, 'deleteWebhookEndpoint', `${path}/delete`, 'Delete'),
    ],
  })}
  ${facts([
    ['State', badge(stateOf(endpoint))],
    endpoint.disabledReason === null
      ? null
      : ['Why it is disabled', WHY_DISABLED[endpoint.disabledReason]],
    endpoint.failingSince === null
      ? null
      : ['Failing since', instant(place, endpoint.failingSince)],
    ['Id', code(endpoint.id)],
    ['Created', instant(place, endpoint.createdAt)],
    ['Updated', instant(place, endpoint.updatedAt)],
    ['Events', endpoint.eventTypes.includes('*') ? 'all' : endpoint.eventTypes.join(', ')],
  ])}
  ${section('Deliveries', healthTable(health), [
    button(place, `/deliveries?endpoint=${endpoint.id}`, 'All deliveries'),
    button(place, `/deliveries?endpoint=${endpoint.id}&status=exhausted`, 'Failed'),
  ])}`;
}

function offered(
  place: Place,
  operation: Parameters<Place['may']>[0],
  to: string,
  text: string,
): Html | null {
  return place.may(operation) ? button(place, to, text) : null;
}

function healthTable(health: WebhookHealth | undefined): Html | null {
  if (health === undefined) return null;
  const row = (when: string, counts: WebhookCounts): Cell[] => [
    when,
    successOf(counts) ?? '–',
    String(counts.delivered),
    String(counts.retrying),
    String(counts.exhausted),
    String(counts.pending),
    String(counts.held),
  ];
  const numbers = ['Success', 'Delivered', 'Retried', 'Failed', 'Pending', 'Held'];
  return html`${table({
    caption: 'Deliveries by outcome',
    columns: ['Created', ...numbers.map((label) => ({ label, isNumber: true }) as const)],
    rows: [row('today', health.today), row('in 7 days', health.week)],
    empty: '',
  })}
  ${health.complete ? null : html`<p class="muted">There are too many deliveries: only the newest are counted.</p>`}`;
}

const TYPES_HINT = `None selected: all except ${NAMED_EVENTS.join(', ')}.`;

function endpointFields(
  place: Place,
  { endpoint, types }: { readonly endpoint: Endpoint | null; readonly types: readonly string[] },
): Html[] {
  return [
    field(place, {
      name: 'url',
      label: 'URL',
      type: 'url',
      isRequired: true,
      maxlength: 2048,
      value: endpoint?.url ?? '',
      hint: 'An https URL that can be reached from the internet.',
    }),
    field(place, {
      name: 'description',
      label: 'Description',
      maxlength: 500,
      value: endpoint?.description ?? '',
    }),
    ticks(place, {
      name: 'event_types',
      legend: 'Events',
      options: ['*', ...types],
      chosen: endpoint?.eventTypes ?? [],
      hint:
        endpoint === null
          ? `${TYPES_HINT} * means all events, and excludes the others.`
          : '* means all events, and excludes the others.',
    }),
  ];
}

export function newWebhookPage(place: Place, types: readonly string[]): Html {
  return html`${heading('New webhook endpoint')}
  ${form(place, {
    to: '/webhooks/new',
    submit: 'Create endpoint',
    fields: endpointFields(place, { endpoint: null, types }),
  })}`;
}

export function changeWebhookPage(
  place: Place,
  of: { readonly endpoint: Endpoint; readonly types: readonly string[] },
): Html {
  return html`${heading('Edit endpoint', { under: of.endpoint.url })}
  ${form(place, {
    to: `${pathOf(of.endpoint)}/change`,
    submit: 'Save',
    fields: endpointFields(place, of),
  })}`;
}

export function madeWebhookPage(
  place: Place,
  made: { readonly id: string; readonly url: string; readonly secret: string },
): Html {
  return html`${heading('Endpoint created', { under: made.url })}
    <p>Your receiver checks the signature of each delivery with this secret.</p>
    ${shownOnce('Secret', made.secret)}
    <p>${button(place, pathOf(made), 'Open the endpoint', false)}</p>`;
}

export function rotatedPage(
  place: Place,
  { endpoint, rotated }: { readonly endpoint: Endpoint; readonly rotated: RotatedSecret },
): Html {
  return html`${heading('Secret rotated', { under: endpoint.url })}
    ${shownOnce('Secret', rotated.secret)}
    <p>The old secret also signs until ${instant(place, rotated.previousSecretUntil)}.</p>
    <p>${button(place, pathOf(endpoint), 'Open the endpoint', false)}</p>`;
}

export function samplePage(
  place: Place,
  { endpoint, types }: { readonly endpoint: Endpoint; readonly types: readonly string[] },
): Html {
  return html`${heading('Send a sample', { under: endpoint.url })}
    <p>A signed event with "test": true. Nothing of it happened.</p>
    ${form(place, {
      to: `${pathOf(endpoint)}/sample`,
      submit: 'Send',
      fields: [
        select(place, {
          name: 'type',
          label: 'Event',
          options: types.map((type) => ({ value: type, label: type })),
        }),
      ],
    })}`;
}

export type ReplayRange = {
  readonly since: string;
  readonly until: string;
  readonly types: readonly string[];
  /** How many would be sent; null before they are counted. */
  readonly count: number | null;
};

export function replayPage(
  place: Place,
  of: {
    readonly endpoint: Endpoint;
    readonly types: readonly string[];
    readonly range: ReplayRange;
  },
): Html {
  const { endpoint, types, range } = of;
  const to = `${pathOf(endpoint)}/replay`;
  const { count } = range;
  return html`${heading('Replay events', { under: endpoint.url })}
    <p>
      Every event of this range and these types is sent to this endpoint again, whether it was
      delivered before or not. They are counted first.
    </p>
    ${count === null ? null : replayNow(place, { to, range, count })}
    ${form(place, {
      to,
      submit: 'Count events',
      isQuiet: count !== null,
      hidden: { step: 'count' },
      fields: [
        field(place, {
          name: 'since',
          label: `From (${place.zone})`,
          type: 'datetime-local',
          isRequired: true,
          value: range.since,
        }),
        field(place, {
          name: 'until',
          label: `Before (${place.zone})`,
          type: 'datetime-local',
          isRequired: true,
          value: range.until,
        }),
        ticks(place, {
          name: 'types',
          legend: 'Events',
          hint: 'None selected: what the endpoint subscribes to.',
          options: ['*', ...types],
          chosen: range.types,
        }),
      ],
    })}`;
}

function replayNow(
  place: Place,
  {
    to,
    range,
    count,
  }: { readonly to: string; readonly range: ReplayRange; readonly count: number },
): Html {
  const said = count === 1 ? '1 event is sent again.' : `${count} events are sent again.`;
  const { since, until, types } = range;
  return html`<div class="notice" role="status">${said}</div>
    ${
      count === 0
        ? null
        : form(place, {
            to,
            submit: `Send ${count === 1 ? 'it' : 'them'} now`,
            hidden: { step: 'send', since, until, chosen: types.join(',') },
          })
    }`;
}
