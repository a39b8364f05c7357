import { Elysia } from 'elysia';
import type { OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { discountOfCode } from '../../payments/open-checkout.ts';
import type { Openings } from '../../payments/openings.ts';
import { regionalCurrency } from '../../payments/regions.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import { findPublicProduct } from '../../records/products.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse, refuseInvalid, Unavailable } from '../edge/errors.ts';
import { refuseRate } from '../edge/rate-limit.ts';
import {
  BuyLinkCheckout,
  BuyLinkCheckoutCreate,
  fromBuyLinkCheckout,
  refusalText,
  toBuyLinkInput,
  urlIssues,
} from '../wire/checkouts.ts';

export type BuyLinkRoutesDeps = {
  readonly edge: Edge;
  readonly openings: Openings;
  readonly sql: Sql;
  readonly orgClock: OrgClock;
  readonly settings: Settings;
  readonly limiter: RateLimiter;
  /** The client's address, as rate limits count it. */
  readonly addressOf: (request: Request) => string;
};

const CREATE = {
  operationId: 'openBuyLink',
  summary: 'Open a checkout from a buy link',
  description:
    'For anyone: the address is the credential. Each call opens a new session of a public product, which can be paid once.',
  tag: 'Checkouts',
  params: { product_id: 'The id of the product, bare or with `prod_`, or its slug.' },
  body: BuyLinkCheckoutCreate,
  bodyOptional: true,
  answers: { 200: BuyLinkCheckout },
  refusals: ['not_found', 'conflict', 'checkout_create_failed', 'rate_limited'],
} as const;

export function buyLinkRoutes(deps: BuyLinkRoutesDeps) {
  return new Elysia().post('/buy-links/:product_id/checkout', ...createCheckout(deps));
}

function createCheckout(deps: BuyLinkRoutesDeps): Route {
  const { edge, sql, openings, orgClock, addressOf } = deps;
  const { checkoutUrl, limits, allowLoopbackUrls } = deps.settings;
  const limit = deps.limiter.limit('buy-link', limits.buyLinks);
  return edge.open(CREATE, async ({ params: { product_id: reference }, body = {}, request }) => {
    const taken = await limit.take(addressOf(request));
    if (!taken.allowed) return refuseRate(taken);
    const found = await findPublicProduct(sql, reference);
    if (found === null) return refuse('not_found', 'no such product');
    const { scope, product } = found;
    const issues = urlIssues(body, { loopback: allowLoopbackUrls && scope.mode === 'test' });
    if (issues.length > 0) return refuseInvalid(issues);
    const opened = await openings.open({
      scope,
      input: toBuyLinkInput(body, {
        productId: product.id,
        discount: await discountOfCode(sql, scope, body.discount_code),
        regional: regionalCurrency(request.headers),
      }),
      now: orgClock.now(scope),
      keyed: () => null,
    });
    if (opened.kind === 'opened') {
      return Response.json(fromBuyLinkCheckout(opened.checkout, { reference, checkoutUrl }));
    }
    if (opened.kind === 'full') return refuse('conflict', opened.full.message);
    if (opened.kind === 'no_product') return refuse('not_found', 'no such product');
    if (opened.kind === 'no_place' || opened.kind === 'key_taken') {
      throw new Unavailable('too many buyers open checkouts at once');
    }
    return refuse('checkout_create_failed', refusalText(opened));
  });
}
