// One question before what is done: a sentence, and a button.
import { type Html, html } from '../../pages/html.ts';
import { form } from './forms.ts';
import { button, type Cell, heading } from './parts.ts';
import type { Place } from './place.ts';

export type Question = {
  readonly title: string;
  /** What it is done to. */
  readonly under?: Cell;
  /** What will be. */
  readonly text: string | Html;
  readonly submit: string;
  /**
   * Below the place's base: where the form goes, if not to the page itself, and where to go
   * instead.
   */
  readonly to?: string;
  readonly back: string;
  /** The button that leads there, where "Cancel" could be taken for what is asked. */
  readonly leave?: string;
  /** It cannot be undone. */
  readonly isGrave?: boolean;
  readonly fields?: readonly (Html | null)[];
  readonly hidden?: Readonly<Record<string, string>>;
};

export function confirmPage(place: Place, of: Question): Html {
  const { title, under = null, text, submit, to = place.path, back } = of;
  const { leave = 'Cancel', isGrave = false, fields = [], hidden = {} } = of;
  return html`${heading(title, { under, actions: [button(place, back, leave)] })}
  ${typeof text === 'string' ? html`<p>${text}</p>` : text}
  ${form(place, { to, submit, isGrave, fields, hidden })}`;
}
