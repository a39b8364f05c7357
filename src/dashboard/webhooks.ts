// Webhook endpoints: who is told what happens, and how that fares.
import type { Endpoint, SubscribedType } from '../client/types.ts';
import { confirmPage, type Question } from './parts/confirm.ts';
import { instantOf, localTime } from './parts/local-time.ts';
import {
  changeWebhookPage,
  madeWebhookPage,
  newWebhookPage,
  pathOf,
  type ReplayRange,
  replayPage,
  rotatedPage,
  samplePage,
  webhookPage,
  webhooksPage,
} from './views/webhooks.ts';
import { EVENT_TYPES } from '../records/events.ts';
import { pageOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

const DAY_MS = 86_400_000;

const read = ['getWebhookEndpoint'] as const;
const section = 'webhooks';

export const WEBHOOK_PAGES: readonly DashboardPage[] = [
  {
    path: '/webhooks',
    title: 'Webhooks',
    section,
    needs: ['listWebhookEndpoints', 'listWebhookHealth'],
    show: showAll,
  },
  {
    path: '/webhooks/new',
    title: 'New webhook endpoint',
    section,
    needs: ['createWebhookEndpoint'],
    show: ({ place }) => Promise.resolve(newWebhookPage(place, EVENT_TYPES)),
    act: { needs: ['createWebhookEndpoint'], run: make },
  },
  {
    path: '/webhooks/:id',
    title: 'Webhook endpoint',
    section,
    needs: [...read, 'listWebhookHealth'],
    show: showOne,
  },
  {
    path: '/webhooks/:id/change',
    title: 'Change a webhook endpoint',
    section,
    needs: [...read, 'updateWebhookEndpoint'],
    show: async (visit) => {
      const endpoint = await endpointOf(visit);
      return changeWebhookPage(visit.place, { endpoint, types: EVENT_TYPES });
    },
    act: { needs: ['updateWebhookEndpoint'], run: change },
  },
  {
    path: '/webhooks/:id/disable',
    title: 'Disable a webhook endpoint',
    section,
    needs: [...read, 'updateWebhookEndpoint'],
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
    section,
    needs: [...read, 'updateWebhookEndpoint'],
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
    section,
    needs: [...read, 'deleteWebhookEndpoint'],
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
    section,
    needs: [...read, 'rotateWebhookEndpointSecret'],
    show: (visit) =>
      confirm(visit, {
        to: 'rotate',
        title: 'Rotate secret',
        text: 'The new secret signs from now on. The old one also signs for 24 hours.',
        submit: 'Rotate',
      }),
    act: { needs: [...read, 'rotateWebhookEndpointSecret'], run: rotate },
  },
  {
    path: '/webhooks/:id/sample',
    title: 'Send a sample',
    section,
    needs: [...read, 'sendSampleEvent'],
    show: async (visit) =>
      samplePage(visit.place, { endpoint: await endpointOf(visit), types: EVENT_TYPES }),
    act: { needs: ['sendSampleEvent'], run: sendSample },
  },
  {
    path: '/webhooks/:id/replay',
    title: 'Replay events',
    section,
    needs: [...read, 'replayEvents'],
    show: showReplay,
    act: { needs: [...read, 'replayEvents'], run: replay },
  },
];

const idOf = ({ params }: Visit): string => params['id'] ?? '';

const endpointOf = (visit: Visit): Promise<Endpoint> =>
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

/** The API says which of them is no type of event. */
const typesOf = (form: URLSearchParams, name: string) =>
  form.getAll(name) as readonly SubscribedType[];

async function make(visit: Visit) {
  const typed = new Typed(visit);
  const eventTypes = typesOf(visit.form, 'event_types');
  const made = await visit.api.webhookEndpoints.create(
    {
      url: typed.required('url'),
      ...given({ description: typed.text('description') }),
      ...(eventTypes.length > 0 && { eventTypes }),
    },
    keyed(visit),
  );
  return madeWebhookPage(visit.place, made);
}

async function change(visit: Visit) {
  const typed = new Typed(visit);
  const changed = await visit.api.webhookEndpoints.update(idOf(visit), {
    url: typed.required('url'),
    description: typed.text('description') ?? null,
    eventTypes: typesOf(visit.form, 'event_types'),
  });
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
  const type = new Typed(visit).choice('type', EVENT_TYPES);
  const sent = await visit.api.webhookEndpoints.test(idOf(visit), given({ type }), keyed(visit));
  return { to: `/deliveries/${sent.id}`, notice: 'sent' } as const;
}

async function showReplay(visit: Visit) {
  const { place } = visit;
  const at = (ms: number) => localTime(new Date(ms).toISOString(), place.zone);
  const range = {
    since: at(place.now - DAY_MS),
    until: at(place.now + 1000),
    types: [],
    count: null,
  };
  return replayPage(place, { endpoint: await endpointOf(visit), types: EVENT_TYPES, range });
}

/** Counts them, and shows how many there are; then, under what was counted, sends them. */
async function replay(visit: Visit) {
  const { api, form, place } = visit;
  const endpoint = await endpointOf(visit);
  const [since, until] = [form.get('since') ?? '', form.get('until') ?? ''];
  const isSent = form.get('step') === 'send';
  const chosen = isSent
    ? ((form.get('chosen') ?? '').split(',').filter((type) => type !== '') as SubscribedType[])
    : typesOf(form, 'types');
  const asked = {
    since: instantOf(since, place.zone),
    until: instantOf(until, place.zone),
    ...(chosen.length > 0 && { types: chosen }),
  };
  if (isSent) {
    await api.webhookEndpoints.replay(endpoint.id, asked, keyed(visit));
    return { to: `/deliveries?endpoint=${endpoint.id}`, notice: 'replayed' } as const;
  }
  const { count } = await api.webhookEndpoints.replay(endpoint.id, { ...asked, dryRun: true });
  const range: ReplayRange = { since, until, types: chosen, count };
  return replayPage({ ...place, typed: form }, { endpoint, types: EVENT_TYPES, range });
}
