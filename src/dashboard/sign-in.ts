// Signing in and out.
//
// Holds: nothing says whether an address is a user's: the answer is the same and does not wait for
// what is done about it. A link is used by the POST of its page alone, once.
// Pages on the way in: asking for a link, using it, an invitation, the second factor.
import { plainPage } from './parts/frame.ts';
import { NO_COOKIE } from './serve/cookie.ts';
import {
  BASE,
  type PeoplePagesDeps,
  browserOf,
  goTo,
  localPath,
  originOf,
  show,
} from './serve/entry.ts';
import type { Entry, OpenPage } from './serve/page.ts';
import { isEmail } from '../http/wire/values.ts';
import { signInLetter } from '../mail/people.ts';
import { type Html, html } from '../pages/html.ts';
import type { Page } from '../pages/layout.ts';
import { signInAddress } from '../people/addresses.ts';
import { endSession } from '../people/sessions.ts';
import { makeSignInLink, signInByLink } from '../people/sign-in.ts';
import { ADMIN_COMMAND } from '../platform/admin-command.ts';
import { findSignInLink } from '../records/sign-in-links.ts';
import { findUserByEmail } from '../records/users.ts';

const WRONG_EMAIL = 'Enter an e-mail address, such as you@example.com.';
const TOO_OFTEN = 'Too many requests. Try again in a minute.';

export function signInPages(deps: PeoplePagesDeps): readonly OpenPage[] {
  return [
    {
      path: '/sign-in',
      show: (entry) => Promise.resolve(showSignIn(deps, entry)),
      act: (entry) => askForLink(deps, entry),
    },
    {
      path: '/sign-in/:token',
      show: (entry) => showLink(deps, entry),
      act: (entry) => useLink(deps, entry),
    },
    {
      path: '/sign-out',
      show: () => Promise.resolve(goTo(BASE)),
      act: (entry) => signOut(deps, entry),
      isForSignedIn: true,
    },
  ];
}

function showSignIn(deps: PeoplePagesDeps, { signedIn, query }: Entry): Response {
  const to = localPath(query.get('to'));
  // Who signs in again goes on as before until then.
  if (signedIn !== null && !query.has('again')) return goTo(to ?? BASE);
  // It comes from a sign-in, and would be signed in by now.
  if (query.has('done')) return show(noCookiePage());
  return show(signInPage(viewOf(deps, to)));
}

function viewOf({ userMailer, oidc }: PeoplePagesDeps, to: string | null) {
  return { to, mails: userMailer.isOpen, hasOidc: oidc !== null, email: '', refusal: null };
}

async function askForLink(deps: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const { form, address } = entry;
  const to = localPath(form.get('to'));
  const view = viewOf(deps, to);
  if (!deps.userMailer.isOpen) return show(signInPage(view), 409);
  const email = (form.get('email') ?? '').trim();
  const typed = { ...view, email: email.slice(0, 254) };
  if (!isEmail(email)) return show(signInPage({ ...typed, refusal: WRONG_EMAIL }), 400);
  const takes = [`address ${address}`, `email ${email.toLowerCase()}`];
  for (const key of takes) {
    const { allowed } = await deps.links.take(key);
    if (!allowed) return show(signInPage({ ...typed, refusal: TOO_OFTEN }), 429);
  }
  mailLink(deps, email, to);
  return show(linkMailedPage(email));
}

/** To the address that the user has, not to the one that was typed. */
function mailLink(deps: PeoplePagesDeps, typed: string, to: string | null): void {
  const { sql, userMailer, ids, settings } = deps;
  userMailer.later(async () => {
    const user = await findUserByEmail(sql, typed);
    if (user === null || user.disabledAt !== null) return null;
    const token = await makeSignInLink(deps, user.id);
    if (token === null) return null;
    const href = signInAddress(settings.appUrl, token, to);
    return { id: ids.next(), to: user.email, ...signInLetter(href) };
  });
}

async function showLink({ sql, clock }: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const { params, query } = entry;
  const { token = '' } = params;
  const user = await findSignInLink(sql, { token, now: clock.now() });
  if (user === null) return show(deadLinkPage(), 410);
  const to = localPath(query.get('to'));
  return show(useLinkPage({ action: `${BASE}/sign-in/${token}`, email: user.email, to }));
}

async function useLink(deps: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const token = await signInByLink(deps, entry.params['token'] ?? '', browserOf(entry));
  if (token === null) return show(deadLinkPage(), 410);
  return goTo(afterSignIn(localPath(entry.form.get('to'))), token);
}

/** By way of the sign-in, which says so where the browser has not kept the session. */
export function afterSignIn(to: string | null): string {
  const then = to === null ? '' : `&to=${encodeURIComponent(to)}`;
  return `${BASE}/sign-in?done=1${then}`;
}

async function signOut(deps: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const { signedIn } = entry;
  if (signedIn !== null) {
    await endSession(deps, { ...signedIn, from: originOf(entry) }, signedIn.sessionId);
  }
  const response = goTo(`${BASE}/sign-in`);
  response.headers.set('set-cookie', NO_COOKIE);
  return response;
}

/** A field of a page that has no organisation. */
function field(of: {
  readonly name: string;
  readonly label: string;
  readonly type: 'email' | 'text';
  readonly value?: string;
  readonly autocomplete: string;
  readonly maxlength: number;
  readonly hint?: string;
  readonly isCode?: true;
}): Html {
  const { name, label, type, value = '', autocomplete, maxlength, hint, isCode } = of;
  return html`<div class="field">
    <label for="f-${name}">${label}</label>
    ${hint === undefined ? null : html`<small class="hint" id="f-${name}-hint">${hint}</small>`}
    <input
      id="f-${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      maxlength="${maxlength}"
      autocomplete="${autocomplete}"
      autocapitalize="off"
      spellcheck="false"
      required
      ${isCode === true ? html`dir="ltr"` : null}
      ${hint === undefined ? null : html`aria-describedby="f-${name}-hint"`}
    />
  </div>`;
}

/** What went wrong. It takes the focus. */
function refusal(text: string | null): Html | null {
  if (text === null) return null;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus><p>${text}</p></div>`;
}

/** A form; `action` is a path of ours. */
export function plainForm(of: {
  readonly action: string;
  readonly submit: string;
  readonly hidden?: Readonly<Record<string, string | null>>;
  readonly fields?: readonly (Html | null)[];
  readonly kind?: '' | ' quiet' | ' grave';
}): Html {
  const { action, submit, hidden = {}, fields = [], kind = '' } = of;
  const values = Object.entries(hidden).filter(([, value]) => value !== null);
  return html`<form method="post" action="${action}" class="stack">
    ${values.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${fields}
    <button class="button${kind}">${submit}</button>
  </form>`;
}

type SignInView = {
  /** Where to after the sign-in; null for the start. */
  readonly to: string | null;
  readonly mails: boolean;
  readonly hasOidc: boolean;
  readonly email: string;
  readonly refusal: string | null;
};

function signInPage({ to, mails, hasOidc, email, refusal: why }: SignInView): Page {
  const asking = plainForm({
    action: '/dashboard/sign-in',
    submit: 'Email me a link',
    hidden: { to },
    fields: [
      field({
        name: 'email',
        label: 'E-mail',
        type: 'email',
        value: email,
        autocomplete: 'username',
        maxlength: 254,
        hint: 'A link that signs you in is sent there. It works once, within 15 minutes.',
      }),
    ],
  });
  const then = to === null ? '' : `?to=${encodeURIComponent(to)}`;
  const content = html`${refusal(why)} ${mails ? asking : NO_MAILS}
  ${
    hasOidc
      ? html`<p>
          <a class="button quiet" href="/dashboard/oidc${then}">Sign in with your organization</a>
        </p>`
      : null
  }`;
  return plainPage({ title: 'Sign in', content });
}

const NO_MAILS = html`<p>This service sends no mail. An operator can print a sign-in link:</p>
  <p><code>${ADMIN_COMMAND} user sign-in --email you@example.com</code></p>`;

/** The same, whether the address is known or not. */
function linkMailedPage(email: string): Page {
  const content = html`<p role="status">
      If <bdi>${email}</bdi> belongs to a user, a sign-in link is on its way. It works once, within
      15 minutes.
    </p>
    <p><a class="button quiet" href="/dashboard/sign-in">Back</a></p>`;
  return plainPage({ title: 'Check your email', content });
}

/** Programs that read mails follow links, so the link alone does not sign in. */
function useLinkPage(of: {
  readonly action: string;
  readonly email: string;
  readonly to: string | null;
}): Page {
  const { action, email, to } = of;
  const content = html`<p>
      You are about to sign in as <strong><bdi>${email}</bdi></strong
      >.
    </p>
    ${plainForm({ action, submit: 'Sign in', hidden: { to } })}`;
  return plainPage({ title: 'Sign in', content });
}

function deadLinkPage(): Page {
  const content = html`<p>
      It was already used, is older than 15 minutes, or was not copied completely.
    </p>
    <p><a class="button" href="/dashboard/sign-in">Get a new link</a></p>`;
  return plainPage({ title: 'This sign-in link is invalid or has expired', content });
}

/** The browser has no cookie after a sign-in. */
function noCookiePage(): Page {
  const content = html`<p>
      Your browser did not keep the session cookie. Use https, or a browser on the machine of the
      service, and allow cookies.
    </p>
    <p><a class="button" href="/dashboard/sign-in">Try again</a></p>`;
  return plainPage({ title: 'You are not signed in', content });
}

export function codePage(of: {
  readonly formToken: string;
  readonly to: string;
  readonly refusal: string | null;
}): Page {
  const { formToken, to, refusal: why } = of;
  const content = html`${refusal(why)}
  ${plainForm({
    action: '/dashboard/second-factor',
    submit: 'Continue',
    hidden: { _token: formToken, to },
    fields: [
      field({
        name: 'code',
        label: 'Code',
        type: 'text',
        autocomplete: 'one-time-code',
        maxlength: 40,
        hint: 'The six digits that your authenticator app shows, or a recovery code.',
        isCode: true,
      }),
    ],
  })}
  ${plainForm({
    action: '/dashboard/sign-out',
    submit: 'Sign out',
    hidden: { _token: formToken },
    kind: ' quiet',
  })}`;
  return plainPage({ title: 'Your second factor', content });
}

export function invitationPage(of: {
  readonly action: string;
  readonly organisation: string;
  readonly role: string;
  readonly email: string;
  /** Whether it makes a user, who is asked for a name. */
  readonly isNew: boolean;
}): Page {
  const { action, organisation, role, email, isNew } = of;
  const name = field({
    name: 'name',
    label: 'Your name',
    type: 'text',
    autocomplete: 'name',
    maxlength: 255,
  });
  const content = html`<p>
      <bdi>${email}</bdi> is invited to the dashboard of <strong><bdi>${organisation}</bdi></strong
      >, as ${role.replace('_', '-')}.
    </p>
    ${plainForm({
      action,
      submit: 'Join',
      fields: [isNew ? name : null],
    })}`;
  return plainPage({ title: 'An invitation', content });
}

export function toldPage(of: {
  readonly title: string;
  readonly text: string;
  readonly next: { readonly href: string; readonly label: string };
}): Page {
  const { title, text, next } = of;
  const content = html`<p>${text}</p>
    <p><a class="button" href="${next.href}">${next.label}</a></p>`;
  return plainPage({ title, content });
}
