// A form is declared once: its fields, by the names of the operation's input. From that it is
// drawn, and what was typed into it is read as that input.
//
//     const DISCOUNT = { code: textField({ label: 'Code' }), percentOff: number(…) };
//     drawForm(place, DISCOUNT, { submit: 'Create' })      when the page is shown
//     api.discounts.create(read(visit, DISCOUNT), …)       when the form is sent
//
// How it works: `percentOff` is `percent_off` on the wire, and a field of a group
// (`limit: { count: … }`) is `limit.count`, as the API names them in what it refuses. So a refusal
// finds its field, and the page shows it with what was typed.
import { type Html, html } from '../../pages/html.ts';
import { form } from '../parts/forms.ts';
import type { Place } from '../parts/place.ts';
import { Field, type Option, type Shown } from './field.ts';
import { type Given, given, Typed } from './typed.ts';

export type Fields = { readonly [name: string]: Field<unknown> | Fields };

/** What is there already, by the same names: the object of the API as it is. */
type ValuesOf<F> = {
  readonly [K in keyof F]?: F[K] extends Field<unknown> ? Shown : ValuesOf<F[K]> | null;
};

/** What is offered in the fields whose options the page knows only when it draws them. */
type OptionsOf<F> = { readonly [K in keyof F]?: readonly Option[] };

/** What a form is read as: what was left empty is left out. */
export type ReadOf<F> = Given<{
  -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : ReadOf<F[K]>;
}>;

type Drawing<F> = {
  readonly values?: ValuesOf<F> | null;
  readonly options?: OptionsOf<F>;
  /** Labels that only the page knows: the currency of an amount. */
  readonly labels?: { readonly [K in keyof F]?: string };
  /** Before the names of all: `prices.0.` */
  readonly prefix?: string;
};

/** `percentOff` is `percent_off`. */
const wireName = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The fields alone, for a page that has something between them. */
export function drawFields<F extends Fields>(
  place: Place,
  fields: F,
  { values, options, labels, prefix = '' }: Drawing<F> = {},
): readonly Html[] {
  return Object.entries(fields).flatMap(([key, one]) => {
    const name = prefix + wireName(key);
    const value = values?.[key];
    if (one instanceof Field) {
      const drawn = { name, value: value as Shown };
      return one.draw(place, { ...drawn, options: options?.[key], label: labels?.[key] });
    }
    return drawFields(place, one, { values: value as ValuesOf<Fields>, prefix: `${name}.` });
  });
}

/** The whole form. It is sent to its own page unless `to` says otherwise. */
export function drawForm<F extends Fields>(
  place: Place,
  fields: F,
  of: Drawing<F> &
    Partial<Pick<Parameters<typeof form>[1], 'to' | 'hidden' | 'isGrave' | 'isQuiet'>> & {
      readonly submit: string;
      /** Before and behind the fields. */
      readonly before?: readonly Html[];
      readonly more?: readonly (Html | null)[];
    },
): Html {
  const { to = place.path, submit, hidden = {}, isGrave = false, isQuiet = false } = of;
  const all = [...(of.before ?? []), ...drawFields(place, fields, of), ...(of.more ?? [])];
  return form(place, { to, submit, hidden, isGrave, isQuiet, fields: all });
}

/** What was typed into it. */
export function read<F extends Fields>(
  visit: ConstructorParameters<typeof Typed>[0],
  fields: F,
  prefix = '',
): ReadOf<F> {
  const typed = new Typed(visit);
  const entries = Object.entries(fields).map(([key, one]) => {
    const name = prefix + wireName(key);
    const value = one instanceof Field ? one.read(typed, name) : read(visit, one, `${name}.`);
    return [key, value] as const;
  });
  return given(Object.fromEntries(entries)) as ReadOf<F>;
}

/** The fields that narrow a list have what the address says. */
export function drawFilters<F extends Fields>(
  place: Place,
  fields: F,
  drawing: Drawing<F> = {},
): readonly Html[] {
  return drawFields({ ...place, typed: place.query }, fields, drawing);
}

/** What the address asks of a list. */
export function readFilters<F extends Fields>(
  { query, place }: { readonly query: URLSearchParams; readonly place: Place },
  fields: F,
): ReadOf<F> {
  return read({ form: query, place }, fields);
}

type Filled<T> = {
  [K in keyof T as null extends T[K] ? never : K]: T[K];
} & { [K in keyof T as null extends T[K] ? K : never]?: Exclude<T[K], null> };

/** Without what was left empty, where there is nothing yet to clear. */
export function filled<T extends object>(fields: T): Filled<T> {
  const kept = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(kept) as Filled<T>;
}

/** The fields of a row, which may have its number in their labels. */
type Row<F> = (at: number) => F;

/** Rows of the same fields, the first of them with what is there already. */
export function drawRows<F extends Fields>(
  place: Place,
  name: string,
  row: Row<F>,
  { count, values = [] }: { readonly count: number; readonly values?: readonly ValuesOf<F>[] },
): readonly Html[] {
  return Array.from({ length: count }, (_, at) => {
    const value = values[at] ?? null;
    const cells = drawFields(place, row(at), { values: value, prefix: `${name}.${at}.` });
    return html`<div class="tier">${cells}</div>`;
  });
}

/** The rows that are not empty; undefined where the form has none at all. */
export function readRows<F extends Fields>(
  visit: ConstructorParameters<typeof Typed>[0],
  name: string,
  row: Row<F>,
): readonly ReadOf<F>[] | undefined {
  const prefix = `${name}.`;
  const sent = [...visit.form.keys()].filter((key) => key.startsWith(prefix));
  if (sent.length === 0) return undefined;
  const numbers = new Set(sent.map((key) => Number(key.slice(prefix.length).split('.')[0])));
  return [...numbers].flatMap((at) => {
    const cells = read(visit, row(at), `${prefix}${at}.`);
    return Object.values(cells).every((cell) => cell === null) ? [] : [cells];
  });
}
