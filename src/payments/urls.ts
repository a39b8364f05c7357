// Where a buyer is sent after the page: which addresses a merchant may give, and what becomes of them.

/** Characters of an address. */
export const REDIRECT_URL_LENGTH_MAX = 2048;

/** Stands in a `success_url` for the token of the session. Replaced as text, before anything parses the address and escapes it. */
const TOKEN_PLACE = '{CHECKOUT_TOKEN}';

const LOOPBACK = ['localhost', '127.0.0.1'];

/** What is wrong with an address to send a buyer to; null for nothing. `loopback`: whether this very machine may be one. */
export function redirectUrlIssue(text: string, { loopback }: { loopback: boolean }): string | null {
  // A parser drops line breaks and tabs, and takes a backslash for a slash: what is checked must be what is sent.
  // oxlint-disable-next-line no-control-regex
  if (/[\s\\\u0000-\u001F\u007F]/.test(text)) return 'must not hold spaces or backslashes';
  const url = URL.parse(text.replaceAll(TOKEN_PLACE, 'token'));
  if (url === null || !/^https?:\/\//i.test(text)) return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password';
  if (url.protocol === 'https:') return null;
  if (loopback && LOOPBACK.includes(url.hostname)) return null;
  return 'must be an https URL';
}

/** Where the buyer goes once the checkout is paid: query and fragment stay as they are, ours comes behind them. */
export function paidUrl(
  successUrl: string,
  { id, token }: { readonly id: string; readonly token: string },
): string {
  const url = new URL(successUrl.replaceAll(TOKEN_PLACE, token));
  const ours = `status=paid&payment_link_id=${id}`;
  url.search = url.search === '' ? ours : `${url.search}&${ours}`;
  return url.href;
}
