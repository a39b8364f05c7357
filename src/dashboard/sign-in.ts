// Signing in and out.
//
// Holds: nothing says whether an address is a user's: the answer is the same and does not wait for
// what is done about it. A link is used by the POST of its page alone, once.
import {
  deadLinkPage,
  linkMailedPage,
  noCookiePage,
  signInPage,
  useLinkPage,
} from './views/sign-in.ts';
import { signInAddress } from '../people/addresses.ts';
import { makeSignInLink, signInByLink } from '../people/sign-in.ts';
import { endSession } from '../people/sessions.ts';
import { signInLetter } from '../mail/people.ts';
import { findSignInLink } from '../records/sign-in-links.ts';
import { findUserByEmail } from '../records/users.ts';
import { isEmail } from '../http/wire/values.ts';
import { NO_COOKIE } from './serve/cookie.ts';
import {
  BASE,
  browserOf,
  goTo,
  localPath,
  originOf,
  show,
  type PeoplePagesDeps,
} from './serve/entry.ts';
import type { Entry, OpenPage } from './serve/page.ts';

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
