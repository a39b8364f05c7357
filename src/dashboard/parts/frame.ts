// The frame of every page of the dashboard: the mode, the organisation, the sections, the page.
//
// Holds: the mode stands above everything, in words, in a colour and in the address; the switch
// leads to the start of the other mode, never to an object of this one.
import type { Brand } from '../../pages/brand.ts';
import { type Html, html } from '../../pages/html.ts';
import { layout, type Page, type Script } from '../../pages/layout.ts';
import { PREVIEW } from './brand-preview.ts';
import { LIVE_SCRIPT } from './live.ts';
import { faultNotice } from './forms.ts';
import type { Choice, Place } from './place.ts';
import { SECTIONS, type SectionName } from './sections.ts';
import { DASHBOARD_STYLE } from './style.ts';

export function framed(
  place: Place,
  page: {
    readonly title: string;
    readonly section: SectionName;
    readonly content: Html;
    /** What was done before: it is said at the head of the page. */
    readonly notice: string | null;
    /** The brand that `PREVIEW` has. */
    readonly preview?: Brand;
    /** In place of the one that keeps it as it is now. */
    readonly script?: Script;
  },
): Page {
  const { organisation, mode, user } = place;
  const body = html`<a class="button skip" href="#main">Skip to the content</a>
    ${modeBar(place)}
    <header class="top">
      <span class="name">${organisation.name}</span>
      ${choicesOf(place)}
      <a href="/dashboard/account"
        >${user.name === null || user.name === '' ? user.email : user.name}</a
      >
      <span class="muted">${user.role.replace('_', '-')}</span>
      <form method="post" action="/dashboard/sign-out">
        <input type="hidden" name="_token" value="${place.formToken}" />
        <button class="button quiet">Sign out</button>
      </form>
    </header>
    <div class="board">
      <nav class="sections" aria-label="Sections">
        <ul>
          ${sectionsOf(place, page.section)}
        </ul>
      </nav>
      <main id="main" tabindex="-1">
        ${page.notice === null ? null : html`<div class="notice" role="status">${page.notice}</div>`}
        ${faultNotice(place)} ${page.content}
      </main>
    </div>`;
  const title = `${page.title} – ${organisation.name} (${mode})`;
  const { preview, script = LIVE_SCRIPT } = page;
  const look = preview === undefined ? {} : { brand: preview, brandOn: PREVIEW };
  return layout({ title, body, stylesheet: DASHBOARD_STYLE, script, ...look });
}

function modeBar({ mode, organisation }: Place): Html {
  const other = mode === 'test' ? 'live' : 'test';
  const to = `/dashboard/${organisation.id}/${other}`;
  return html`<div class="mode ${mode}" role="region" aria-label="Mode">
    ${mode === 'test' ? 'Test mode: no money moves.' : 'Live mode: real money.'}
    <a href="${to}">Go to ${other} mode</a>
  </div>`;
}

function sectionsOf(place: Place, current: SectionName): (Html | null)[] {
  return Object.entries(SECTIONS).map(([name, { label, path, needs, isTestOnly }]) => {
    if (isTestOnly === true && place.mode !== 'test') return null;
    if (!needs.every((operation) => place.may(operation))) return null;
    const here = name === current ? html`aria-current="page"` : null;
    return html`<li><a href="${place.base}${path}" ${here}>${label}</a></li>`;
  });
}

/** Other organisations of the member. */
function choicesOf({ choices, organisation, mode }: Place): Html | null {
  const others = choices.filter(({ organisationId }) => organisationId !== organisation.id);
  if (others.length === 0) return null;
  return html`<details>
    <summary>Other organizations</summary>
    <ul>
      ${others.map((choice) => choiceOf(choice, mode))}
    </ul>
  </details>`;
}

function choiceOf({ organisationId, organisationName }: Choice, mode: string): Html {
  return html`<li><a href="/dashboard/${organisationId}/${mode}">${organisationName}</a></li>`;
}

/** A page outside an organisation: what was refused, and where to go from there. */
export function plainPage(of: { readonly title: string; readonly content: Html }): Page {
  const body = html`<main class="page stack">
    <h1>${of.title}</h1>
    ${of.content}
  </main>`;
  return layout({ title: `${of.title} – Tollhouse`, body, stylesheet: DASHBOARD_STYLE });
}
