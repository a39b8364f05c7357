// The generated half of the client, as text: what the OpenAPI document says of every operation that
// takes a key, in the names of TypeScript. Hosted pages and what needs no key have no method.
import { format } from 'oxfmt';
import { assert } from '../../ledger/kernel/assert.ts';
import { STATUS_OF } from '../../src/http/edge/errors.ts';
import { type Documented } from '../../src/http/openapi/document.ts';
import { type OpenApi, openApiOf } from '../../src/http/openapi/openapi.ts';
import { toCamel, toSnake } from '../../src/client/casing.ts';
import { listOperations, listRoutes } from '../http/edge/operations.ts';
import { Types, type Schema } from './client-types.ts';

const HEAD = '// Generated from the OpenAPI document by `bun run client:types`.';

type Keyed = { readonly method: string; readonly path: string; readonly documented: Documented };

const document = openApiOf(listRoutes(), {
  baseUrl: 'http://localhost',
  appUrl: 'http://localhost',
  checkoutUrl: 'http://localhost/pay',
});
const types = new Types(document.components.schemas as Readonly<Record<string, Schema>>);
const operations = keyedOf(document);

/** `src/client/operations.ts` */
export function operationsText(): Promise<string> {
  const rows = operations.map(({ method, path, documented }) => {
    const keyed = documented.parameters.some(({ name }) => name === 'Idempotency-Key');
    const camelPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${toCamel(name)}}`);
    const params = paramsOf(documented)?.from ?? 'none';
    const row = {
      method: method.toUpperCase(),
      path: camelPath,
      keyed,
      params,
      ...(itemOf(documented) !== null && { list: true }),
      ...mediaOf(documented),
    };
    return `${documented.operationId}: ${JSON.stringify(row)},`;
  });
  const free = types.namedByCallers().map((name) => `'${name}'`);
  return formatted(`${HEAD}
    import type { ErrorType } from './types.ts';

    export type Operation = {
      readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      readonly path: string;
      /** Whether it takes an Idempotency-Key. */
      readonly keyed: boolean;
      /** Where its fields go. */
      readonly params: 'body' | 'query' | 'none';
      /** Whether it answers in pages. */
      readonly list?: true;
      /** What it answers where that is no JSON. */
      readonly answer?: 'nothing' | 'text';
    };

    export const OPERATIONS = {
      ${rows.join('\n')}
    } as const satisfies Record<string, Operation>;

    export type OperationId = keyof typeof OPERATIONS;

    /** The status that each refusal has as an answer of its own. */
    export const STATUS_OF: Readonly<Record<ErrorType, number>> = ${JSON.stringify(STATUS_OF)};

    /** The fields whose own fields callers name. */
    export const NAMED_BY_CALLERS: ReadonlySet<string> = new Set([${free.join(', ')}]);
  `);
}

/** `src/client/resources.ts` */
export function resourcesText(): Promise<string> {
  const resources = new Map<string, Map<string, string>>();
  for (const listed of listOperations()) {
    if (listed.access !== 'organisation' && listed.access !== 'group') continue;
    const { client, operationId, summary } = listed.operation;
    if (client === 'own') continue;
    const [resource = '', method = ''] = client.split('.');
    const methods = resources.get(resource) ?? new Map<string, string>();
    assert(!methods.has(method), `one operation is ${client}`);
    methods.set(method, `/** ${summary}. */\n${method}: '${operationId}',`);
    resources.set(resource, methods);
  }
  const tables = [...resources].map(
    ([name, methods]) => `${name}: {\n${[...methods.values()].join('\n')}\n},`,
  );
  return formatted(`// Generated from the operations of the service by \`bun run client:types\`.
    import type { OperationId } from './operations.ts';

    export const RESOURCES = {
      ${tables.join('\n')}
    } as const satisfies Record<string, Readonly<Record<string, OperationId>>>;
  `);
}

/** `src/client/types.ts` */
export function typesText(): Promise<string> {
  for (const { documented } of operations) {
    const params = paramsOf(documented);
    if (params !== null) types.reach(params.schema, 'given');
    for (const answer of answersOf(documented)) types.reach(answer, 'answered');
  }
  const queries: string[] = [];
  const entries = operations.map(({ documented }) => {
    const { operationId, summary, description } = documented;
    const args = documented.parameters
      .filter((parameter) => parameter.in === 'path')
      .map(({ name }) => `${toCamel(name)}: string`);
    const params = paramsOf(documented);
    if (params?.from === 'query') {
      const name = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Query`;
      queries.push(`export type ${name} = ${types.of(params.schema, 'given')};`);
      args.push(`params${params.schema.required === undefined ? '?' : ''}: ${name}`);
    } else if (params !== null) {
      const mark = documented.requestBody?.required === true ? '' : '?';
      args.push(`params${mark}: ${types.of(params.schema, 'given')}`);
    }
    const doc = types.doc([summary, description]);
    return `${doc}${operationId}: { args: [${args.join(', ')}]; ${answerOf(documented)} };`;
  });
  return formatted(`${HEAD}

    /** What each operation is called with, and what it answers: one answer, or a list of items. */
    export type Operations = {
      ${entries.join('\n')}
    };

    ${queries.join('\n\n')}

    ${types.declarations().join('\n\n')}
  `);
}

function keyedOf({ paths }: OpenApi): Keyed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, documented]) => documented.security.length > 0)
      .map(([method, documented]) => ({ method, path, documented })),
  );
}

type Params = { readonly from: 'body' | 'query'; readonly schema: Schema };

/** The query as one object, or the body. No operation has both. */
function paramsOf(documented: Documented): Params | null {
  const { operationId, parameters, requestBody } = documented;
  // The client reads JSON: where there is another format too, it asks for none.
  const isEither = mediaTypesOf(documented).size > 1;
  const fields = parameters.filter(
    (parameter) => parameter.in === 'query' && !(isEither && parameter.name === 'format'),
  );
  const body = requestBody?.content['application/json']?.schema as Schema | undefined;
  assert(fields.length === 0 || body === undefined, `${operationId} has a body or a query`);
  if (body !== undefined) return { from: 'body', schema: body };
  if (fields.length === 0) return null;
  const properties = fields.map(({ name, description, schema }) => {
    const field: Schema = { ...(schema as Schema), description };
    return [name, field] as const;
  });
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    from: 'query',
    schema: {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    },
  };
}

/** The schemas of what it answers where it is done; none where that has no body. */
function answersOf({ responses }: Documented): Schema[] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => {
      const json = content['application/json'];
      return json === undefined ? Object.values(content) : [json];
    })
    .map(({ schema }) => schema as Schema);
}

function mediaTypesOf({ responses }: Documented): ReadonlySet<string> {
  const done = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return new Set(done.flatMap(([, { content = {} }]) => Object.keys(content)));
}

function mediaOf(documented: Documented): { readonly answer?: 'nothing' | 'text' } {
  const media = mediaTypesOf(documented);
  if (media.size === 0) return { answer: 'nothing' };
  return media.has('application/json') ? {} : { answer: 'text' };
}

function itemOf(documented: Documented): Schema | null {
  const answers = answersOf(documented);
  return answers.length === 1 ? types.itemOf(answers[0]!) : null;
}

function answerOf(documented: Documented): string {
  const item = itemOf(documented);
  if (item !== null) return `item: ${types.of(item, 'answered')}`;
  const all = new Set(answersOf(documented).map((answer) => types.of(answer, 'answered')));
  return `answer: ${all.size === 0 ? 'void' : [...all].join(' | ')}`;
}

async function formatted(text: string): Promise<string> {
  const { code, errors } = await format('generated.ts', text, {
    printWidth: 100,
    singleQuote: true,
  });
  assert(errors.length === 0, JSON.stringify(errors));
  return code;
}

/** Names on the wire, and back, are what the client makes of them. */
for (const name of types.names()) {
  const isOurs = toSnake(toCamel(name)) === name;
  // The data of events are in camelCase on the wire.
  assert(isOurs || toCamel(name) === name, `${name} survives the way through the client`);
}
