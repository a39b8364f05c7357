// The logo of an organisation: put, removed, and shown to everybody.
//
// Holds: what is served has the type that its bytes have, is told to be nothing else, and can run
// nothing. Its address is its hash, so it never changes there.
import { Type } from '@sinclair/typebox';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import type { Sql, Transaction } from '../../platform/postgres/postgres.ts';
import type { RateLimiter } from '../../platform/redis/rate-limit.ts';
import { deleteLogo, findLogo, putLogo } from '../../records/logos.ts';
import {
  findOrganisation,
  type LogoName,
  updateOrganisation,
} from '../../records/organisations.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { refuseRate } from '../edge/rate-limit.ts';
import { hasAlready } from '../etag.ts';
import { fromLogo, Logo, LogoPut, toLogo } from '../wire/branding.ts';

export type BrandingRoutesDeps = {
  readonly edge: Edge;
  readonly sql: Sql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  readonly settings: Pick<Settings, 'appUrl' | 'limits'>;
  readonly limiter: RateLimiter;
  /** The client's address, as rate limits count it. */
  readonly addressOf: (request: Request) => string;
};

const tag = 'Organization';

const READ = {
  operationId: 'getLogo',
  method: 'GET',
  path: '/organization/logo',
  client: 'organization.retrieveLogo',
  summary: 'Get the logo of the organization',
  description: 'In the mode of the key. 404 without a logo.',
  tag,
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  answers: { 200: Logo },
  refusals: ['not_found'],
} as const;

const PUT = {
  operationId: 'putLogo',
  method: 'PUT',
  path: '/organization/logo',
  client: 'organization.putLogo',
  summary: 'Set the logo of the organization',
  description:
    'In the mode of the key. It replaces the current logo on the pages, invoices and mails for ' +
    'customers. Sent mails keep the logo that they were sent with: the last ten are stored. An ' +
    'image that is not PNG, JPEG or WebP is refused.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'logo', before: READ },
  body: LogoPut,
  answers: { 200: Logo },
} as const;

const REMOVE = {
  operationId: 'deleteLogo',
  method: 'DELETE',
  path: '/organization/logo',
  client: 'organization.deleteLogo',
  summary: 'Remove the logo of the organization',
  description:
    'In the mode of the key. Sent mails show the name of the seller instead of this logo and ' +
    'earlier ones.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all'],
  audit: { object: 'logo', before: READ },
  answers: { 204: null },
  refusals: ['not_found'],
} as const;

const SHOW = {
  operationId: 'showLogo',
  method: 'GET',
  path: '/logos/{hash}',
  summary: 'Get a logo image',
  description: 'The image itself, without a key, for pages and mails.',
  tag: 'Hosted pages',
  params: { hash: 'The hash of the image.' },
  answers: { 200: Type.String(), 304: null },
  mediaType: 'image/*',
  refusals: ['not_found', 'rate_limited'],
  at: 'app',
} as const;

const HASH = /^[\da-f]{40}$/;

export function brandingRoutes(deps: BrandingRoutesDeps): Route[] {
  return [putOne(deps), readOne(deps), removeOne(deps), showOne(deps)];
}

function putOne(deps: BrandingRoutesDeps): Route {
  const { edge, sql, orgClock, settings } = deps;
  return edge.organisation(PUT, async ({ principal, body }) => {
    const logo = toLogo(body);
    if ('issues' in logo) return refuseInvalid(logo.issues);
    const { bytes: _, ...named } = logo;
    await sql.begin(async (transaction) => {
      // It holds the row of the settings: two that come at once are stored in one order.
      await nameLogo(transaction, deps, { principal, logo: named });
      await putLogo(transaction, principal, { ...logo, now: orgClock.now(principal) });
    });
    return Response.json(fromLogo(named, settings.appUrl));
  });
}

function readOne({ edge, sql, settings }: BrandingRoutesDeps): Route {
  return edge.organisation(READ, async ({ principal }) => {
    const { branding } = await findOrganisation(sql, principal);
    return branding.logo === null
      ? noLogo()
      : Response.json(fromLogo(branding.logo, settings.appUrl));
  });
}

function removeOne(deps: BrandingRoutesDeps): Route {
  const { edge, sql } = deps;
  return edge.organisation(REMOVE, async ({ principal }) => {
    const isDone = await sql.begin(async (transaction) => {
      await nameLogo(transaction, deps, { principal, logo: null });
      return deleteLogo(transaction, principal);
    });
    return isDone ? new Response(null, { status: 204 }) : noLogo();
  });
}

function nameLogo(
  sql: Transaction,
  { ids, orgClock }: BrandingRoutesDeps,
  to: { readonly principal: OrganisationPrincipal; readonly logo: LogoName | null },
): Promise<unknown> {
  const { principal, logo } = to;
  return updateOrganisation(sql, principal, {
    patch: { branding: { logo } },
    actor: principal.actor.id,
    newEventId: () => ids.next(),
    now: orgClock.now(principal),
  });
}

const noLogo = () => refuse('not_found', 'there is no logo');

function showOne({ edge, sql, limiter, settings, addressOf }: BrandingRoutesDeps): Route {
  const limit = limiter.limit('logo', settings.limits.logos);
  return edge.open(SHOW, async ({ params: { hash }, request }) => {
    const taken = await limit.take(addressOf(request));
    if (!taken.allowed) return refuseRate(taken);
    const logo = HASH.test(hash) ? await findLogo(sql, hash) : null;
    if (logo === null) return noLogo();
    const headers = headersOf(hash, logo.type);
    return hasAlready(request, headers.etag)
      ? new Response(null, { status: 304, headers })
      : new Response(Buffer.from(logo.bytes), { headers });
  });
}

function headersOf(hash: string, type: string) {
  return {
    'content-type': type,
    'cache-control': 'public, max-age=31536000, immutable',
    etag: `"${hash}"`,
    'x-content-type-options': 'nosniff',
    // Opened by itself, it is no page that could do anything.
    'content-security-policy': "default-src 'none'; sandbox",
    // Pages at CHECKOUT_URL show it, and programs that show mails.
    'cross-origin-resource-policy': 'cross-origin',
  };
}
