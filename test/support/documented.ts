// Each answer that a test receives is one that the document lists: its status, its refusal, its
// headers, its media type and its body, which has no field more.
import type { TSchema } from '@sinclair/typebox';
import { issuesOf, validator, type Validator } from '../../src/http/edge/validate.ts';
import type { Described, Documented } from '../../src/http/openapi/document.ts';
import { openApiOf } from '../../src/http/openapi/openapi.ts';
import { Error as ErrorBody } from '../../src/http/wire/errors.ts';
import { listRoutes } from '../http/edge/operations.ts';

type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: ReturnType<typeof JSON.parse>;
};

type Known = {
  readonly method: string;
  readonly pattern: RegExp;
  readonly described: Described;
  readonly documented: Documented;
};

/** Of HTTP itself, and of pages for a browser. */
const UNLISTED = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'etag',
  'keep-alive',
  'referrer-policy',
  'refresh',
  'transfer-encoding',
  'x-content-type-options',
  'x-robots-tag',
]);

const ADDRESSES = {
  baseUrl: 'http://localhost',
  appUrl: 'http://localhost',
  checkoutUrl: 'http://localhost/pay',
};

let routes: readonly Known[] | undefined;
const validators = new Map<TSchema, Validator<TSchema>>();

/** What of the answer the document does not list; null where it lists all. */
export function undocumented(method: string, url: string, reply: Answer): string | null {
  routes ??= knownRoutes();
  const { pathname } = new URL(url);
  const route = routes.find((each) => each.method === method && each.pattern.test(pathname));
  if (route === undefined) return null;
  const fault = faultOf(route, reply);
  return fault === null ? null : `${method} ${pathname} ${reply.status}: ${fault}`;
}

function faultOf({ documented, described }: Known, reply: Answer): string | null {
  const { status, headers, json } = reply;
  const answer = documented.responses[status];
  if (answer === undefined) return `the status, with ${reply.text}`;
  const code: unknown = json?.error?.type;
  if (typeof code === 'string' && !answer.description.includes(`\`${code}\``)) return code;
  const listed = new Set(Object.keys(answer.headers).map((name) => name.toLowerCase()));
  const header = [...headers.keys()].find((name) => !listed.has(name) && !UNLISTED.has(name));
  if (header !== undefined) return `the header ${header}`;
  const media = headers.get('content-type')?.split(';')[0];
  if (media !== undefined && answer.content?.[media] === undefined) return media;
  if (json === undefined) return null;
  const own = typeof code === 'string' ? null : described.operation.answers[status];
  const check = validatorOf(own ?? ErrorBody);
  // To ask why takes many times as long as to ask whether.
  if (check.Check(json)) return null;
  return `${JSON.stringify(issuesOf(check, json, 3))} in ${reply.text}`;
}

function knownRoutes(): Known[] {
  const list = listRoutes();
  const { paths } = openApiOf(list, ADDRESSES);
  // The pages of the dashboard are not in the document.
  const described = list.filter(({ hooks }) => hooks.detail !== undefined);
  return described.map(({ method, path, hooks }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
    described: hooks.detail as unknown as Described,
    documented: paths[path.replaceAll(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!,
  }));
}

function validatorOf(schema: TSchema): Validator<TSchema> {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const check = validator(closed(schema));
  validators.set(schema, check);
  return check;
}

/** The same, where a field that it does not name is a fault. */
export function closed(schema: TSchema): TSchema {
  const { anyOf, items, properties } = schema as {
    readonly anyOf?: readonly TSchema[];
    readonly items?: TSchema;
    readonly properties?: Readonly<Record<string, TSchema>>;
  };
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, closed(field)]);
  return {
    ...(properties && { additionalProperties: false }),
    ...schema,
    ...(anyOf && { anyOf: anyOf.map(closed) }),
    ...(items && { items: closed(items) }),
    ...(properties && { properties: Object.fromEntries(fields) }),
  };
}
