// The type of a field as the page to read says it, in a few words.
import { expect, test } from 'bun:test';
import { typeOf } from '../../src/http/openapi/docs-schema.ts';
import { html } from '../../src/pages/html.ts';

type Schema = Parameters<typeof typeOf>[0];

const words = (schema: Schema): string => html`${typeOf(schema)}`.text.replaceAll('&quot;', '"');

const STRING = { type: 'string' } as const;
const NAMED = { $ref: '#/components/schemas/Meter' };

// prettier-ignore
const TYPES: readonly (readonly [schema: Schema, words: string])[] = [
  [{ type: 'integer' },                            'integer'],
  [{ type: ['string', 'null'] },                   'string | null'],
  [{ anyOf: [STRING, { type: 'null' }] },          'string | null'],
  [{ oneOf: [STRING, { type: 'number' }] },        'string | number'],
  [{ enum: ['sum', 'count'] },                     '"sum" | "count"'],
  [{ const: 'test' },                              '"test"'],
  [{ type: 'array', items: STRING },               'string[]'],
  [{ type: 'array' },                              'anything[]'],
  [{ type: 'object', additionalProperties: STRING }, 'object of strings'],
  [{ properties: { a: STRING, b: STRING }, required: ['a'] }, '{a: string, b?: string}'],
  [NAMED,                                          '<a href="#schema-Meter">Meter</a>'],
  [{},                                             'anything'],
];

test.each(TYPES)(
  'a type in the page of the API is shown in a few words: %j',
  (schema, expected) => {
    expect(words(schema)).toBe(expected);
  },
);
