// What is shown this one time, and never again.
import { type Html, html } from '../../pages/html.ts';

export function shownOnce(name: string, secret: string): Html {
  return html`<div class="notice warn" role="status">
      <p>Copy it now. It is shown only once and cannot be read later.</p>
    </div>
    <p class="secret"><span class="away">${name}: </span>${secret}</p>`;
}
