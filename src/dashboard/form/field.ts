// The kinds of fields that a form has. A kind is how a field is drawn and how it is read, in one.
//
// Holds: nothing is judged here. What was left empty is left out, or is null where that clears what
// there was, and the rest goes to the API as it is, whose refusal the page shows.
import { localTime } from '../parts/local-time.ts';
import type { Html } from '../../pages/html.ts';
import { checkbox, type FieldOf, field, select, textarea } from '../parts/forms.ts';
import type { Place } from '../parts/place.ts';
import { ticks } from '../parts/ticks.ts';
import { wrongField } from '../serve/refusals.ts';
import { words } from '../parts/words.ts';
import type { Typed } from './typed.ts';

export type Option = { readonly value: string; readonly label: string };

/** What is there already, as the API has it. */
export type Shown =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly (string | number)[]
  | Readonly<Record<string, string>>;

export type Drawn = {
  /** On the wire: an issue of the API finds the field by it. */
  readonly name: string;
  readonly value: Shown;
  /** What is offered, where the page knows it only now. */
  readonly options: readonly Option[] | undefined;
  /** Its label, where the page knows it only now. */
  readonly label: string | undefined;
};

/** One field. Of what is read, undefined is left out. */
export class Field<T> {
  readonly draw: (place: Place, drawn: Drawn) => Html;
  readonly read: (typed: Typed, name: string) => T;

  constructor(of: Pick<Field<T>, 'draw' | 'read'>) {
    this.draw = of.draw;
    this.read = of.read;
  }
}

/** A text, or one that names the organisation's zone and the like. */
type Said = string | ((place: Place) => string);

type Labels = { readonly label: Said; readonly hint?: Said };

type Bounds = Labels &
  Pick<FieldOf, 'type' | 'isRequired' | 'maxlength' | 'placeholder' | 'autocomplete'> & {
    /** What it starts with. */
    readonly value?: string;
    /** Left empty, it clears what there was. */
    readonly isClearable?: boolean;
  };

type Required = { readonly isRequired: true };
type Clearable = { readonly isClearable: true };

const said = (text: Said, place: Place): string => (typeof text === 'string' ? text : text(place));

function labelsOf({ label, hint }: Labels, place: Place, drawn: Drawn) {
  return {
    label: drawn.label ?? said(label, place),
    ...(hint !== undefined && { hint: said(hint, place) }),
  };
}

function textOf(value: Shown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** What it has: what is there, or else what it starts with. */
function valueOf({ value }: Drawn, { value: start = '' }: { readonly value?: string }): string {
  const text = textOf(value);
  return text === '' ? start : text;
}

/** Left empty: refused by the API, cleared, or left out. */
function readText(typed: Typed, name: string, of: Omit<Bounds, 'label'>) {
  if (of.isRequired === true) return typed.required(name);
  return typed.text(name) ?? (of.isClearable === true ? null : undefined);
}

export function textField(of: Bounds & Required): Field<string>;
export function textField(of: Bounds & Clearable): Field<string | null>;
export function textField(of: Bounds): Field<string | undefined>;
export function textField(of: Bounds): Field<string | null | undefined> {
  const { value: _start, isClearable: _isClearable, label: _label, hint: _hint, ...bounds } = of;
  return new Field({
    draw: (place, drawn) =>
      field(place, {
        ...bounds,
        ...labelsOf(of, place, drawn),
        name: drawn.name,
        value: valueOf(drawn, of),
      }),
    read: (typed, name) => readText(typed, name, of),
  });
}

/** A text of several lines. */
export function lines(of: Bounds & Required): Field<string>;
export function lines(of: Bounds & Clearable): Field<string | null>;
export function lines(of: Bounds): Field<string | undefined>;
export function lines(of: Bounds): Field<string | null | undefined> {
  return new Field({
    draw: (place, drawn) =>
      textarea(place, {
        ...labelsOf(of, place, drawn),
        name: drawn.name,
        value: valueOf(drawn, of),
        ...(of.maxlength !== undefined && { maxlength: of.maxlength }),
        ...(of.isRequired !== undefined && { isRequired: of.isRequired }),
      }),
    read: (typed, name) => readText(typed, name, of),
  });
}

/**
 * What is no number is NaN, which the API refuses. Where one is required, the page refuses it and
 * nothing: NaN is null in JSON, which would leave a setting as it is and say that it was saved.
 */
export function numberField(of: Bounds & Required): Field<number>;
export function numberField(of: Bounds): Field<number | undefined>;
export function numberField(of: Bounds): Field<number | undefined> {
  const { draw } = textField(of);
  return new Field({
    draw,
    read: (typed, name) => {
      const value = typed.number(name);
      if (of.isRequired !== true || Number.isFinite(value)) return value;
      throw wrongField(name, 'must be a number');
    },
  });
}

/** Numbers with commas between them. */
export function numbers(of: Bounds): Field<number[]> {
  const { draw } = textField(of);
  return new Field({
    draw,
    read: (typed, name) =>
      typed
        .required(name)
        .split(',')
        .filter((part) => part.trim() !== '')
        .map(Number),
  });
}

/** A wall clock of the organisation's zone. What cannot be read is sent as it is, and refused. */
export function time(of: Bounds & Required): Field<string>;
export function time(of: Bounds): Field<string | undefined>;
export function time(of: Bounds): Field<string | undefined> {
  const { draw } = textField({ ...of, type: 'datetime-local' });
  const empty = of.isRequired === true ? '' : undefined;
  return new Field({
    draw: (place, drawn) => {
      const { value } = drawn;
      const local = typeof value === 'string' ? localTime(value, place.zone) : undefined;
      return draw(place, { ...drawn, value: local });
    },
    read: (typed, name) => typed.time(name) ?? empty,
  });
}

type Choices<T extends string> = Labels & {
  readonly values: readonly T[];
  /** What a value is called: its own words unless said. */
  readonly called?: (value: T) => string;
  /** Offered first, and none of the values. */
  readonly none?: string;
  readonly value?: T;
};

/** One of some values. Where it is none of them, it is left out, or else `otherwise`. */
export function choice<T extends string>(of: Choices<T> & { readonly otherwise: T }): Field<T>;
export function choice<T extends string>(of: Choices<T>): Field<T | undefined>;
export function choice<T extends string>(
  of: Choices<T> & { readonly otherwise?: T },
): Field<T | undefined> {
  const { values, called = words, none, otherwise } = of;
  const options = values.map((value) => ({ value, label: called(value) }));
  return new Field({
    draw: (place, drawn) =>
      select(place, {
        ...labelsOf(of, place, drawn),
        name: drawn.name,
        value: valueOf(drawn, of),
        options: none === undefined ? options : [{ value: '', label: none }, ...options],
      }),
    read: (typed, name) => typed.choice(name, values) ?? otherwise,
  });
}

type Pick1 = Labels & { readonly value?: string; readonly options?: readonly Option[] };

/** One of what the page offers when it draws the form. */
export function pick(of: Pick1 & Required): Field<string>;
export function pick(of: Pick1): Field<string | undefined>;
export function pick(of: Pick1 & { readonly isRequired?: true }): Field<string | undefined> {
  return new Field({
    draw: (place, drawn) =>
      select(place, {
        ...labelsOf(of, place, drawn),
        name: drawn.name,
        value: valueOf(drawn, of),
        options: drawn.options ?? of.options ?? [],
      }),
    read: (typed, name) => (of.isRequired === true ? typed.required(name) : typed.text(name)),
  });
}

/** One of some numbers. */
export function numberOf(
  of: Labels & { readonly options: readonly Option[] },
): Field<number | undefined> {
  return new Field({ draw: pick(of).draw, read: (typed, name) => typed.number(name) });
}

/** Yes or no. */
export function tick(of: Labels & { readonly isChecked?: boolean }): Field<boolean> {
  return new Field({
    draw: (place, drawn) =>
      checkbox(place, {
        ...labelsOf(of, place, drawn),
        name: drawn.name,
        isChecked: typeof drawn.value === 'boolean' ? drawn.value : of.isChecked === true,
      }),
    read: (typed, name) => typed.isTicked(name),
  });
}

/** Some of several values: the API says which of those that were sent is none. */
export function some<T extends string>(of: {
  readonly legend: string;
  readonly hint?: string;
  readonly options: readonly T[];
}): Field<readonly T[]> {
  return new Field({
    draw: (place, { name, value }) =>
      ticks(place, { ...of, name, chosen: Array.isArray(value) ? value.map(String) : [] }),
    read: (typed, name) => typed.all(name) as readonly string[] as readonly T[],
  });
}
