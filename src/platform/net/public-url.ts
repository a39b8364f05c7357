// Vets URLs from outside to which the service connects: a webhook's, at registration and at each
// delivery.
//
// Holds: https to a public host, unless a developer's own machine is allowed (`loopback`). Connect
// only to the addresses that `vetUrl` returns: another resolution of the name could give others.
// Does not: connect.
import { isIP } from 'node:net';
import { NOT_HTTPS, parseHttpUrl } from './http-url.ts';
import { isPublicAddress } from './public-address.ts';

export const PUBLIC_URL_LENGTH_MAX = 2048;

/** All addresses of a name; none where it has none or DNS does not answer. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export type Vetted =
  | {
      readonly kind: 'public';
      readonly url: URL;
      readonly addresses: readonly [string, ...string[]];
    }
  | { readonly kind: 'refused'; readonly issue: string }
  | { readonly kind: 'unresolved' };

const NOT_PUBLIC = 'must be the address of a public host';
/** A Map, because a host may have the name of an object's property. */
const LOOPBACK: ReadonlyMap<string, readonly [string, ...string[]]> = new Map([
  ['localhost', ['127.0.0.1', '::1']],
  ['127.0.0.1', ['127.0.0.1']],
  ['[::1]', ['::1']],
]);
/** Whether a URL names this machine. */
export const isLoopback = (url: string): boolean => LOOPBACK.has(new URL(url).hostname);

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };
/** Lower ports belong to mail, shells and the like, which could read a request as a command. */
const FREE_PORT_MIN = 1024;

/** `loopback`: whether this machine is allowed, without https too. */
export async function vetUrl(
  text: string,
  { loopback, resolve }: { readonly loopback: boolean; readonly resolve: Resolve },
): Promise<Vetted> {
  const url = parseUrl(text, loopback);
  if (typeof url === 'string') return { kind: 'refused', issue: url };
  const own = loopback ? LOOPBACK.get(url.hostname) : undefined;
  if (own !== undefined) return { kind: 'public', url, addresses: own };
  const literal = unbracketed(url.hostname);
  const [first, ...others] = isIP(literal) === 0 ? await resolve(url.hostname) : [literal];
  if (first === undefined) return { kind: 'unresolved' };
  // One address that is not public refuses the name: a later attempt would use it.
  if (![first, ...others].every(isPublicAddress)) return { kind: 'refused', issue: NOT_PUBLIC };
  return { kind: 'public', url, addresses: [first, ...others] };
}

/** The host of a URL without the brackets of IPv6. */
export function unbracketed(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The URL, or what is wrong with it whatever its name resolves to. */
function parseUrl(text: string, loopback: boolean): URL | string {
  if (text.length > PUBLIC_URL_LENGTH_MAX) {
    return `must have at most ${PUBLIC_URL_LENGTH_MAX} characters`;
  }
  const url = parseHttpUrl(text);
  if (typeof url === 'string') return url;
  const isOwn = loopback && LOOPBACK.has(url.hostname);
  if (url.protocol !== 'https:' && !isOwn) return NOT_HTTPS;
  const port = Number(url.port);
  if (url.port !== '' && port < FREE_PORT_MIN) {
    return `must have port ${DEFAULT_PORTS[url.protocol]}, or one from ${FREE_PORT_MIN} on`;
  }
  // "localhost." differs from "localhost" for us, but not for a resolver.
  if (url.hostname.endsWith('.')) return 'must not have a dot at the end of its host';
  if (!isOwn && /(?:^|\.)localhost$/.test(url.hostname)) return NOT_PUBLIC;
  return url;
}
