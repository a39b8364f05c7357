// Events sent again to a webhook endpoint: they are counted first, and sent under what was counted.
import type { Endpoint, SubscribedType } from '../client/types.ts';
import { some, time } from './form/field.ts';
import { drawForm, read } from './form/form.ts';
import { given } from './form/typed.ts';
import { form } from './parts/forms.ts';
import { heading } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { endpointOf, pathOf } from './webhooks.ts';
import { type Html, html } from '../pages/html.ts';
import { EVENT_TYPES } from '../records/events.ts';

const DAY_MS = 86_400_000;
const READ = ['getWebhookEndpoint'] as const;

export const WEBHOOK_REPLAY_PAGES: readonly DashboardPage[] = [
  {
    path: '/webhooks/:id/replay',
    title: 'Replay events',
    section: 'webhooks',
    needs: [...READ, 'replayEvents'],
    show: showReplay,
    act: { needs: [...READ, 'replayEvents'], run: replay },
  },
];

const RANGE = {
  since: time({ label: ({ zone }) => `From (${zone})`, isRequired: true }),
  until: time({ label: ({ zone }) => `Before (${zone})`, isRequired: true }),
  types: some<SubscribedType>({
    legend: 'Events',
    hint: 'None selected: what the endpoint subscribes to.',
    options: ['*', ...EVENT_TYPES],
  }),
};

async function showReplay(visit: Visit) {
  const { place } = visit;
  const at = (ms: number) => new Date(ms).toISOString();
  const range = { since: at(place.now - DAY_MS), until: at(place.now + 1000) };
  return replayPage(place, await endpointOf(visit), { range });
}

async function replay(visit: Visit) {
  const { api, form: sent, place } = visit;
  const endpoint = await endpointOf(visit);
  if (sent.get('step') === 'send') {
    const types = (sent.get('chosen') ?? '').split(',').filter((type) => type !== '');
    await api.webhookEndpoints.replay(
      endpoint.id,
      rangeOf({ ...read(visit, RANGE), types: types as SubscribedType[] }),
      given({ idempotencyKey: visit.key }),
    );
    return { to: `/deliveries?endpoint=${endpoint.id}`, notice: 'replayed' } as const;
  }
  const range = read(visit, RANGE);
  const { count } = await api.webhookEndpoints.replay(endpoint.id, {
    ...rangeOf(range),
    dryRun: true,
  });
  const asTyped = { since: sent.get('since') ?? '', until: sent.get('until') ?? '' };
  const counted = { ...asTyped, chosen: range.types.join(','), count };
  return replayPage({ ...place, typed: sent }, endpoint, { range, counted });
}

function rangeOf(range: {
  readonly since: string;
  readonly until: string;
  readonly types: readonly SubscribedType[];
}) {
  const { types, ...span } = range;
  return { ...span, ...(types.length > 0 && { types }) };
}

/** What was counted, as it was typed. */
type Counted = {
  readonly since: string;
  readonly until: string;
  readonly chosen: string;
  readonly count: number;
};

function replayPage(
  place: Place,
  endpoint: Endpoint,
  {
    range,
    counted = null,
  }: {
    readonly range: { readonly since: string; readonly until: string };
    readonly counted?: Counted | null;
  },
): Html {
  const to = `${pathOf(endpoint)}/replay`;
  return html`${heading('Replay events', { under: endpoint.url })}
    <p>
      Every event of this range and these types is sent to this endpoint again, whether it was
      delivered before or not. They are counted first.
    </p>
    ${counted === null ? null : replayNow(place, to, counted)}
    ${drawForm(place, RANGE, {
      to,
      submit: 'Count events',
      isQuiet: counted !== null,
      hidden: { step: 'count' },
      values: range,
    })}`;
}

function replayNow(place: Place, to: string, { count, ...hidden }: Counted): Html {
  const said = count === 1 ? '1 event is sent again.' : `${count} events are sent again.`;
  const submit = `Send ${count === 1 ? 'it' : 'them'} now`;
  return html`<div class="notice" role="status">${said}</div>
    ${count === 0 ? null : form(place, { to, submit, hidden: { step: 'send', ...hidden } })}`;
}
