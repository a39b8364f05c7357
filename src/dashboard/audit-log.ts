// Who did what to what, from where, and what it was before and after.
import type { AuditLogEntry } from '../client/types.ts';
import { faultNotice } from './parts/forms.ts';
import { button, facts, heading } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { filters, pager, table } from './parts/tables.ts';
import { code, instant } from './parts/values.ts';
import { words } from './parts/words.ts';
import { pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { choice, textField, time } from './form/field.ts';
import { drawFilters, readFilters } from './form/form.ts';
import { type Html, html } from '../pages/html.ts';

export const AUDIT_LOG_PAGES: readonly DashboardPage[] = [
  {
    path: '/audit-log',
    title: 'Audit log',
    section: 'auditLog',
    needs: ['listAuditLog'],
    show: showAuditLog,
  },
  {
    path: '/audit-log.csv',
    title: 'Audit log',
    section: 'auditLog',
    needs: ['downloadAuditLog'],
    show: downloadAuditLog,
  },
];

async function showAuditLog(visit: Visit) {
  const { api, query } = visit;
  const { place, rows } = await searched(visit.place, () =>
    api.auditLog.list({ ...pageOf(query), ...readFilters(visit, AUDIT_FILTERS) }),
  );
  return auditLogPage(place, rows);
}

function downloadAuditLog(visit: Visit): Promise<Response> {
  const { actorKind, objectId, ...same } = readFilters(visit, AUDIT_FILTERS);
  const asked = given({ ...same, actor_kind: actorKind, object_id: objectId });
  return visit.download(`/audit-log.csv?${new URLSearchParams(asked).toString()}`);
}

const ACTOR_KINDS: readonly AuditLogEntry['actor']['kind'][] = [
  'user',
  'key',
  'customer',
  'command_line',
];

/** The list, newest first. */
const AUDIT_FILTERS = {
  operation: textField({ label: 'Action', hint: 'For example updateProduct' }),
  actorKind: choice({ label: 'Actor', values: ACTOR_KINDS, none: 'Everyone' }),
  actor: textField({ label: 'Actor id: user, key or customer', type: 'search' }),
  objectId: textField({ label: 'Object id', type: 'search' }),
  from: time({ label: 'From' }),
  to: time({ label: 'Before' }),
};

function auditLogPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly AuditLogEntry[]; readonly hasMore: boolean },
): Html {
  const same = new URLSearchParams(place.query);
  for (const name of ['after', 'done']) same.delete(name);
  const csv = button(place, `/audit-log.csv?${same.toString()}`, 'Download as CSV');
  return html`${heading('Audit log', { actions: [csv] })} ${faultNotice(place)}
  ${filters(drawFilters(place, AUDIT_FILTERS))}
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
