// Whether this browser's buyer waits for a checkout to be paid: at a bank, or for one that takes its time.
//
// Why a cookie: a bank brings the buyer back to the same address that anybody may open, and the buyer alone is to be sent on to the
// merchant, once. Whoever opens the checkout later, or comes back from the merchant, reads that it is paid. Without cookies the buyer
// reads that too, and has the link that leads on.

const WAIT_SECONDS_MAX = 24 * 60 * 60;

export function isAwaiting({ headers }: Request, checkoutId: string): boolean {
  const cookies = headers.get('cookie')?.split(/; */) ?? [];
  return cookies.includes(`${nameOf(checkoutId)}=1`);
}

/** The header that says that the buyer waits from now on, or does not any more. Its path is the browser's: that of the page. */
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
