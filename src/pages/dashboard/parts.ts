// What the dashboard's pages are made of: tables, filters, forms, facts.
//
// Holds: every table scrolls by itself and has a caption; every field has a label, and what was wrong
// with it stands beside it; an action is a form that is sent by POST with the session's token.
import { showAmount, showDecimal } from '../amount.ts';
import { type Html, html } from '../html.ts';
import { parseMoney } from '../../../ledger/kernel/money.ts';
import type { Place } from './place.ts';

export type Cell = string | Html | null;

type Column = string | { readonly label: string; readonly isNumber: true };

const labelOf = (column: Column): string => (typeof column === 'string' ? column : column.label);

/** Rows under a caption. `empty` is said where there are none. */
export function table(of: {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  readonly empty: string;
}): Html {
  const { caption, columns, rows, empty } = of;
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const isNumber = (at: number) => typeof columns[at] === 'object';
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption class="away">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(
            (column, at) =>
              html`<th scope="col" ${isNumber(at) ? html`class="number"` : null}>
                ${labelOf(column) === '' ? html`<span class="away">Actions</span>` : labelOf(column)}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map(
                (cell, at) => html`<td ${isNumber(at) ? html`class="number"` : null}>${cell}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Leads to the rows behind the last one of this page, with the same filters. */
export function pager(
  place: Place,
  { hasMore, last }: { readonly hasMore: boolean; readonly last: string | undefined },
  parameter = 'after',
): Html | null {
  const isFirst = !place.query.has(parameter);
  if (isFirst && !hasMore) return null;
  const next = new URLSearchParams(place.query);
  next.set(parameter, last ?? '');
  const first = new URLSearchParams(place.query);
  first.delete(parameter);
  return html`<nav class="pager" aria-label="Pages">
    ${isFirst ? null : html`<a class="button quiet" href="?${first.toString()}">First page</a>`}
    ${
      hasMore && last !== undefined
        ? html`<a class="button quiet" rel="next" href="?${next.toString()}">Next page</a>`
        : null
    }
  </nav>`;
}

export type FieldOf = {
  /** On the wire, so that an issue of the API finds it. */
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly hint?: string;
  readonly type?:
    | 'text'
    | 'email'
    | 'search'
    | 'datetime-local'
    | 'date'
    | 'number'
    | 'password'
    | 'url';
  readonly isRequired?: boolean;
  readonly maxlength?: number;
  readonly placeholder?: string;
  readonly autocomplete?: string;
};

const valueOf = (place: Place, { name, value = '' }: Pick<FieldOf, 'name' | 'value'>): string =>
  place.typed.get(name) ?? value;

const issueOf = (place: Place, name: string) =>
  place.fault?.issues.find(({ field: at }) => at === name || at.startsWith(`${name}.`));

function labelled(
  place: Place,
  { name, label, hint }: Pick<FieldOf, 'name' | 'label' | 'hint'>,
  control: Html,
): Html {
  const issue = issueOf(place, name);
  return html`<div class="field">
    <label for="f-${name}">${label}</label>
    ${hint === undefined ? null : html`<small class="hint" id="f-${name}-hint">${hint}</small>`}
    ${
      issue === undefined
        ? null
        : html`<p class="error" id="f-${name}-error">
            <span class="away">Error: </span>${issue.message}
          </p>`
    }
    ${control}
  </div>`;
}

function describedBy(place: Place, { name, hint }: Pick<FieldOf, 'name' | 'hint'>): Html | null {
  const isWrong = issueOf(place, name) !== undefined;
  const ids = [
    ...(hint === undefined ? [] : [`f-${name}-hint`]),
    ...(isWrong ? [`f-${name}-error`] : []),
  ];
  if (ids.length === 0) return null;
  return html`aria-describedby="${ids.join(' ')}" ${isWrong ? html`aria-invalid="true"` : null}`;
}

/** A labelled input. After a refusal it has what was typed, unless that is a secret. */
export function field(place: Place, of: FieldOf): Html {
  const control = html`<input
    id="f-${of.name}"
    name="${of.name}"
    type="${of.type ?? 'text'}"
    value="${of.type === 'password' ? '' : valueOf(place, of)}"
    maxlength="${of.maxlength ?? 255}"
    autocomplete="${of.autocomplete ?? 'off'}"
    autocapitalize="off"
    spellcheck="false"
    ${of.type === 'number' ? html`step="any"` : null}
    ${of.type === 'datetime-local' ? html`step="1"` : null}
    ${of.placeholder === undefined ? null : html`placeholder="${of.placeholder}"`}
    ${describedBy(place, of)}
    ${of.isRequired === true ? html`required` : null}
  />`;
  return labelled(place, of, control);
}

/** Of a file that is sent with a form that takes one. */
export function fileField(
  place: Place,
  of: Pick<FieldOf, 'name' | 'label' | 'hint'> & { readonly accept: readonly string[] },
): Html {
  const control = html`<input
    id="f-${of.name}"
    name="${of.name}"
    type="file"
    accept="${of.accept.join(',')}"
    ${describedBy(place, of)}
    required
  />`;
  return labelled(place, of, control);
}

export function textarea(
  place: Place,
  of: Pick<FieldOf, 'name' | 'label' | 'value' | 'hint' | 'isRequired' | 'maxlength'>,
): Html {
  const control = html`<textarea
    id="f-${of.name}"
    name="${of.name}"
    rows="4"
    maxlength="${of.maxlength ?? 4000}"
    ${describedBy(place, of)}
    ${of.isRequired === true ? html`required` : null}
  >
${valueOf(place, of)}</textarea>`;
  return labelled(place, of, control);
}

/** One of some values. */
export function select(
  place: Place,
  of: Pick<FieldOf, 'name' | 'label' | 'value' | 'hint'> & {
    readonly options: readonly { readonly value: string; readonly label: string }[];
  },
): Html {
  const chosen = valueOf(place, of);
  const control = html`<select id="f-${of.name}" name="${of.name}" ${describedBy(place, of)}>
    ${of.options.map(
      ({ value, label }) =>
        html`<option value="${value}" ${value === chosen ? html`selected` : null}>
          ${label}
        </option>`,
    )}
  </select>`;
  return labelled(place, of, control);
}

export function checkbox(
  place: Place,
  of: {
    readonly name: string;
    readonly label: string;
    readonly isChecked?: boolean;
    hint?: string;
  },
): Html {
  const wasTyped = [...place.typed.keys()].length > 0;
  const isOn = wasTyped ? place.typed.has(of.name) : of.isChecked === true;
  return html`<div class="field tick">
    <input
      id="f-${of.name}"
      name="${of.name}"
      type="checkbox"
      value="true"
      ${isOn ? html`checked` : null}
      ${describedBy(place, of)}
    />
    <label for="f-${of.name}">${of.label}</label>
    ${of.hint === undefined ? null : html`<small class="hint" id="f-${of.name}-hint">${of.hint}</small>`}
  </div>`;
}

/**
 * An action. `to` is below the place's base. It counts once, however often it is sent, and a
 * refused one is sent again under the same key.
 */
export function form(
  place: Place,
  of: {
    readonly to: string;
    readonly submit: string;
    readonly fields?: readonly (Html | null)[];
    readonly hidden?: Readonly<Record<string, string>>;
    /** It cannot be undone. */
    readonly isGrave?: boolean;
    readonly isQuiet?: boolean;
    readonly takesFile?: boolean;
  },
): Html {
  const { to, submit, fields = [], hidden = {}, isGrave = false, isQuiet = false } = of;
  const encoding = of.takesFile === true ? html`enctype="multipart/form-data"` : null;
  const kind = isGrave ? 'button grave' : isQuiet ? 'button quiet' : 'button';
  return html`<form method="post" action="${place.base}${to}" class="stack" ${encoding}>
    <input type="hidden" name="_token" value="${place.formToken}" />
    <input type="hidden" name="_key" value="${place.newKey()}" />
    ${Object.entries(hidden).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    ${fields}
    <button class="${kind}">${submit}</button>
  </form>`;
}

/** A form that narrows a list: its fields become the query. */
export function filters(fields: readonly (Html | null)[], label = 'Filters'): Html {
  return html`<form method="get" class="filters" role="search" aria-label="${label}">
    ${fields}<button class="button quiet">Search</button>
  </form>`;
}

/** A field of a filter has what the address says. */
export function filterField(place: Place, of: FieldOf): Html {
  return field(place, { ...of, value: place.query.get(of.name) ?? of.value ?? '' });
}

export function filterSelect(place: Place, of: Parameters<typeof select>[1]): Html {
  return select(place, { ...of, value: place.query.get(of.name) ?? of.value ?? '' });
}

/** What was refused, at the head of its page. It takes the focus. */
export function faultNotice({ fault }: Place): Html | null {
  if (fault === null) return null;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
    <h2>${fault.message}</h2>
    ${
      fault.issues.length === 0
        ? null
        : html`<ul>
            ${fault.issues.map(
              ({ field: name, message }) =>
                html`<li>
                  <a href="#f-${name}">${name === '' ? message : `${name} ${message}`}</a>
                </li>`,
            )}
          </ul>`
    }
    ${fault.requestId === null ? null : html`<p class="muted">Request <span class="code">${fault.requestId}</span></p>`}
  </div>`;
}

export function facts(rows: readonly (readonly [string, Cell] | null)[]): Html {
  return html`<dl class="facts">
    ${rows.map((row) =>
      row === null
        ? null
        : html`<dt>${row[0]}</dt>
            <dd>${row[1] ?? '–'}</dd>`,
    )}
  </dl>`;
}

/** A part of a page that changes by itself: the page's script keeps it as it is now. */
export const live = (id: string, content: Html): Html =>
  html`<div id="${id}" data-live>${content}</div>`;

/** A section of a page under its heading, with what may be done there. */
export function section(
  title: string,
  content: readonly (Html | null)[] | Html | null,
  actions: readonly (Html | null)[] = [],
): Html {
  return html`<section class="part">
    <div class="lead">
      <h2>${title}</h2>
      <div class="actions">${actions}</div>
    </div>
    ${content}
  </section>`;
}

/** The head of a page. */
export function heading(
  title: string | Html,
  { under = null, actions = [] }: { under?: Cell; actions?: readonly (Html | null)[] } = {},
): Html {
  return html`<div class="lead head">
    <div>
      <h1>${title}</h1>
      ${under === null ? null : html`<p class="muted">${under}</p>`}
    </div>
    <div class="actions">${actions}</div>
  </div>`;
}

/** To a page of this organisation and mode. `to` is below its base. */
export function link(place: Place, to: string, text: Cell): Html {
  return html`<a href="${place.base}${to}">${text}</a>`;
}

export function button(place: Place, to: string, text: string, isQuiet = true): Html {
  return html`<a class="${isQuiet ? 'button quiet' : 'button'}" href="${place.base}${to}"
    >${text}</a
  >`;
}

export const code = (text: string): Html => html`<span class="code">${text}</span>`;

const GOOD = new Set([
  'active',
  'succeeded',
  'paid',
  'delivered',
  'enabled',
  'accepted',
  'ok',
  'completed',
  'ready',
]);
const WAITING = new Set([
  'pending',
  'processing',
  'trialing',
  'open',
  'draft',
  'paused',
  'past_due',
  'requires_action',
  'retrying',
  'scheduled',
  'webhook_secret_required',
  'partially_refunded',
  'held',
  'advancing',
]);
const BAD = new Set([
  'failed',
  'blocked',
  'declined',
  'uncollectible',
  'lost',
  'disabled',
  'failing',
  'denied',
  'revoked',
  'exhausted',
]);

/** A state as a badge: in words, and in a colour besides. With an id it is kept as it is now. */
export function badge(state: string, liveId?: string): Html {
  const kind = GOOD.has(state)
    ? ''
    : WAITING.has(state)
      ? ' wait'
      : BAD.has(state)
        ? ' bad'
        : ' dead';
  const isLive = liveId === undefined ? null : html` id="${liveId}" data-live`;
  return html`<span class="badge${kind}" ${isLive}>${state.replaceAll('_', ' ')}</span>`;
}

/** An amount as the API writes it ("12.50"), for people. */
export function money(amount: string, currency: string): Html {
  const isNegative = amount.startsWith('-');
  const minor = parseMoney(isNegative ? amount.slice(1) : amount, currency);
  const shown = typeof minor === 'bigint' ? showAmount(minor, currency) : `${amount} ${currency}`;
  return html`<span class="money">${isNegative ? '−' : ''}${shown}</span>`;
}

/** A quantity as the API writes it, for people. */
export function quantity(value: number | string | null): string {
  return value === null ? 'unlimited' : showDecimal(String(value));
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, key: 'day' | 'time'): Intl.DateTimeFormat {
  const name = `${key} ${zone}`;
  let known = formats.get(name);
  if (known === undefined) {
    // A process serves many organisations in few zones.
    if (formats.size > 500) formats.clear();
    const time = key === 'time' ? ({ timeStyle: 'medium' } as const) : {};
    known = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', ...time, timeZone: zone });
    formats.set(name, known);
  }
  return known;
}

/** An instant in the organisation's zone. */
export function instant({ zone }: Pick<Place, 'zone'>, iso: string | null): Html | null {
  if (iso === null) return null;
  return html`<time datetime="${iso}" title="${iso}"
    >${format(zone, 'time').format(new Date(iso))}</time
  >`;
}

export function day({ zone }: Pick<Place, 'zone'>, iso: string | null): Html | null {
  if (iso === null) return null;
  return html`<time datetime="${iso}" title="${iso}"
    >${format(zone, 'day').format(new Date(iso))}</time
  >`;
}
