// Webhook endpoints: who is told what happens, how that fares, and the forms about one.
import { NAMED_EVENTS } from '../../ledger/event.ts';
import type {
  Endpoint,
  RotatedSecret,
  SubscribedType,
  WebhookCounts,
  WebhookHealth,
} from '../client/types.ts';
import { type Question, confirmPage } from './parts/confirm.ts';
import { shownOnce } from './parts/once.ts';
import { type Cell, button, facts, heading, link, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { pager, table } from './parts/tables.ts';
import { badge, code, instant } from './parts/values.ts';
import { pageOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { choice, some, textField } from './form/field.ts';
import { drawForm, read } from './form/form.ts';
import { type Html, html } from '../pages/html.ts';
import { EVENT_TYPES } from '../records/events.ts';

const READ = ['getWebhookEndpoint'] as const;
export const WEBHOOK_PAGES: readonly DashboardPage[] = [
  {
    path: '/webhooks',
    title: 'Webhooks',
    section: 'webhooks',
    needs: ['listWebhookEndpoints', 'listWebhookHealth'],
    show: showAll,
  },
  {
    path: '/webhooks/new',
    title: 'New webhook endpoint',
    section: 'webhooks',
    needs: ['createWebhookEndpoint'],
    show: ({ place }) => Promise.resolve(newWebhookPage(place)),
    act: { needs: ['createWebhookEndpoint'], run: make },
  },
  {
    path: '/webhooks/:id',
    title: 'Webhook endpoint',
    section: 'webhooks',
    needs: [...READ, 'listWebhookHealth'],
    show: showOne,
  },
  {
    path: '/webhooks/:id/change',
    title: 'Change a webhook endpoint',
    section: 'webhooks',
    needs: [...READ, 'updateWebhookEndpoint'],
    show: async (visit) => {
      const endpoint = await endpointOf(visit);
      return changeWebhookPage(visit.place, endpoint);
    },
    act: { needs: ['updateWebhookEndpoint'], run: change },
  },
  {
    path: '/webhooks/:id/disable',
    title: 'Disable a webhook endpoint',
    section: 'webhooks',
    needs: [...READ, 'updateWebhookEndpoint'],
    show: (visit) =>
      confirm(visit, {
        to: 'disable',
        title: 'Disable endpoint',
        text: 'Nothing is sent while it is disabled. Events are held, and sent when it is enabled again.',
        submit: 'Disable',
      }),
    act: { needs: ['updateWebhookEndpoint'], run: (visit) => turn(visit, 'disabled') },
  },
  {
    path: '/webhooks/:id/enable',
    title: 'Enable a webhook endpoint',
    section: 'webhooks',
    needs: [...READ, 'updateWebhookEndpoint'],
    show: (visit) =>
      confirm(visit, {
        to: 'enable',
        title: 'Enable endpoint',
        text: 'Held events are sent at once.',
        submit: 'Enable',
      }),
    act: { needs: ['updateWebhookEndpoint'], run: (visit) => turn(visit, 'enabled') },
  },
  {
    path: '/webhooks/:id/delete',
    title: 'Delete a webhook endpoint',
    section: 'webhooks',
    needs: [...READ, 'deleteWebhookEndpoint'],
    show: (visit) =>
      confirm(visit, {
        to: 'delete',
        title: 'Delete endpoint',
        text: 'Nothing more is sent to it. This cannot be undone.',
        submit: 'Delete',
        isGrave: true,
      }),
    act: { needs: ['deleteWebhookEndpoint'], run: remove },
  },
  {
    path: '/webhooks/:id/rotate',
    title: 'Rotate secret',
    section: 'webhooks',
    needs: [...READ, 'rotateWebhookEndpointSecret'],
    show: (visit) =>
      confirm(visit, {
        to: 'rotate',
        title: 'Rotate secret',
        text: 'The new secret signs from now on. The old one also signs for 24 hours.',
        submit: 'Rotate',
      }),
    act: { needs: [...READ, 'rotateWebhookEndpointSecret'], run: rotate },
  },
  {
    path: '/webhooks/:id/sample',
    title: 'Send a sample',
    section: 'webhooks',
    needs: [...READ, 'sendSampleEvent'],
    show: async (visit) => samplePage(visit.place, await endpointOf(visit)),
    act: { needs: ['sendSampleEvent'], run: sendSample },
  },
];

const idOf = ({ params }: Visit): string => params['id'] ?? '';

export const endpointOf = (visit: Visit): Promise<Endpoint> =>
  visit.api.webhookEndpoints.retrieve(idOf(visit));

const keyed = ({ key }: Visit) => given({ idempotencyKey: key });

async function showAll({ api, query, place }: Visit) {
  const page = pageOf(query);
  const [endpoints, health] = await Promise.all([
    api.webhookEndpoints.list(page),
    api.reports.webhookHealth(page),
  ]);
  return webhooksPage(place, { endpoints, health: health.data });
}

async function showOne(visit: Visit) {
  const [endpoint, health] = await Promise.all([
    endpointOf(visit),
    visit.api.reports.webhookHealth({ endpointId: idOf(visit) }),
  ]);
  return webhookPage(visit.place, { endpoint, health: health.data[0] });
}

async function confirm(visit: Visit, of: Omit<Question, 'under' | 'back'>) {
  const endpoint = await endpointOf(visit);
  const back = pathOf(endpoint);
  return confirmPage(visit.place, { ...of, to: `${back}/${of.to}`, under: endpoint.url, back });
}

async function make(visit: Visit) {
  const { eventTypes, description, ...endpoint } = read(visit, ENDPOINT);
  const asked = {
    ...endpoint,
    ...(description !== null && { description }),
    ...(eventTypes.length > 0 && { eventTypes }),
  };
  return madeWebhookPage(visit.place, await visit.api.webhookEndpoints.create(asked, keyed(visit)));
}

async function change(visit: Visit) {
  const endpoint = read(visit, ENDPOINT);
  const changed = await visit.api.webhookEndpoints.update(idOf(visit), endpoint);
  return { to: pathOf(changed), notice: 'changed' } as const;
}

async function turn(visit: Visit, status: Endpoint['status']) {
  const changed = await visit.api.webhookEndpoints.update(idOf(visit), { status });
  return { to: pathOf(changed), notice: 'changed' } as const;
}

async function remove(visit: Visit) {
  await visit.api.webhookEndpoints.del(idOf(visit));
  return { to: '/webhooks', notice: 'removed' } as const;
}

async function rotate(visit: Visit) {
  const endpoint = await endpointOf(visit);
  const rotated = await visit.api.webhookEndpoints.rotateSecret(endpoint.id, keyed(visit));
  return rotatedPage(visit.place, { endpoint, rotated });
}

async function sendSample(visit: Visit) {
  const sample = read(visit, SAMPLE);
  const sent = await visit.api.webhookEndpoints.test(idOf(visit), sample, keyed(visit));
  return { to: `/deliveries/${sent.id}`, notice: 'sent' } as const;
}

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

function webhooksPage(
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

function webhookPage(
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

const ONLY_ALL = '* means all events, and excludes the others.';
const ENDPOINT = {
  url: textField({
    label: 'URL',
    type: 'url',
    isRequired: true,
    maxlength: 2048,
    hint: 'An https URL that can be reached from the internet.',
  }),
  description: textField({ label: 'Description', maxlength: 500, isClearable: true }),
  eventTypes: some<SubscribedType>({
    legend: 'Events',
    options: ['*', ...EVENT_TYPES],
    hint: ONLY_ALL,
  }),
};

const NEW_ENDPOINT = {
  ...ENDPOINT,
  eventTypes: some<SubscribedType>({
    legend: 'Events',
    options: ['*', ...EVENT_TYPES],
    hint: `${TYPES_HINT} ${ONLY_ALL}`,
  }),
};

const SAMPLE = { type: choice({ label: 'Event', values: EVENT_TYPES, called: (type) => type }) };

function newWebhookPage(place: Place): Html {
  return html`${heading('New webhook endpoint')}
  ${drawForm(place, NEW_ENDPOINT, { to: '/webhooks/new', submit: 'Create endpoint' })}`;
}

function changeWebhookPage(place: Place, endpoint: Endpoint): Html {
  const to = `${pathOf(endpoint)}/change`;
  return html`${heading('Edit endpoint', { under: endpoint.url })}
  ${drawForm(place, ENDPOINT, { to, submit: 'Save', values: endpoint })}`;
}

function madeWebhookPage(
  place: Place,
  made: { readonly id: string; readonly url: string; readonly secret: string },
): Html {
  return html`${heading('Endpoint created', { under: made.url })}
    <p>Your receiver checks the signature of each delivery with this secret.</p>
    ${shownOnce('Secret', made.secret)}
    <p>${button(place, pathOf(made), 'Open the endpoint', false)}</p>`;
}

function rotatedPage(
  place: Place,
  { endpoint, rotated }: { readonly endpoint: Endpoint; readonly rotated: RotatedSecret },
): Html {
  return html`${heading('Secret rotated', { under: endpoint.url })}
    ${shownOnce('Secret', rotated.secret)}
    <p>The old secret also signs until ${instant(place, rotated.previousSecretUntil)}.</p>
    <p>${button(place, pathOf(endpoint), 'Open the endpoint', false)}</p>`;
}

function samplePage(place: Place, endpoint: Endpoint): Html {
  const to = `${pathOf(endpoint)}/sample`;
  return html`${heading('Send a sample', { under: endpoint.url })}
    <p>A signed event with "test": true. Nothing of it happened.</p>
    ${drawForm(place, SAMPLE, { to, submit: 'Send' })}`;
}
