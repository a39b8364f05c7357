// An operation as OpenAPI 3.1 describes it. It hangs on the route as `detail`; openapi.ts gathers them.
import { type TSchema, Type } from '@sinclair/typebox';
import type { DocumentDecoration } from 'elysia';
import { bodyBytesMaxOf } from './admission.ts';
import { FORM_MEDIA, JSON_MEDIA } from './body.ts';
import { type ErrorCode, STATUS_OF } from './errors.ts';
import type { Operation } from './operation.ts';

/** `portal`: a token in the path. */
export type Access = 'organisation' | 'group' | 'portal' | 'open';

/** A schema as Elysia's types for OpenAPI want it. */
export type JsonSchema = NonNullable<
  Exclude<NonNullable<DocumentDecoration['parameters']>[number], { $ref: string }>['schema']
>;

type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
};

type Answer = { description: string; content?: Record<string, { schema: JsonSchema }> };

export type Documented = {
  summary: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, Answer>;
};

export const ERROR_BODY = Type.Object({
  error: Type.Object({
    type: Type.Union(Object.keys(STATUS_OF).map((code) => Type.Literal(code))),
    message: Type.String({ description: 'For people; it may change.' }),
    issues: Type.Optional(
      Type.Array(Type.Object({ path: Type.Array(Type.String()), message: Type.String() }), {
        description: 'With `invalid_request`: what is wrong, and where.',
      }),
    ),
  }),
});

export function describe(access: Access, operation: Operation): Documented {
  const { summary, description, tag, form, body } = operation;
  const content = {
    ...(body !== undefined && { [JSON_MEDIA.type]: { schema: schemaOf(body) } }),
    ...(form !== undefined && { [FORM_MEDIA.type]: { schema: schemaOf(form) } }),
  };
  return {
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: hasKey(access) ? [{ [access]: [] }] : [],
    parameters: parametersOf(operation),
    ...(Object.keys(content).length > 0 && {
      requestBody: { required: operation.bodyOptional !== true, content },
    }),
    responses: { ...answersOf(operation), ...refusalsOf(access, operation) },
  };
}

/** Whether it takes a key in the Authorization header. */
export function hasKey(access: Access): access is 'organisation' | 'group' {
  return access === 'organisation' || access === 'group';
}

function parametersOf({ params = {}, query, idempotent }: Operation): Parameter[] {
  const parameters: Parameter[] = Object.entries(params).map(([name, description]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  for (const [name, schema] of Object.entries(query?.properties ?? {})) {
    const { description = '' } = schema;
    parameters.push({ name, in: 'query', required: false, description, schema: schemaOf(schema) });
  }
  if (idempotent === true) {
    parameters.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'A request that is sent again with the same key gets the first answer.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    });
  }
  return parameters;
}

function answersOf({ answers, mediaType = 'application/json' }: Operation): Record<string, Answer> {
  const documented: Record<string, Answer> = {};
  for (const [status, schema] of Object.entries(answers)) {
    documented[status] = {
      description: schema === null ? 'Done; no body' : 'Done',
      ...(schema !== null && { content: { [mediaType]: { schema: schemaOf(schema) } } }),
    };
  }
  return documented;
}

function refusalsOf(access: Access, operation: Operation): Record<string, Answer> {
  const codes = new Set<ErrorCode>(operation.refusals);
  if (hasKey(access)) codes.add('unauthorized').add('forbidden');
  if (access === 'portal') codes.add('unauthorized').add('rate_limited');
  if (operation.form !== undefined) codes.add('forbidden');
  if (operation.body !== undefined || operation.form !== undefined) {
    codes.add('invalid_request').add('payload_too_large').add('unsupported_media_type');
  }
  if (operation.query !== undefined || operation.idempotent === true) codes.add('invalid_request');
  codes.add('internal_error').add('service_unavailable');
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = STATUS_OF[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  // Who opens a page with a bad token, or too often, is told on a page.
  const onPage = access === 'portal' && operation.mediaType === 'text/html' ? [401, 429] : [];
  const documented: Record<string, Answer> = {};
  for (const [status, alternatives] of byStatus) {
    const bound = status === 413 ? ` (over ${bodyBytesMaxOf(operation)} bytes)` : '';
    documented[String(status)] = {
      description: alternatives.map((code) => `\`${code}\``).join(' or ') + bound,
      content: onPage.includes(status)
        ? { 'text/html': { schema: { type: 'string' } } }
        : { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
  return documented;
}

/** Plain JSON Schema: without TypeBox's symbols, and without our own keyword. */
export function schemaOf(schema: TSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'error' && typeof value === 'string' ? undefined : value,
    ),
  ) as JsonSchema;
}
