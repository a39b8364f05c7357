// A cookie that says that this browser's buyer waits for a checkout to be paid.
//
// Why a cookie: a bank returns the buyer to the checkout's address, which anybody with the link can
// open. Only the waiting buyer is redirected to the merchant, once. Everybody else who opens the
// checkout reads that it is paid; so does a buyer without cookies, with a link to go on.

const WAIT_SECONDS_MAX = 24 * 60 * 60;

export function isAwaiting({ headers }: Request, checkoutId: string): boolean {
  const cookies = headers.get('cookie')?.split(/; */) ?? [];
  return cookies.includes(`${nameOf(checkoutId)}=1`);
}

/**
 * The Set-Cookie header that sets the cookie or removes it. Its path is that of the page, as the
 * browser sees it.
 */
export function awaitingCookie(
  checkoutId: string,
  { isWaiting, isSecure }: { readonly isWaiting: boolean; readonly isSecure: boolean },
): string {
  const age = isWaiting ? WAIT_SECONDS_MAX : 0;
  const secure = isSecure ? '; Secure' : '';
  return `${nameOf(checkoutId)}=1; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`;
}

function nameOf(checkoutId: string): string {
  return `awaiting-${checkoutId}`;
}
