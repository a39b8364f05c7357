import { type Static, Type } from '@sinclair/typebox';
import type { OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { brandOf } from '../../pages/brand.ts';
import { buyLinkPage } from '../../pages/checkout/buy-link.ts';
import { discountOfCode } from '../../payments/open-checkout.ts';
import type { Openings } from '../../payments/openings.ts';
import { regionalCurrency } from '../../payments/regions.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import { findOrganisation } from '../../records/organisations.ts';
import { findPublicProduct } from '../../records/products.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse, refuseInvalid, Unavailable } from '../edge/errors.ts';
import { refuseRate, refuseRatePage } from '../edge/rate-limit.ts';
import { sendPage } from '../page.ts';
import {
  BuyLinkCheckout,
  BuyLinkCheckoutCreate,
  fromBuyLinkCheckout,
  refusalText,
  toBuyLinkInput,
  urlIssues,
} from '../wire/checkouts.ts';
import { Body } from '../wire/values.ts';

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
  method: 'POST',
  path: '/buy-links/{product_id}/checkout',
  summary: 'Open a checkout from a buy link',
  description:
    'For anyone: the URL is the credential. Each call opens a new checkout of a public product, ' +
    'which can be paid once.',
  tag: 'Checkouts',
  params: { product_id: 'The id of the product, bare or with `prod_`, or its slug.' },
  body: BuyLinkCheckoutCreate,
  bodyOptional: true,
  answers: { 200: BuyLinkCheckout },
  refusals: ['not_found', 'conflict', 'checkout_create_failed', 'rate_limited'],
} as const;

const params = { product_id: CREATE.params.product_id };
const mediaType = 'text/html';

const VISIT = {
  operationId: 'visitBuyLink',
  method: 'GET',
  path: '/buy-links/{product_id}',
  summary: 'Open a buy link in a browser',
  description:
    'A visit opens a checkout and redirects to it, with `currency` and `discount_code` from the ' +
    'query. A preview of the link, a prefetch, HEAD, or a browser that does not say why it asks ' +
    'gets a page with a button instead, and opens nothing.',
  tag: 'Hosted pages',
  params,
  query: Body({
    currency: Type.Optional(Type.String({ maxLength: 3 })),
    discount_code: Type.Optional(Type.String({ maxLength: 255 })),
  }),
  answers: {
    200: Type.String(),
    302: null,
    404: Type.String(),
    409: Type.String(),
    429: Type.String(),
  },
  mediaType,
} as const;

const CONTINUE = {
  operationId: 'continueFromBuyLink',
  method: 'POST',
  path: '/buy-links/{product_id}',
  summary: 'Open a checkout from the page of a buy link',
  description: 'What the button of the page sends. It redirects to the checkout.',
  tag: 'Hosted pages',
  params,
  query: VISIT.query,
  form: Body({}),
  answers: { 303: null, 404: Type.String(), 409: Type.String(), 429: Type.String() },
  mediaType,
} as const;

export function buyLinkRoutes(deps: BuyLinkRoutesDeps): Route[] {
  const limit = deps.limiter.limit('buy-link', deps.settings.limits.buyLinks);
  const take = (request: Request) => limit.take(deps.addressOf(request));
  return [visit(deps, take), goOn(deps, take), createCheckout(deps, take)];
}

type Take = (request: Request) => ReturnType<ReturnType<RateLimiter['limit']>['take']>;

type Found = NonNullable<Awaited<ReturnType<typeof findPublicProduct>>>;

function createCheckout(deps: BuyLinkRoutesDeps, take: Take): Route {
  const { edge, sql } = deps;
  const { checkoutUrl, allowLoopbackUrls } = deps.settings;
  return edge.open(CREATE, async ({ params: { product_id: reference }, body = {}, request }) => {
    const taken = await take(request);
    if (!taken.allowed) return refuseRate(taken);
    const found = await findPublicProduct(sql, reference);
    if (found === null) return refuse('not_found', 'no such product');
    const { scope } = found;
    const issues = urlIssues(body, { loopback: allowLoopbackUrls && scope.mode === 'test' });
    if (issues.length > 0) return refuseInvalid(issues);
    const opened = await open(deps, found, { body, request });
    if (opened.kind === 'opened') {
      return Response.json(fromBuyLinkCheckout(opened.checkout, { reference, checkoutUrl }));
    }
    if (opened.kind === 'full') return refuse('conflict', opened.full.message);
    if (opened.kind === 'no_product') return refuse('not_found', 'no such product');
    return refuse('checkout_create_failed', refusalText(opened));
  });
}

/** @throws Unavailable where too many wait */
async function open(
  { sql, openings, orgClock }: BuyLinkRoutesDeps,
  { scope, product }: Found,
  { body, request }: { readonly body: Static<typeof BuyLinkCheckoutCreate>; request: Request },
) {
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
  if (opened.kind === 'no_place' || opened.kind === 'key_taken') {
    throw new Unavailable('too many buyers open checkouts at once');
  }
  return opened;
}

type Choices = Static<typeof VISIT.query>;

function visit(deps: BuyLinkRoutesDeps, take: Take): Route {
  return deps.edge.open(VISIT, async ({ params: { product_id: reference }, query, request }) => {
    const taken = await take(request);
    if (!taken.allowed) return refuseRatePage(taken);
    const found = await findPublicProduct(deps.sql, reference);
    if (found === null) return sendPage(buyLinkPage({ kind: 'not_found' }), { status: 404 });
    return isVisit(request)
      ? lead(deps, found, { status: 302, query, request })
      : show(deps, found, { kind: 'offer', status: 200 });
  });
}

function goOn(deps: BuyLinkRoutesDeps, take: Take): Route {
  return deps.edge.open(CONTINUE, async ({ params: { product_id: reference }, query, request }) => {
    const taken = await take(request);
    if (!taken.allowed) return refuseRatePage(taken);
    const found = await findPublicProduct(deps.sql, reference);
    return found === null
      ? sendPage(buyLinkPage({ kind: 'not_found' }), { status: 404 })
      : lead(deps, found, { status: 303, query, request });
  });
}

/**
 * Whether a person is on the way to the address. Programs that look at links for their preview do
 * not say so, and neither do browsers over plain http; a browser that only prepares for a visit
 * does.
 */
function isVisit({ method, headers }: Request): boolean {
  const isNavigation =
    headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document';
  return method === 'GET' && isNavigation && !headers.has('sec-purpose') && !headers.has('purpose');
}

/** Opens a checkout, and leads there. */
async function lead(
  deps: BuyLinkRoutesDeps,
  found: Found,
  of: { readonly status: 302 | 303; readonly query: Choices; readonly request: Request },
): Promise<Response> {
  const opened = await open(deps, found, { body: {}, request: of.request });
  if (opened.kind !== 'opened') {
    const kind = opened.kind === 'full' ? 'full' : 'unavailable';
    return show(deps, found, { kind, status: 409 });
  }
  const chosen = new URLSearchParams(
    Object.entries(of.query).filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString();
  const location = `${deps.settings.checkoutUrl}/${opened.checkout.token}`;
  return new Response(null, {
    status: of.status,
    headers: {
      location: chosen === '' ? location : `${location}?${chosen}`,
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-robots-tag': 'noindex',
    },
  });
}

async function show(
  { sql, settings: { appUrl, checkoutUrl } }: BuyLinkRoutesDeps,
  { scope, product }: Found,
  { kind, status }: { readonly kind: 'offer' | 'unavailable' | 'full'; readonly status: number },
): Promise<Response> {
  const { name: merchant, branding } = await findOrganisation(sql, scope);
  const page = buyLinkPage({ kind, merchant, product }, brandOf(branding, appUrl));
  return sendPage(page, { status, formAction: ["'self'", new URL(checkoutUrl).origin] });
}
