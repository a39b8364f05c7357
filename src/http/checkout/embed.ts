// A checkout in a merchant's frame: `?embed=1`.
//
// Holds: only the origins of `success_url` and `cancel_url` may frame the checkout. Nothing else of
// ours is framed, but the sandbox bank's page on the way of such a payment. It needs no cookie: in
// a frame the buyer is not redirected to `success_url`; the framing page gets a message instead.
import type { OrgClock } from '../../../ledger/ports.ts';
import type { Embed } from '../../pages/embed/frame.ts';
import { framersOf } from '../../payments/urls.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { CheckoutRecord } from '../../records/checkouts.ts';
import { findSession } from './session.ts';
import { urlOf } from '../edge/url.ts';

/** The query that leads a framed page back to itself. */
export const EMBEDDED_BACK = '?embed=1';

function isEmbedded(url: { readonly searchParams: URLSearchParams }): boolean {
  return url.searchParams.get('embed') === '1';
}

/** null where the request is not for a frame. */
export function embedOf(request: Request, checkout: CheckoutRecord): Embed | null {
  if (!isEmbedded(urlOf(request))) return null;
  const { id: paymentLinkId, cancelUrl } = checkout;
  return { paymentLinkId, cancelUrl, origins: framersOf(checkout) };
}

/**
 * The origins that may frame the bank's page of a payment that returns to `returnUrl`: those of the
 * checkout, where that is framed.
 */
export async function framersOfReturn(
  deps: { readonly sql: Sql; readonly orgClock: OrgClock; readonly checkoutUrl: string },
  returnUrl: string,
): Promise<readonly string[]> {
  const url = URL.parse(returnUrl);
  if (url === null || !isEmbedded(url) || !returnUrl.startsWith(`${deps.checkoutUrl}/`)) return [];
  const token = url.pathname.split('/').at(-1) ?? '';
  const session = await findSession(deps.sql, token, deps.orgClock);
  return session === null ? [] : framersOf(session.checkout);
}
