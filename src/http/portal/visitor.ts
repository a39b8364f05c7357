// Authentication of the portal: by the token in the path.
//
// Who calls: the edge, before it reads anything else of a request.
// Holds: a token is looked up on each use, so a revoked or expired one is refused at once. A
// refusal does not say whose portal it was; a browser gets a page, a program an error. A token for
// one page opens nothing else.
import type { Clock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { refusedPage } from '../../pages/portal/refused.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import { findPortalAccess } from '../../records/portal-tokens.ts';
import type { PortalPrincipal } from '../edge/auth.ts';
import { isForm } from '../edge/body.ts';
import { refuse } from '../edge/errors.ts';
import type { PortalOperation } from '../policy.ts';
import { sendPage } from '../page.ts';
import { refuseRate, refuseRatePage } from '../edge/rate-limit.ts';

/** The customer of the token, or the refusal. */
export type AdmitPortal = (
  request: Request,
  token: string,
  operation: Pick<PortalOperation, 'page'>,
) => Promise<PortalPrincipal | Response>;

export type PortalDoorDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly settings: Settings;
};

export function openPortalDoor({ sql, clock, limiter, settings }: PortalDoorDeps): AdmitPortal {
  const limit = limiter.limit('portal', settings.limits.portal);
  return async (request, token, { page }) => {
    const access = await findPortalAccess(sql, token, clock.now());
    if (access === null) {
      return isForPage(request)
        ? sendPage(refusedPage('unauthorized'), { status: 401 })
        : refuse('unauthorized', 'the portal token is missing, malformed, revoked or expired');
    }
    if (access.page !== null && access.page !== page) {
      return isForPage(request)
        ? sendPage(refusedPage('forbidden'), { status: 403 })
        : refuse('forbidden', 'this token opens only the page of the payment method');
    }
    const taken = await limit.take(access.tokenId);
    if (taken.allowed) return { kind: 'portal', ...access };
    return isForPage(request) ? refuseRatePage(taken) : refuseRate(taken);
  };
}

/** A browser reads pages and sends forms; a program sends JSON. */
function isForPage(request: Request): boolean {
  return request.method === 'GET' || isForm(request);
}
