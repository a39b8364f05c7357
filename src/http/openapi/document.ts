// An operation as OpenAPI 3.1 describes it. It hangs on the route as `detail`; openapi.ts gathers
// them.
import { bodyMaxOf, isIdempotent } from '../edge/admission.ts';
import { FORM_MEDIA, JSON_MEDIA } from '../edge/body.ts';
import type { Components, JsonSchema } from './components.ts';
import { headersOf, type HeaderName, HINTS, NODE, OWNER } from './headers.ts';
import { type ErrorCode, STATUS_OF } from '../edge/errors.ts';
import type { Access, Operation } from '../operation.ts';
import type { Guarded } from '../policy.ts';
import type { KeyScope } from '../../records/api-keys.ts';
import { Error as ErrorBody } from '../wire/errors.ts';

/** What a route says of itself. */
export type Described = Guarded & { readonly operationId: string };

type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
};

type Content = Record<string, { schema: JsonSchema }>;

type DocumentedResponse = {
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: Content;
};

export type Documented = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  /** A key needs one of these. */
  'x-scopes'?: readonly KeyScope[];
  servers?: { url: string; description: string }[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, DocumentedResponse>;
};

const HTML = 'text/html';
const CSV = 'text/csv';

/** Describes an operation. */
export function describe({ access, operation }: Described, components: Components): Documented {
  const { operationId, summary, description, tag, form, body } = operation;
  const content = {
    ...(body !== undefined && { [JSON_MEDIA.type]: { schema: components.of(body) } }),
    ...(form !== undefined && { [FORM_MEDIA.type]: { schema: components.of(form) } }),
  };
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: hasKey(access) ? [{ [access]: [] }] : [],
    ...(access === 'organisation' && { 'x-scopes': operation.scopes }),
    parameters: parametersOf({ access, operation }, components),
    ...(Object.keys(content).length > 0 && {
      requestBody: { required: operation.bodyOptional !== true, content },
    }),
    responses: responsesOf({ access, operation }, components),
  };
}

/** Whether it takes a key in the Authorization header. */
export function hasKey(access: Access): access is 'organisation' | 'group' {
  return access === 'organisation' || access === 'group';
}

function parametersOf(route: DocumentedRoute, components: Components): Parameter[] {
  const { params = {}, query, headers = {} } = route.operation;
  const parameters: Parameter[] = Object.entries(params).map(([name, description]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  for (const [name, field] of Object.entries(query?.properties ?? {})) {
    const { description = '' } = field;
    const { description: _beside, ...schema } = components.of(field) as { description?: string };
    const required = query?.required?.includes(name) === true;
    parameters.push({ name, in: 'query', required, description, schema });
  }
  for (const [name, description] of Object.entries(headers)) {
    const schema = { type: 'string' } as const;
    parameters.push({ name, in: 'header', required: false, description, schema });
  }
  if (isIdempotent(route.operation, route.access)) {
    parameters.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        route.operation.idempotent === 'ledger'
          ? 'A request that is sent again unchanged with the same key has no second effect.'
          : 'A request that is sent again with the same key gets the first answer.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    });
  }
  return parameters;
}

/** All responses by status: those of the handler, and the refusals of the handler and the edge. */
function responsesOf(
  route: DocumentedRoute,
  components: Components,
): Record<string, DocumentedResponse> {
  const { operation } = route;
  const refusals = refusalsOf(route);
  const statuses = new Set([...Object.keys(operation.answers).map(Number), ...refusals.keys()]);
  const answers = [...statuses].map((status) => {
    const codes = refusals.get(status) ?? [];
    return [status, answerOf({ ...route, components, status, codes })];
  });
  return Object.fromEntries(answers) as Record<string, DocumentedResponse>;
}

type DocumentedRoute = {
  readonly access: Access;
  readonly operation: Operation;
};

type Answering = DocumentedRoute & {
  readonly components: Components;
  readonly status: number;
  /** The error codes of this status. */
  readonly codes: readonly ErrorCode[];
};

function answerOf({ components, status, codes, ...route }: Answering): DocumentedResponse {
  const { access, operation } = route;
  const { answers, mediaType = JSON_MEDIA.type } = operation;
  const schema = answers[status];
  // A bad or rate-limited token is answered with a page where a browser reads it.
  const isRead = mediaType === HTML || (access === 'portal' && mediaType === CSV);
  const isOfToken = status === 401 || (status === 403 && !isOfOnePage(operation));
  const isOfPortal = access === 'portal' && isOfToken;
  const isPage = isRead && (status === 429 || isOfPortal);
  // A form is answered with a page, a program that sends JSON with JSON.
  const isEither = access === 'portal' && hasBoth(operation) && ON_PAGE.has(status);
  const content: Content = {
    ...(isEither && { [HTML]: { schema: { type: 'string' } } }),
    ...(schema && { [mediaType]: { schema: components.of(schema) } }),
    ...(schema && operation.alsoCsv === true && { [CSV]: { schema: { type: 'string' } } }),
    ...(isPage && { [HTML]: { schema: { type: 'string' } } }),
    ...(!isPage && codes.length > 0 && { [JSON_MEDIA.type]: { schema: components.of(ErrorBody) } }),
  };
  const bound = status === 413 ? ` (over ${bodyMaxOf(operation, access).bytes} bytes)` : '';
  const words = [
    ...codes.map((code) => `\`${code}\``),
    ...(schema === undefined ? [] : [wordsOf(status, schema === null ? null : mediaType)]),
  ];
  const headers = headersOf(namesOf({ ...route, status, codes }));
  return {
    description: words.join(' or ') + bound,
    headers,
    ...(Object.keys(content).length > 0 && { content }),
  };
}

/** The statuses of a portal form's page, other than a redirect. */
const ON_PAGE: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 409, 429]);

function hasBoth({ body, form }: Operation): boolean {
  return body !== undefined && form !== undefined;
}

/** Whether a link may open its page of the portal alone. */
function isOfOnePage(operation: Operation): boolean {
  return 'page' in operation;
}

function wordsOf(status: number, mediaType: string | null): string {
  if (status === 303) return 'Redirect to `Location`';
  if (mediaType === null) return 'Done; no body';
  if (mediaType === HTML) return status < 400 ? 'A page' : 'a page with the reason';
  return status === 201 ? 'Created' : 'Done';
}

function namesOf({ status, codes, ...route }: Omit<Answering, 'components'>) {
  const { refusals = [] } = route.operation;
  const names: HeaderName[] = ['x-request-id'];
  // A refusal by a business rule is replayed as well.
  const isKept =
    status < 300 || codes.some((code) => refusals.includes(code) && !MAY_PASS.has(code));
  if (isIdempotent(route.operation, route.access) && isKept) names.push('Idempotency-Replayed');
  if (status === 200 && HINTS in (route.operation.headers ?? {})) names.push(NODE, OWNER);
  if (status === 303) names.push('Location');
  const { mediaType, alsoCsv } = route.operation;
  if (status === 200 && (mediaType === CSV || alsoCsv === true)) names.push('Content-Disposition');
  if (codes.includes('unauthorized')) names.push('WWW-Authenticate');
  if (codes.some((code) => MAY_PASS.has(code))) names.push('Retry-After');
  if (codes.includes('rate_limited')) {
    names.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
  }
  return names;
}

const MAY_PASS = new Set<ErrorCode>([
  'rate_limited',
  'service_unavailable',
  'idempotency_in_progress',
]);

/**
 * The error codes of each status: the operation's own, and those of the edge, which follow from
 * what the operation takes.
 */
function refusalsOf({ access, operation }: DocumentedRoute): Map<number, ErrorCode[]> {
  const { method, idempotent, params, form, query } = operation;
  const codes = new Set<ErrorCode>(operation.refusals);
  if (hasKey(access)) {
    codes.add('unauthorized').add('forbidden');
    if (params !== undefined) codes.add('not_found');
  }
  if (access === 'portal') codes.add('unauthorized').add('rate_limited');
  if (access === 'portal' && !isOfOnePage(operation)) codes.add('forbidden');
  if (form !== undefined) codes.add('forbidden');
  // An operation without query fields refuses any query.
  if (method !== 'GET') {
    codes.add('invalid_request').add('payload_too_large').add('unsupported_media_type');
  }
  if (query !== undefined) codes.add('invalid_request');
  if (isIdempotent(operation, access) && idempotent !== 'ledger') {
    codes.add('idempotency_in_progress');
    if (idempotent !== 'any_body') codes.add('idempotency_key_reused');
  }
  codes.add('internal_error').add('service_unavailable');
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = STATUS_OF[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}
