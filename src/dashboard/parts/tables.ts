// Lists: tables of rows, the way to the next page, and what narrows them.
//
// Holds: every table scrolls by itself and has a caption.
import { type Html, html } from '../../pages/html.ts';
import type { Place } from './place.ts';
import { type FieldOf, field, select } from './forms.ts';
import { type Cell } from './parts.ts';

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
