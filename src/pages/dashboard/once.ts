// What is shown this one time, and never again.
import { type Html, html } from '../html.ts';

export function shownOnce(name: string, secret: string): Html {
  return html`<div class="notice warn" role="status">
      <p>Copy it now: it is shown this once, and nobody can read it later.</p>
    </div>
    <p class="secret"><span class="away">${name}: </span>${secret}</p>`;
}
