// Some of several values, as boxes under one legend.
import { type Html, html } from '../../pages/html.ts';
import type { Place } from './place.ts';

export function ticks(
  place: Place,
  of: {
    /** On the wire; each box that is ticked is sent under it. */
    readonly name: string;
    readonly legend: string;
    readonly options: readonly string[];
    readonly chosen: readonly string[];
    readonly hint?: string;
  },
): Html {
  const { name, legend, options, chosen, hint } = of;
  const wasTyped = [...place.typed.keys()].length > 0;
  const on = new Set(wasTyped ? place.typed.getAll(name) : chosen);
  const issue = place.fault?.issues.find(({ field }) => field.split('.')[0] === name);
  return html`<fieldset class="ticks" id="f-${name}">
    <legend>${legend}</legend>
    ${hint === undefined ? null : html`<small class="hint">${hint}</small>`}
    ${
      issue === undefined
        ? null
        : html`<p class="error"><span class="away">Error: </span>${issue.message}</p>`
    }
    ${options.map(
      (option, at) =>
        html`<div class="tick">
          <input
            id="f-${name}.${at}"
            name="${name}"
            type="checkbox"
            value="${option}"
            ${on.has(option) ? html`checked` : null}
          />
          <label for="f-${name}.${at}">${option}</label>
        </div>`,
    )}
  </fieldset>`;
}
