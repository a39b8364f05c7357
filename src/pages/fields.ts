// Form fields, and their errors.
import { type Html, html } from './html.ts';

export type FieldError = { readonly field: string; readonly message: string };

export type Field = {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly autocomplete: string;
  readonly type?: 'text' | 'email';
  readonly inputmode?: 'numeric' | 'email' | 'text';
  readonly maxlength: number;
  readonly isRequired?: boolean;
  readonly isReadonly?: boolean;
  /** Digits and codes, which read from left to right in every language. */
  readonly isCode?: boolean;
};

/** A labelled input. Its error stands beside it, and a screen reader reads it with the field. */
export function inputField(field: Field, errors: readonly FieldError[]): Html {
  const { name } = field;
  return html`<div class="field">
    <label for="${name}">${field.label}</label>
    ${hintOf(field)} ${errorOf(name, errors)} ${input(field, errors)}
  </div>`;
}

/** The input alone, for a label elsewhere. */
export function input(field: Field, errors: readonly FieldError[]): Html {
  const { name, value = '', placeholder, isCode = false } = field;
  const isWrong = errors.some((error) => error.field === name);
  const described = [
    ...(field.hint === undefined ? [] : [`${name}-hint`]),
    ...(isWrong ? [`${name}-error`] : []),
  ];
  return html`<input
    id="${name}"
    name="${name}"
    type="${field.type ?? 'text'}"
    value="${value}"
    maxlength="${field.maxlength}"
    autocomplete="${field.autocomplete}"
    inputmode="${field.inputmode ?? 'text'}"
    autocapitalize="off"
    spellcheck="false"
    dir="${isCode ? 'ltr' : 'auto'}"
    ${placeholder === undefined ? null : html`placeholder="${placeholder}"`}
    ${described.length === 0 ? null : html`aria-describedby="${described.join(' ')}"`}
    ${isWrong ? html`aria-invalid="true"` : null}
    ${field.isRequired === true ? html`required` : null}
    ${field.isReadonly === true ? html`readonly` : null}
  />`;
}

export function errorOf(name: string, errors: readonly FieldError[]): Html | null {
  const error = errors.find(({ field }) => field === name);
  if (error === undefined) return null;
  return html`<p class="error" id="${name}-error">
    <span class="away">Error: </span>${error.message}
  </p>`;
}

/** The error summary at the top: it takes the focus, and each line links to its field. */
export function errorSummary(errors: readonly FieldError[]): Html | null {
  if (errors.length === 0) return null;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
    <h2>Please check ${errors.length === 1 ? 'one thing' : `${errors.length} things`}</h2>
    <ul>
      ${errors.map(({ field, message }) => html`<li><a href="#${field}">${message}</a></li>`)}
    </ul>
  </div>`;
}

function hintOf({ name, hint }: Field): Html | null {
  return hint === undefined ? null : html`<small class="hint" id="${name}-hint">${hint}</small>`;
}
