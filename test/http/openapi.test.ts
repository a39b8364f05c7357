// The OpenAPI document in the hands of others: validators and generators of clients. Linters:
// openapi.long.test.ts
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import SwaggerParser from '@apidevtools/swagger-parser';
import generateTypes from 'openapi-typescript';
import { type OpenApi, openApiOf } from '../../src/http/openapi/openapi.ts';
import { EXAMPLES } from '../../src/http/openapi/examples.ts';
import { issuesOf, validator } from '../../src/http/edge/validate.ts';
import { closed } from '../support/documented.ts';
import { listRoutes } from './edge/operations.ts';

// Generators take seconds on a busy machine.
setDefaultTimeout(60_000);

const ADDRESSES = {
  baseUrl: 'https://pay.acme.io',
  appUrl: 'https://app.acme.io',
  checkoutUrl: 'https://buy.acme.io/pay',
};

type Schema = {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
};

/** The places of objects that have no name. */
function objectsWithin({ properties = {}, items, anyOf = [] }: Schema, place: string): string[] {
  const parts = Object.entries(properties).map(([name, part]): [string, Schema] => [
    `${place}.${name}`,
    part,
  ]);
  if (items !== undefined) parts.push([`${place}[]`, items]);
  for (const [index, part] of anyOf.entries()) parts.push([`${place}|${index}`, part]);
  return parts.flatMap(([at, part]) => [
    ...(part.properties === undefined ? [] : [at]),
    ...objectsWithin(part, at),
  ]);
}

const nameOf = ({ $ref: ref }: { readonly $ref: string }) => ref.slice(ref.lastIndexOf('/') + 1);

let document: OpenApi;
let source: string;
beforeAll(() => {
  document = openApiOf(listRoutes(), ADDRESSES);
  source = JSON.stringify(document);
});

test('the OpenAPI document is valid', async () => {
  await SwaggerParser.validate(JSON.parse(source) as never);
});

test('each tag of an operation is described', () => {
  const used = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ tags }) => tags);
  const described = document.tags.filter(({ description }) => description !== '');
  expect(described.map(({ name }): string => name).toSorted()).toEqual(
    [...new Set(used)].toSorted(),
  );
});

describe('the schema of every request and response', () => {
  test('has a name', () => {
    const bare = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, requestBody, responses }) =>
        [requestBody, ...Object.values(responses)]
          .flatMap((part) => Object.entries(part?.content ?? {}))
          .filter(([type, { schema }]) => type === 'application/json' && !('$ref' in schema))
          .map(() => operationId),
      );
    // The type generator needs types of the parsed document.
    expect(bare).toEqual(['getOpenApi']);
  });

  test('is made of named schemas: no object is within another', () => {
    const nameless = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      objectsWithin(schema as Schema, name),
    );
    expect(nameless).toEqual([]);
  });

  test('has an example, wherever a key is needed', () => {
    const { schemas } = document.components;
    const bare = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ security }) => security.length > 0)
      .flatMap(({ requestBody, responses }) => [requestBody, ...Object.values(responses)])
      .flatMap((part) => part?.content?.['application/json'] ?? [])
      .map(({ schema }) => nameOf(schema as { $ref: string }))
      .filter((name) => (schemas[name] as { examples?: unknown }).examples === undefined);
    expect(bare).toEqual([]);
  });

  test('has no field that its example lacks, nor the example another', () => {
    for (const [schema, example] of EXAMPLES) {
      expect([example, issuesOf(validator(closed(schema)), example)]).toEqual([example, []]);
    }
  });

  test('has a format for each number', () => {
    const { schemas, headers } = document.components;
    const text = JSON.stringify([schemas, headers, document.paths]);
    const numbers = text.match(/"type":"(?:integer|number)"[^{}]*/g) ?? [];
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.filter((number) => !/"format":"(?:int32|int64|double)"/.test(number))).toEqual(
      [],
    );
  });

  test('is told apart by status and by media type', () => {
    const { responses } = document.paths['/pay/{token}']!['post']!;
    expect(Object.keys(responses['400']!.content!)).toEqual(['text/html', 'application/json']);
    expect(Object.keys(responses['409']!.content!)).toEqual(['text/html']);
    const { responses: told } = document.paths['/portal/{token}/resume']!['post']!;
    for (const status of ['401', '402', '404', '409', '429']) {
      const types = Object.keys(told[status]!.content!);
      expect([status, types]).toEqual([status, ['text/html', 'application/json']]);
    }
    expect(responses['303']!.headers).toMatchObject({
      Location: { $ref: '#/components/headers/Location' },
    });
  });

  test('has the responses and headers of the edge', () => {
    for (const path of ['/subscriptions', '/invoices', '/invoices/{id}/pay']) {
      const { responses } = document.paths[path]!['post']!;
      expect(responses['409']!.description).toContain('`idempotency_in_progress`');
      expect(Object.keys(responses['409']!.headers)).toContain('Retry-After');
      expect(responses['422']!.description).toContain('`idempotency_key_reused`');
    }
    const { responses } = document.paths['/payments/{id}/refund']!['post']!;
    expect(Object.keys(responses['429']!.headers)).toEqual([
      'x-request-id',
      'Retry-After',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
    ]);
    expect(Object.keys(responses['200']!.headers)).toContain('Idempotency-Replayed');
  });
});

test('the OpenAPI document has the server of each hosted page', () => {
  const urlOf = (path: string) => document.paths[path]!['get']!.servers?.map(({ url }) => url);
  expect(urlOf('/pay/{token}')).toEqual(['https://buy.acme.io']);
  expect(urlOf('/portal/{token}')).toEqual(['https://app.acme.io']);
  expect(urlOf('/api/invoices/{id}/pdf')).toEqual(['https://app.acme.io']);
  expect(urlOf('/payments')).toBeUndefined();
});

describe('an OpenAPI type generator', () => {
  let types: string;
  beforeAll(async () => {
    types = await generateTypes(JSON.parse(source) as never);
  });

  test('knows each schema', () => {
    const vague = types
      .split('\n')
      // Quoted text is our own wording.
      .map((line) => line.replaceAll(/"[^"]*"/g, '""'))
      .filter((line) => /\bunknown\b|\bany\b|\bnever\b/.test(line))
      .map((line) => line.trim())
      .filter((line) => !/^(?:\/\*\*|\*|export type (?:external|\$defs)\b)/.test(line))
      // An answer without a body, and kinds of components that are not used.
      .filter(
        (line) => !/^(?:content|responses|requestBodies|pathItems|parameters): never;$/.test(line),
      )
      // A form without fields.
      .filter((line) => line !== '"": Record<string, never>;');
    // The document, and the fields of anything before and after, in the audit log.
    expect(vague).toEqual(Array.from({ length: 3 }, () => '[key: string]: unknown;'));
  });

  test('tells the lines of an invoice apart by their type', () => {
    const ref = (name: string) => `#/components/schemas/${name}`;
    expect(document.components.schemas['InvoiceLine']).toMatchObject({
      discriminator: {
        propertyName: 'type',
        mapping: {
          recurring: ref('PlainInvoiceLine'),
          credit: ref('PlainInvoiceLine'),
          usage: ref('UsageInvoiceLine'),
          usage_adjustment: ref('UsageInvoiceLine'),
        },
      },
    });
  });

  test('tells events apart by their type', () => {
    expect(types).toContain('type: "payment.refund_failed";');
    const { schemas } = document.components;
    expect(schemas['Event']).toMatchObject({
      discriminator: {
        propertyName: 'type',
        mapping: { 'payment.succeeded': '#/components/schemas/PaymentSucceededEvent' },
      },
    });
  });
});
