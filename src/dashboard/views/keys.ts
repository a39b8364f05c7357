// API keys: the list, and the forms that make, replace and revoke one.
import type { ApiKey, ApiKeyWithText } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { shownOnce } from '../parts/once.ts';
import { field, form, select } from '../parts/forms.ts';
import { button, type Cell, heading } from '../parts/parts.ts';
import { pager, table } from '../parts/tables.ts';
import { badge, code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

export const nameOf = ({ name, last4 }: ApiKey): string =>
  name ?? (last4 === null ? 'an unnamed key' : `the key that ends in ${last4}`);

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active';
}

export function keysPage(
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

export function newKeyPage(place: Place): Html {
  return html`${heading('New API key', { under: `For ${place.mode} mode.` })}
  ${form(place, {
    to: '/keys/new',
    submit: 'Create key',
    fields: [
      field(place, {
        name: 'name',
        label: 'Name',
        hint: 'What it is for, such as billing worker.',
      }),
      select(place, { name: 'scopes', label: 'Scope', options: SCOPES }),
      field(place, {
        name: 'expires_at',
        label: `Expires (${place.zone})`,
        hint: 'Leave empty for never.',
        type: 'datetime-local',
      }),
    ],
  })}`;
}

const OVERLAPS = [
  { value: '3600', label: 'for an hour' },
  { value: '86400', label: 'for a day' },
  { value: '604800', label: 'for seven days' },
  { value: '0', label: 'not at all' },
];

export const overlapField = (place: Place): Html =>
  select(place, { name: 'overlap_seconds', label: 'The old key stays valid', options: OVERLAPS });

export function madeKeyPage(place: Place, made: ApiKeyWithText): Html {
  return html`${heading('Key created', { under: made.name })} ${shownOnce('API key', made.key)}
    <p>${button(place, '/keys', 'All keys', false)}</p>`;
}
