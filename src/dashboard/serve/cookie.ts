// The cookie of a session. Its name has a browser take it over TLS only (or on this machine), from
// this host only, for every path.
const NAME = '__Host-tollhouse';
const TOKEN = new RegExp(`(?:^|; ?)${NAME}=([0-9A-Za-z]{43})(?:;|$)`);
const ALWAYS = 'Path=/; HttpOnly; Secure; SameSite=Lax';

/** What the browser holds; null for nothing that could be one. */
export function tokenIn({ headers }: Request): string | null {
  return TOKEN.exec(headers.get('cookie') ?? '')?.[1] ?? null;
}

/** Of a browser that is away at the identity provider. */
export const BEGUN_OIDC = '__Host-tollhouse-oidc';

export const cookieNamed = (name: string, value: string): string => `${name}=${value}; ${ALWAYS}`;

export const NO_OIDC = `${BEGUN_OIDC}=; Max-Age=0; ${ALWAYS}`;

/** Sets it, until the browser is closed; a session ends before that on its own. */
export function cookieOf(token: string): string {
  return `${NAME}=${token}; ${ALWAYS}`;
}

export const NO_COOKIE = `${NAME}=; Max-Age=0; ${ALWAYS}`;
