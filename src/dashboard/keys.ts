// API keys: the list, and making, replacing and revoking one. These are risky: in live mode the
// member proves first who it is.
import type { ApiKey, ApiKeyScope, ApiKeyWithText } from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { numberOf, pick, textField, time } from './form/field.ts';
import { drawFields, drawForm, read } from './form/form.ts';
import { shownOnce } from './parts/once.ts';
import { type Cell, button, heading } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { pager, table } from './parts/tables.ts';
import { badge, code, instant } from './parts/values.ts';
import { PAGE_ROWS_MAX, pageOf, rowOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { type Html, html } from '../pages/html.ts';

const risk = () => ({ kind: 'api_key' }) as const;

export const KEY_PAGES: readonly DashboardPage[] = [
  { path: '/keys', title: 'API keys', section: 'keys', needs: ['listApiKeys'], show: showAll },
  {
    path: '/keys/new',
    title: 'New API key',
    section: 'keys',
    needs: ['createApiKey'],
    show: ({ place }) => Promise.resolve(newKeyPage(place)),
    act: { needs: ['createApiKey'], risk, run: make },
  },
  {
    path: '/keys/:id/rotate',
    title: 'Replace an API key',
    section: 'keys',
    needs: ['listApiKeys', 'rotateApiKey'],
    show: askRotate,
    act: { needs: ['rotateApiKey'], risk, run: rotate },
  },
  {
    path: '/keys/:id/revoke',
    title: 'Revoke an API key',
    section: 'keys',
    needs: ['listApiKeys', 'revokeApiKey'],
    show: askRevoke,
    act: { needs: ['revokeApiKey'], risk, run: revoke },
  },
];

const idOf = ({ params }: Visit): string => params['id'] ?? '';

const keyed = ({ key }: Visit) => given({ idempotencyKey: key });

async function showAll({ api, query, place }: Visit) {
  const page = await api.apiKeys.list(pageOf(query));
  return keysPage(place, { page, realNow: Date.now() });
}

const keyOf = (visit: Visit) =>
  rowOf(visit.api.apiKeys.list({ limit: PAGE_ROWS_MAX }), idOf(visit), 'API key');

async function make(visit: Visit) {
  const { scopes, ...key } = read(visit, NEW_KEY);
  // What is no scope is refused.
  const asked = { ...key, scopes: [scopes as ApiKeyScope] };
  return madeKeyPage(visit.place, await visit.api.apiKeys.create(asked, keyed(visit)));
}

async function askRotate(visit: Visit) {
  const { place } = visit;
  const key = await keyOf(visit);
  return confirmPage(place, {
    title: 'Replace key',
    under: nameOf(key),
    text: 'A new key with the same name and scope is created. The old key expires after the overlap.',
    submit: 'Replace',
    to: `/keys/${key.id}/rotate`,
    back: '/keys',
    fields: drawFields(place, ROTATION),
  });
}

async function rotate(visit: Visit) {
  const made = await visit.api.apiKeys.rotate(idOf(visit), read(visit, ROTATION), keyed(visit));
  return madeKeyPage(visit.place, made);
}

async function askRevoke(visit: Visit) {
  const key = await keyOf(visit);
  return confirmPage(visit.place, {
    title: 'Revoke key',
    under: nameOf(key),
    text: 'The key stops working at once. Programs that still use it are refused.',
    submit: 'Revoke',
    isGrave: true,
    to: `/keys/${key.id}/revoke`,
    back: '/keys',
  });
}

async function revoke(visit: Visit) {
  await visit.api.apiKeys.revoke(idOf(visit));
  return { to: '/keys', notice: 'removed' } as const;
}

const nameOf = ({ name, last4 }: ApiKey): string =>
  name ?? (last4 === null ? 'an unnamed key' : `the key that ends in ${last4}`);

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active';
}

function keysPage(
  place: Place,
  of: {
    readonly page: { readonly data: readonly ApiKey[]; readonly hasMore: boolean };
    /** Keys expire on the real time, in test mode too. */
    readonly realNow: number;
  },
): Html {
  const { page, realNow } = of;
  const actions = place.may('createApiKey') ? [button(place, '/keys/new', 'New key', false)] : [];
  return html`${heading('API keys', { under: `Keys of ${place.mode} mode.`, actions })}
  ${table({
    caption: 'API keys, newest first',
    columns: [
      'Name',
      'Key',
      'Scope',
      'State',
      'Last used',
      'Created',
      'Created by',
      'Expires',
      'Actions',
    ],
    rows: page.data.map((key) => [
      key.name,
      key.last4 === null ? null : code(key.last4),
      key.scopes.join(', '),
      badge(stateOf(key, realNow)),
      instant(place, key.lastUsedAt) ?? 'never',
      instant(place, key.createdAt),
      makerOf(key),
      instant(place, key.revokedAt ?? key.expiresAt),
      actionsOf(place, key, realNow),
    ]),
    empty: 'No API keys yet.',
  })}
  ${pager(place, { hasMore: page.hasMore, last: page.data.at(-1)?.id })}`;
}

function makerOf({ createdBy }: ApiKey): string {
  if (createdBy === null) return 'the command line';
  const { kind, label } = createdBy;
  if (kind === 'key') return label === null ? 'a deleted key' : `the key ${label}`;
  return label ?? 'a former member';
}

function actionsOf(place: Place, key: ApiKey, now: number): Cell {
  if (stateOf(key, now) !== 'active') return null;
  const to = (action: string, text: string) =>
    html`<a class="button quiet" href="${place.base}/keys/${key.id}/${action}"
      >${text}<span class="away"> ${nameOf(key)}</span></a
    >`;
  return html`<span class="actions"
    >${place.may('rotateApiKey') ? to('rotate', 'Replace') : null}
    ${place.may('revokeApiKey') ? to('revoke', 'Revoke') : null}</span
  >`;
}

const SCOPES = [
  { value: 'all', label: 'everything' },
  { value: 'read', label: 'read only' },
  { value: 'metering', label: 'check and track usage, ingest events, read balances' },
];

const NEW_KEY = {
  name: textField({ label: 'Name', hint: 'What it is for, such as billing worker.' }),
  scopes: pick({ label: 'Scope', options: SCOPES, isRequired: true }),
  expiresAt: time({
    label: ({ zone }) => `Expires (${zone})`,
    hint: 'Leave empty for never.',
  }),
};

function newKeyPage(place: Place): Html {
  return html`${heading('New API key', { under: `For ${place.mode} mode.` })}
  ${drawForm(place, NEW_KEY, { submit: 'Create key' })}`;
}

const OVERLAPS = [
  { value: '3600', label: 'for an hour' },
  { value: '86400', label: 'for a day' },
  { value: '604800', label: 'for seven days' },
  { value: '0', label: 'not at all' },
];

const ROTATION = {
  overlapSeconds: numberOf({ label: 'The old key stays valid', options: OVERLAPS }),
};

function madeKeyPage(place: Place, made: ApiKeyWithText): Html {
  return html`${heading('Key created', { under: made.name })} ${shownOnce('API key', made.key)}
    <p>${button(place, '/keys', 'All keys', false)}</p>`;
}
