// What was typed into a form, as the API takes it.
//
// Holds: nothing is judged here. A field that was left empty is left out, and the rest goes to the
// API as it is, whose refusal the page shows.
import { instantOf } from '../parts/local-time.ts';
import type { Place } from '../parts/place.ts';

export type Given<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without the fields that are undefined. */
export function given<T extends object>(fields: T): Given<T> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Given<T>;
}

export class Typed {
  readonly #form: URLSearchParams;
  readonly #zone: string;

  constructor({
    form,
    place,
  }: {
    readonly form: URLSearchParams;
    readonly place: Pick<Place, 'zone'>;
  }) {
    this.#form = form;
    this.#zone = place.zone;
  }

  /** undefined where it was left empty. */
  text(name: string): string | undefined {
    const text = this.#form.get(name)?.trim();
    return text === '' ? undefined : text;
  }

  /** Of a field that the API requires: it says so where this is empty. */
  required(name: string): string {
    return this.text(name) ?? '';
  }

  /** What is no number is NaN, which the API refuses. */
  number(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : Number(text);
  }

  /** Of boxes that share a name. */
  all(name: string): string[] {
    return this.#form.getAll(name);
  }

  /** Of a `select`. */
  choice<T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.text(name);
    return values.find((value) => value === text);
  }

  isTicked(name: string): boolean {
    return this.#form.has(name);
  }

  /** A wall clock of the organisation's zone. What cannot be read is sent as it is, and refused. */
  time(name: string): string | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : instantOf(text, this.#zone);
  }
}
