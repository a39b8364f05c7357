// The OpenAPI 3.1 document, gathered from what every route says of itself.
import { ERROR_BODY, schemaOf, type Documented } from './document.ts';
import { type Webhook, webhooks } from './webhooks.ts';

export type RouteList = readonly {
  readonly method: string;
  readonly path: string;
  readonly hooks: { readonly detail?: unknown };
}[];

export type OpenApi = {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly webhooks: Readonly<Record<string, Webhook>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
};

const DESCRIPTION = [
  'Payments, subscriptions and metered usage, on one double-entry ledger.',
  'Every 4xx and 5xx has the body `Error`. Every refusal carries `x-request-id`; a caller may send its own.',
].join('\n\n');

export function openApiOf(routes: RouteList, baseUrl: string): OpenApi {
  const paths: Record<string, Record<string, Documented>> = {};
  const tags = new Set<string>();
  for (const { method, path, hooks } of routes) {
    if (!isDocumented(hooks.detail)) continue;
    for (const tag of hooks.detail.tags) tags.add(tag);
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: hooks.detail };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tollhouse', version: '0.1.0', description: DESCRIPTION },
    servers: [{ url: baseUrl }],
    tags: [...tags].map((name) => ({ name })),
    paths,
    webhooks: webhooks(),
    components: {
      schemas: { Error: schemaOf(ERROR_BODY) },
      securitySchemes: {
        organisation: bearer("An organisation's key: `svc_test_...` or `svc_live_...`."),
        group: bearer("A group's key: `svc_group_test_...` or `svc_group_live_...`."),
      },
    },
  };
}

function bearer(description: string): unknown {
  return { type: 'http', scheme: 'bearer', description };
}

/** Every route of the edge says what it is; a route of a plugin may not. */
function isDocumented(detail: unknown): detail is Documented {
  return typeof detail === 'object' && detail !== null && 'responses' in detail;
}
