// Forms: their fields, and what was wrong with them.
//
// Holds: every field has a label, and what was wrong with it stands beside it; an action is a form
// that is sent by POST with the session's token.
import { type Html, html } from '../../pages/html.ts';
import type { Place } from './place.ts';

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
