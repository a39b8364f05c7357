// What the dashboard's pages are made of: their heads, sections, facts and links.
import { type Html, html } from '../../pages/html.ts';
import type { Place } from './place.ts';

export type Cell = string | Html | null;

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
