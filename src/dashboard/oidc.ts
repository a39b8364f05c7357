// Signing in by the identity provider: there, and back.
//
// Holds: what the browser brings back is what this browser was sent away with, within ten minutes,
// once: a sign-in that somebody else began ends nowhere.
import { unreachable } from '../../ledger/kernel/assert.ts';
import { toldPage } from './sign-in.ts';
import type { OidcChecks } from '../people/oidc.ts';
import { signInByEmail } from '../people/sign-in.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import { BEGUN_OIDC, cookieNamed, NO_OIDC } from './serve/cookie.ts';
import { BASE, browserOf, goTo, localPath, type PeoplePagesDeps, show } from './serve/entry.ts';
import type { Entry, OpenPage } from './serve/page.ts';
import { afterSignIn } from './sign-in.ts';

const AWAY_MS = 10 * 60_000;
/** Whom the cookie is sealed for: it opens as nothing else. */
const SEALED_FOR = 'oidc sign-in';

type Begun = OidcChecks & { readonly to: string | null; readonly until: number };

export function oidcPages(deps: PeoplePagesDeps): readonly OpenPage[] {
  return [
    { path: '/oidc', show: (entry) => begin(deps, entry) },
    { path: '/oidc/callback', show: (entry) => finish(deps, entry) },
  ];
}

async function begin(
  { oidc, secrets, clock, links }: PeoplePagesDeps,
  { address, query }: Entry,
): Promise<Response> {
  if (oidc === null) return notHere();
  if (!(await links.take(`address ${address}`)).allowed) return tooOften();
  const begun = await oidc.begin();
  if (begun === null) return notNow();
  const until = clock.now() + AWAY_MS;
  const kept: Begun = { ...begun.checks, to: localPath(query.get('to')), until };
  const sealed = secrets.seal(JSON.stringify(kept), SEALED_FOR).toString('base64url');
  const response = goTo(begun.url);
  response.headers.set('set-cookie', cookieNamed(BEGUN_OIDC, sealed));
  return response;
}

async function finish(deps: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const response = await answer(deps, entry);
  // Whatever came of it, it is over.
  response.headers.append('set-cookie', NO_OIDC);
  return response;
}

async function answer(deps: PeoplePagesDeps, entry: Entry): Promise<Response> {
  const { oidc, secrets, clock } = deps;
  if (oidc === null) return notHere();
  const begun = begunIn(entry.request, secrets);
  if (begun === null || clock.now() >= begun.until) return refused();
  const { to, ...checks } = begun;
  const identity = await oidc.finish(entry.query, checks);
  switch (identity.kind) {
    case 'verified': {
      const token = await signInByEmail(deps, identity.email, browserOf(entry));
      return token === null ? unknownUser() : goTo(afterSignIn(to), token);
    }
    case 'not_verified':
      return unknownUser();
    case 'unreachable':
      return notNow();
    case 'refused':
      return refused();
    default:
      return unreachable(identity);
  }
}

function begunIn({ headers }: Request, secrets: Secrets): Begun | null {
  const cookies = headers.get('cookie')?.split(/; */) ?? [];
  const sealed = cookies.find((each) => each.startsWith(`${BEGUN_OIDC}=`));
  if (sealed === undefined) return null;
  try {
    const text = sealed.slice(BEGUN_OIDC.length + 1);
    return JSON.parse(secrets.open(Buffer.from(text, 'base64url'), SEALED_FOR)) as Begun;
  } catch {
    return null;
  }
}

const AGAIN = { href: `${BASE}/sign-in`, label: 'To sign-in' };
const told = (status: number, title: string, text: string): Response =>
  show(toldPage({ title, text, next: AGAIN }), status);

const notHere = () => told(404, 'Page not found', 'No identity provider is configured.');
const tooOften = () => told(429, 'Too many requests', 'Try again in a minute.');
const notNow = () =>
  told(503, 'Not available now', 'The identity provider does not answer. Try again in a moment.');
const refused = () =>
  told(403, 'Not signed in', 'The identity provider did not sign you in, or it took too long.');
/** The same for an address that is not verified: it says nothing of who is known. */
const unknownUser = () =>
  told(
    403,
    'Not signed in',
    'No user here has the e-mail address that your identity provider has verified.',
  );
