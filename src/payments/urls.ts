// Return addresses: which ones a merchant may give, and what is added to them.
import { NOT_HTTPS, parseHttpUrl } from '../platform/net/http-url.ts';

/** Characters of an address. */
export const REDIRECT_URL_LENGTH_MAX = 2048;

/**
 * Stands in a `success_url` for the token of the session. Replaced as text, before anything parses
 * the address and escapes it.
 */
const TOKEN_PLACE = '{CHECKOUT_TOKEN}';

const TOKEN_IN_HOST = `may have ${TOKEN_PLACE} in its path, query and fragment only`;

const LOOPBACK = ['localhost', '127.0.0.1'];

/**
 * A name or an address, and nothing that means more in the policy of a page: a URL may have `*`,
 * `;` and `,` in its host.
 */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/;

/**
 * What is wrong with an address to send a buyer to; null for nothing. `loopback`: whether this very
 * machine may be one.
 */
export function redirectUrlIssue(text: string, { loopback }: { loopback: boolean }): string | null {
  const url = parseHttpUrl(text.replaceAll(TOKEN_PLACE, 'token'));
  if (typeof url === 'string') return url;
  // Name servers, and whoever answers there, would be told the token.
  const other = parseHttpUrl(text.replaceAll(TOKEN_PLACE, 'other'));
  if (typeof other === 'string' || other.origin !== url.origin) return TOKEN_IN_HOST;
  if (!HOST.test(url.hostname)) return 'must name a host in letters, digits, dots and hyphens';
  if (url.protocol === 'https:') return null;
  if (loopback && LOOPBACK.includes(url.hostname)) return null;
  return NOT_HTTPS;
}

/**
 * The origins whose pages may show the checkout in a frame: those that its buyer is sent to anyway.
 */
export function framersOf({
  successUrl,
  cancelUrl,
  token,
}: {
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  readonly token: string;
}): readonly string[] {
  const urls = [successUrl, cancelUrl].flatMap((url) => (url === null ? [] : [url]));
  return [...new Set(urls.map((url) => new URL(url.replaceAll(TOKEN_PLACE, token)).origin))];
}

/**
 * Where the buyer goes once the checkout is paid: query and fragment stay as they are, ours comes
 * behind them.
 */
export function paidUrl(
  successUrl: string,
  { id, token }: { readonly id: string; readonly token: string },
): string {
  const url = new URL(successUrl.replaceAll(TOKEN_PLACE, token));
  const ours = `status=paid&payment_link_id=${id}`;
  url.search = url.search === '' ? ours : `${url.search}&${ours}`;
  return url.href;
}
