// The OpenAPI 3.1 document, gathered from what every route says of itself.
import { assert } from '../../../ledger/kernel/assert.ts';
import { Components } from './components.ts';
import { HEADERS } from './headers.ts';
import { describe, type Described, type Documented } from './document.ts';
import { type Tag, TAGS } from './tags.ts';
import { type Webhook, webhooks } from './webhooks.ts';

export type RouteList = readonly {
  readonly hooks: { readonly detail?: unknown };
}[];

/** The service's base URL, and where its links lead. */
export type Addresses = {
  readonly baseUrl: string;
  readonly appUrl: string;
  readonly checkoutUrl: string;
};

type Server = { readonly url: string; readonly description: string };

export type OpenApi = {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly Server[];
  readonly tags: readonly { readonly name: Tag; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly webhooks: Readonly<Record<string, Webhook>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
};

const DESCRIPTION = [
  'Payments, subscriptions and metered usage, on one double-entry ledger.',
  'Every 4xx and 5xx has the body `Error`. Every refusal carries `x-request-id`; a caller may send its own.',
  'null for an optional field counts as omitted. Where that would widen what is done it is refused.',
].join('\n\n');

const OPERATION_ID = /^[a-z][A-Za-z]+$/;

export function openApiOf(routes: RouteList, addresses: Addresses): OpenApi {
  const components = new Components();
  const paths: Record<string, Record<string, Documented>> = {};
  const tags = new Set<Tag>();
  const names = new Set<string>();
  for (const { hooks } of routes) {
    if (!isDescribed(hooks.detail)) continue;
    const { operationId, operation } = hooks.detail;
    const { method, path } = operation;
    assert(OPERATION_ID.test(operationId), `${operationId} is a name`);
    assert(!names.has(operationId), `one operation is called ${operationId}`);
    names.add(operationId);
    tags.add(operation.tag);
    const servers = serversOf(operation.at, addresses);
    const documented = {
      ...describe(hooks.detail, components),
      ...(servers && { servers }),
    };
    paths[path] = { ...paths[path], [method.toLowerCase()]: documented };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tollhouse', version: '0.1.0', description: DESCRIPTION },
    servers: [{ url: addresses.baseUrl, description: 'The API.' }],
    tags: [...tags].map((name) => ({ name, description: TAGS[name] })),
    paths,
    webhooks: webhooks(components),
    components: {
      schemas: components.all(),
      headers: HEADERS,
      securitySchemes: {
        organisation: bearer(
          "An organisation's key: `svc_test_...` or `svc_live_...`. `x-scopes` of an operation are the scopes that may call it; others get 403.",
        ),
        group: bearer("A group's key: `svc_group_test_...` or `svc_group_live_...`."),
      },
    },
  };
}

/** For an operation with another base address. A proxy there maps `CHECKOUT_URL` to `/pay`. */
function serversOf(
  at: Described['operation']['at'],
  { baseUrl, appUrl, checkoutUrl }: Addresses,
): Server[] | null {
  const url = at === 'app' ? appUrl : checkoutUrl.replace(/\/pay$/, '');
  if (at === undefined || url === baseUrl) return null;
  const description = at === 'app' ? '`APP_URL`.' : '`CHECKOUT_URL`.';
  return at === 'checkout' && !checkoutUrl.endsWith('/pay') ? null : [{ url, description }];
}

function bearer(description: string): unknown {
  return { type: 'http', scheme: 'bearer', description };
}

/** Routes of the edge carry a description; a route of a plugin may not. */
function isDescribed(detail: unknown): detail is Described {
  return typeof detail === 'object' && detail !== null && 'operation' in detail;
}
