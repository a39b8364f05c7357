// What the pages outside an organisation share.
import type { Settings } from '../../config.ts';
import type { Page } from '../../pages/layout.ts';
import type { Oidc } from '../../people/oidc.ts';
import type { Browser, Origin, PeopleDeps } from '../../people/people.ts';
import type { UserMailer } from '../../people/user-mailer.ts';
import type { RateLimit } from '../../platform/redis/rate-limit.ts';
import { sendPage } from '../../http/page.ts';
import { cookieOf } from './cookie.ts';
import type { SignedIn } from './door.ts';
import type { Entry } from './page.ts';

/** What they stand on. */
export type PeoplePagesDeps = PeopleDeps & {
  readonly settings: Pick<Settings, 'appUrl' | 'bounds'>;
  readonly userMailer: UserMailer;
  /** Of links that are asked for, by address and by e-mail. */
  readonly links: RateLimit;
  /** Of codes, by user. */
  readonly codes: RateLimit;
  /** The identity provider; null for none. */
  readonly oidc: Oidc | null;
};

export const BASE = '/dashboard';

const USER_AGENT_MAX = 255;

/** Where its forms lead to; where those of the identity provider do, too. */
export const SELF = ["'self'"];

export function show(page: Page, status = 200, formAction: readonly string[] = SELF): Response {
  return sendPage(page, { status, formAction });
}

/** Leads to a path of ours, with another session where one has begun. */
export function goTo(path: string, token: string | null = null): Response {
  const headers = new Headers({ location: path, 'cache-control': 'no-store' });
  if (token !== null) headers.set('set-cookie', cookieOf(token));
  return new Response(null, { status: 303, headers });
}

/** The page, with another session. */
export function withSession(response: Response, token: string): Response {
  response.headers.set('set-cookie', cookieOf(token));
  return response;
}

/** The page of the dashboard that an address names; null for anything that leads elsewhere. */
export function localPath(to: string | null): string | null {
  if (to === null || to.length > 2000 || !/^\/dashboard(?:[/?]|$)/.test(to)) return null;
  const url = URL.parse(to, 'http://here.invalid');
  if (url === null || url.origin !== 'http://here.invalid') return null;
  return /^\/dashboard(?:\/|$)/.test(url.pathname) ? url.pathname + url.search : null;
}

export function originOf({ request, address, requestId }: Entry): Origin {
  const userAgent = request.headers.get('user-agent') ?? '';
  return { address, userAgent: userAgent.slice(0, USER_AGENT_MAX).toWellFormed(), requestId };
}

export function browserOf(entry: Entry): Browser {
  const { signedIn } = entry;
  const formerSession = signedIn === null ? null : { id: signedIn.sessionId, user: signedIn.user };
  return { ...originOf(entry), formerSession };
}

/** Whether a code is still to be given in this session. */
export function isHalf({ hasSecondFactor, secondFactorAt }: SignedIn): boolean {
  return hasSecondFactor && secondFactorAt === null;
}
