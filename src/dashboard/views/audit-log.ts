// Who did what to what, from where, and what it was before and after.
import type { AuditLogEntry } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { faultNotice } from '../parts/forms.ts';
import { button, facts, heading } from '../parts/parts.ts';
import { filterField, filters, filterSelect, pager, table } from '../parts/tables.ts';
import { code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { optionsOf, words } from '../parts/words.ts';

export const ACTOR_KINDS: readonly AuditLogEntry['actor']['kind'][] = [
  'user',
  'key',
  'customer',
  'command_line',
];

/** The list, newest first. */
export function auditLogPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly AuditLogEntry[]; readonly hasMore: boolean },
): Html {
  const same = new URLSearchParams(place.query);
  for (const name of ['after', 'done']) same.delete(name);
  const csv = button(place, `/audit-log.csv?${same.toString()}`, 'Download as CSV');
  return html`${heading('Audit log', { actions: [csv] })} ${faultNotice(place)}
  ${filters([
    filterField(place, { name: 'operation', label: 'Action', hint: 'For example updateProduct' }),
    filterSelect(place, {
      name: 'actor_kind',
      label: 'Actor',
      options: optionsOf(ACTOR_KINDS, 'Everyone'),
    }),
    filterField(place, { name: 'actor', label: 'Actor id: user, key or customer', type: 'search' }),
    filterField(place, { name: 'object_id', label: 'Object id', type: 'search' }),
    filterField(place, { name: 'from', label: 'From', type: 'datetime-local' }),
    filterField(place, { name: 'to', label: 'Before', type: 'datetime-local' }),
  ])}
  ${table({
    caption: 'Audit log, newest first',
    columns: ['When', 'Actor', 'Action', 'Object', 'Changes'],
    rows: data.map((entry) => [
      instant(place, entry.at),
      whoOf(entry),
      code(entry.operation),
      objectOf(entry),
      changesOf(entry),
    ]),
    empty: 'No entries match these filters.',
  })}
  ${pager(place, { hasMore, last: data.at(-1)?.id })}`;
}

function whoOf({ actor, address }: AuditLogEntry): Html {
  const only = new URLSearchParams({ actor: actor.id ?? '' });
  const name = actor.label === '' ? 'without a name' : actor.label;
  return html`<span class="muted">${words(actor.kind)}</span>
    ${actor.id === null ? name : html`<a href="?${only.toString()}">${name}</a>`}
    ${address === null ? null : html`<small class="muted">from ${address}</small>`}`;
}

function objectOf({ object: { type, id } }: AuditLogEntry): Html {
  const only = new URLSearchParams({ object_id: id ?? '' });
  return html`${words(type)}
  ${id === null ? null : html`<a href="?${only.toString()}">${code(id)}</a>`}`;
}

/** Each field that changed, as it was and as it became; opens without a script. */
function changesOf(entry: AuditLogEntry): Html {
  const { before, after } = entry;
  const names = Object.keys({ ...before, ...after });
  const said = names.length === 1 ? '1 field' : `${names.length} fields`;
  return html`<details>
    <summary>${said}</summary>
    ${facts([
      ...names.map((name) => [name, changeOf(before?.[name], after?.[name])] as const),
      ['Request', entry.requestId === null ? null : code(entry.requestId)],
      ['Browser or program', entry.userAgent],
      ['Mode', entry.mode ?? 'both'],
      ['Entry', code(entry.id)],
    ])}
  </details>`;
}

function changeOf(was: unknown, is: unknown): Html {
  return html`${was === undefined ? null : html`<del>${shown(was)}</del>`}
  ${is === undefined ? null : html`<ins>${shown(is)}</ins>`}`;
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
